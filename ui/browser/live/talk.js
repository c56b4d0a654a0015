// @ts-check
/**
 * One conversation after another, without a picture of it: asks the app for one, opens microphone and loudspeaker, and passes on.
 * `changed` is called after everything that may look different now.
 */
import { Call } from "./call.js";
import { Sound } from "./sound.js";
import { Trouble } from "./trouble.js";

/** @typedef {{instructions: string, voice: string, record: boolean, server_vad: boolean, language: string}} Wishes */

const SILENT = { peak: 0, rms: 0, speaking: false };

export class Talk {
  /**
   * @param {() => void} changed
   * @param {{tap?: boolean, base?: string}} [options] base: the page's own address
   */
  constructor(changed, { tap = false, base = document.baseURI } = {}) {
    this.changed = changed;
    this.base = base;
    this.call = new Call();
    this.level = SILENT;
    this.muted = false;
    this.push = false;
    this.held = false;
    /** @type {MediaDeviceInfo[]} */
    this.microphones = [];
    /** How long each flush took, ms. @type {number[]} */
    this.flushed = [];
    this.worker = new Worker(new URL("./live.worker.js", import.meta.url), { type: "module" });
    this.worker.onmessage = ({ data }) => this.#told(data);
    this.sound = new Sound(
      this.worker,
      {
        level: (level) => this.#level(level),
        at: (at) => this.#at(at),
        silent: ({ ms }) => void this.flushed.push(ms),
        lost: () => this.#unplugged(),
        devices: () => this.#devices(),
      },
      tap,
    );
    document.addEventListener("visibilitychange", () => this.#seen());
    addEventListener("pagehide", () => this.call.live && this.#farewell());
    this.#devices();
  }

  /** Inside the press of Start. @param {Wishes} wishes @param {string} device */
  async start(wishes, device) {
    if (this.call.live) return;
    const call = new Call();
    this.call = call;
    call.state = "starting";
    this.changed();
    try {
      await this.sound.open(device);
      this.#devices();
      const { id, socket } = await this.#ask(wishes);
      call.id = id;
      if (!call.live) return this.#farewell(); // ended while it was asked for
      const url = new URL(socket, this.base);
      url.protocol = url.protocol.replace("http", "ws");
      const tickets = /^wss?:/.test(socket) ? this.#address("ticket") : null;
      this.worker.postMessage({ type: "open", socket: url.href, tickets });
      call.state = "connecting";
      this.#open();
    } catch (error) {
      this.#end(toldOf(error));
    }
    this.changed();
  }

  /** @param {Wishes} wishes @returns {Promise<{id: string, socket: string}>} */
  async #ask(wishes) {
    const headers = { "content-type": "application/json" };
    const answer = await fetch(new URL("live", this.base), { method: "POST", headers, body: JSON.stringify(wishes) }).catch(nothing);
    if (!answer) throw new Trouble("live-app-gone");
    const body = await answer.json().catch(nothing);
    if (answer.ok && body) return body;
    if (body?.fault) throw body.fault;
    throw new Trouble(answer.status === 403 ? "live-session-unknown" : "live-app-gone");
  }

  /** The user has said enough: silence at once, and goodbye. */
  end() {
    const { call } = this;
    if (!call.live) return;
    call.cut(Infinity, "stop");
    if (call.state === "starting" || call.broken) {
      this.#farewell();
      this.#end(null);
    } else call.state = "ending";
    this.worker.postMessage({ type: "close" });
    this.changed();
  }

  /** Stop was pressed: silence, the microphone goes on. @param {number} [asked] Date.now() of the press */
  interrupt(asked = Date.now()) {
    this.sound.flush(this.call.dialogue.answer?.response ?? 0, asked);
    this.worker.postMessage({ type: "interrupt", asked });
  }

  /** @param {boolean} on */
  mute(on) {
    this.muted = on;
    this.worker.postMessage({ type: "say", word: { type: "mute", on } });
    this.#open();
  }

  /** Push to talk, or hands free. @param {boolean} on */
  pushToTalk(on) {
    this.push = on;
    this.#open();
  }

  /** The talk button is down. @param {boolean} on */
  hold(on) {
    if (this.held === on) return;
    this.held = on;
    this.#open();
  }

  /** @param {boolean} on */
  interruptOnVoice(on) {
    this.worker.postMessage({ type: "voice", on });
  }

  /** Another microphone, also while talking. @param {string} device */
  async listenTo(device) {
    if (!this.call.live) return;
    try {
      await this.sound.use(device);
      this.call.notices.delete("live-microphone-lost");
    } catch (error) {
      this.call.notice(toldOf(error));
    }
    this.changed();
  }

  /** One picture, framed. @param {ArrayBuffer} frame */
  picture(frame) {
    if (this.call.state === "open") this.worker.postMessage({ type: "camera", frame }, [frame]);
  }

  /** What the microphone hears leaves the page. */
  get open() {
    return !this.muted && (!this.push || this.held);
  }

  #open() {
    this.sound.let(this.open);
    this.changed();
  }

  /** @param {string} what of the conversation */
  #address(what) {
    return new URL(`live/${encodeURIComponent(this.call.id)}/${what}`, this.base).href;
  }

  /** @param {import("./call.js").Told | null} fault */
  #end(fault) {
    this.call.end(fault);
    this.sound.close();
  }

  #farewell() {
    if (this.call.id) fetch(this.#address("close"), { method: "POST", keepalive: true }).catch(nothing);
  }

  #seen() {
    this.worker.postMessage({ type: "figures", figures: { hidden: document.hidden } });
    if (document.hidden && this.call.live) this.call.notice({ key: "live-tab-hidden" });
    this.changed();
  }

  /** @param {import("./sound.js").Level} level */
  #level(level) {
    this.level = this.call.live ? level : SILENT;
    this.call.level(this.open ? level : SILENT);
    this.changed();
  }

  /** @param {{response: number, ms: number, sounding: boolean, underruns: number, stall: number}} at */
  #at(at) {
    this.call.at(at);
    this.worker.postMessage({ type: "figures", figures: { underruns: at.underruns, stall_ms: Math.round(at.stall * 1000) } });
    this.changed();
  }

  #unplugged() {
    this.call.notice({ key: "live-microphone-lost" });
    this.#devices();
  }

  async #devices() {
    this.microphones = await this.sound.microphones();
    this.changed();
  }

  /** @param {any} message of the worker */
  #told(message) {
    const { call } = this;
    if (message.type === "word") call.word(message.word);
    else if (message.type === "dropped") call.dropped = message.frames;
    else if (message.type === "interrupted") call.cut(message.response, message.by);
    else if (message.type === "link") {
      call.link(message.state);
      if (message.state === "up" && this.muted) this.mute(true);
    }
    if (call.state === "ended") this.sound.close();
    this.changed();
  }
}

/** @param {unknown} error @returns {import("./call.js").Told} */
function toldOf(error) {
  if (error instanceof Trouble) return { key: error.key };
  if (error && typeof error === "object" && "cause" in error && "cure" in error) {
    return /** @type {import("./call.js").Told} */ (error);
  }
  throw error;
}

/** A question that got no answer. @returns {null} */
const nothing = () => null;
