// @ts-check
/**
 * One conversation after another, without a picture of it: asks the app for one, opens microphone and loudspeaker, keeps what is known of it.
 * `changed` is called after everything that may look different now.
 */
import { Dialogue } from "./dialogue.js";
import { Rhythm } from "./rhythm.js";
import { Sound } from "./sound.js";
import { Trouble } from "./trouble.js";

/**
 * @typedef {{zh: string, en: string}} Both
 * @typedef {{key?: string, facts?: Record<string, string | number>, cause?: Both, cure?: Both}} Told a key of the catalogue, or the app's own words
 * @typedef {{instructions: string, voice: string, record: boolean, server_vad: boolean, language: string}} Wishes
 * @typedef {{wire: string, barge_in: boolean, camera: boolean, idle_s: number}} Can
 */

const LINK = { session: "live-session-unknown", gone: "live-page-gone", taken: "live-taken-over", away: "live-page-away", "no-socket": "live-no-socket" };

export class Talk {
  /**
   * @param {() => void} changed
   * @param {{tap?: boolean, base?: string}} [options]
   */
  constructor(changed, { tap = false, base = document.baseURI } = {}) {
    this.changed = changed;
    this.base = base;
    this.level = { peak: 0, rms: 0 };
    this.muted = false;
    this.push = false;
    this.held = false;
    /** @type {MediaDeviceInfo[]} */
    this.microphones = [];
    this.worker = new Worker(new URL("./live.worker.js", import.meta.url), { type: "module" });
    this.worker.onmessage = ({ data }) => this.#told(data);
    this.sound = new Sound(
      this.worker,
      {
        level: (level) => this.#level(level),
        at: (at) => this.#at(at),
        silent: ({ ms }) => (this.flushed.push(ms), undefined),
        lost: () => this.#microphoneLost(),
        devices: () => this.#devices(),
      },
      tap,
    );
    /** How long each flush took, ms. @type {number[]} */
    this.flushed = [];
    this.#reset();
    document.addEventListener("visibilitychange", () => this.#seen());
    addEventListener("pagehide", () => this.live && this.#farewell());
    this.#devices();
  }

  #reset() {
    /** @type {"idle" | "starting" | "queued" | "connecting" | "waiting" | "open" | "lost" | "ending" | "ended"} */
    this.state = "idle";
    this.broken = false;
    this.id = "";
    this.dialogue = new Dialogue();
    this.rhythm = new Rhythm();
    this.you = false;
    this.sounding = false;
    this.position = 0;
    this.retry = 0;
    /** @type {Can | null} */
    this.can = null;
    /** @type {{session_s: number, idle_left_s: number | null, dropped_frames: number} | null} */
    this.clock = null;
    this.dropped = 0;
    this.stall = /** @type {number | null} */ (null);
    /** @type {{ttft_ms: number | null, ttfp_ms: number | null} | null} */
    this.latency = null;
    /** @type {Told | null} */
    this.fault = null;
    /** @type {Map<string, Told>} */
    this.notices = new Map();
    this.reason = "";
    this.recording = false;
  }

  /** There is a conversation, or soon will be. */
  get live() {
    return !["idle", "ended"].includes(this.state);
  }

  /** Inside the press of Start. @param {Wishes} wishes @param {string} device */
  async start(wishes, device) {
    if (this.live) return;
    this.#reset();
    this.state = "starting";
    this.changed();
    try {
      await this.sound.open(device);
      this.#devices();
      const { id, socket } = await this.#ask(wishes);
      if (this.state !== "starting") return;
      this.id = id;
      const url = new URL(socket, this.base);
      url.protocol = url.protocol.replace("http", "ws");
      const tickets = /^wss?:/.test(socket) ? new URL(`live/${id}/ticket`, this.base).href : null;
      this.worker.postMessage({ type: "open", socket: url.href, tickets });
      this.state = "connecting";
      this.#open();
    } catch (error) {
      this.#end(toldOf(error));
    }
    this.changed();
  }

  /** @param {Wishes} wishes @returns {Promise<{id: string, socket: string}>} */
  async #ask(wishes) {
    const headers = { "content-type": "application/json" };
    const answer = await fetch(new URL("live", this.base), { method: "POST", headers, body: JSON.stringify(wishes) }).catch(() => null);
    if (!answer) throw new Trouble("live-app-gone");
    const body = await answer.json().catch(() => ({}));
    if (answer.ok) return body;
    if (body.fault) throw body.fault;
    throw new Trouble(answer.status === 403 ? "live-session-unknown" : "live-app-gone");
  }

  /** The user has said enough. */
  end() {
    if (!this.live) return;
    if (this.state === "starting" || this.broken) this.#farewell();
    else this.worker.postMessage({ type: "close" });
    if (this.state === "starting" || this.broken) this.#end(null);
    else this.state = "ending";
    this.changed();
  }

  /** Stop was pressed: silence, the microphone goes on. @param {number} [asked] Date.now() of the press */
  interrupt(asked = Date.now()) {
    this.worker.postMessage({ type: "interrupt", asked });
  }

  /** @param {boolean} on */
  mute(on) {
    this.muted = on;
    this.worker.postMessage({ type: "say", word: { type: "mute", on } });
    this.#open();
    this.changed();
  }

  /** Push to talk, or hands free. @param {boolean} on */
  pushToTalk(on) {
    this.push = on;
    this.#open();
    this.changed();
  }

  /** The talk button is down. @param {boolean} on */
  hold(on) {
    if (this.held === on) return;
    this.held = on;
    this.#open();
    this.changed();
  }

  /** @param {boolean} on */
  interruptOnVoice(on) {
    this.worker.postMessage({ type: "voice", on });
  }

  /** Another microphone, also while talking. @param {string} device */
  async listenTo(device) {
    if (!this.live) return;
    try {
      await this.sound.use(device);
      this.notices.delete("live-microphone-lost");
    } catch (error) {
      this.#notice(toldOf(error));
    }
    this.changed();
  }

  /** One picture, framed. @param {ArrayBuffer} frame */
  picture(frame) {
    if (this.state === "open") this.worker.postMessage({ type: "camera", frame }, [frame]);
  }

  /** What the microphone hears leaves the page. */
  get open() {
    return !this.muted && (!this.push || this.held);
  }

  #open() {
    this.sound.let(this.open);
  }

  /** @param {Told | null} told */
  #notice(told) {
    if (!told) return;
    this.notices.delete(told.key ?? JSON.stringify(told.cause));
    this.notices.set(told.key ?? JSON.stringify(told.cause), told);
  }

  /** @param {Told | null} fault */
  #end(fault) {
    if (this.state === "ended") return;
    this.state = "ended";
    this.fault = fault;
    this.broken = this.you = false;
    this.dialogue.you(false, now());
    this.dialogue.cut(Infinity, "stop");
    for (const key of ["live-queued", "live-waiting", "live-resuming", "live-link-broken"]) this.notices.delete(key);
    this.sound.close();
  }

  #farewell() {
    if (this.id) fetch(new URL(`live/${this.id}/close`, this.base), { method: "POST", keepalive: true }).catch(() => {});
  }

  #seen() {
    this.worker.postMessage({ type: "figures", figures: { hidden: document.hidden } });
    if (document.hidden && this.live) this.#notice({ key: "live-tab-hidden" });
    this.changed();
  }

  /** @param {{peak: number, rms: number}} level */
  #level(level) {
    this.level = level;
    if (this.live) this.rhythm.level(now(), this.open ? level.rms : 0);
    this.changed();
  }

  /** @param {{response: number, ms: number, sounding: boolean, underruns: number, stall: number}} at */
  #at({ response, ms, sounding, underruns, stall }) {
    this.dialogue.at(response, ms);
    this.sounding = sounding;
    this.stall = stall;
    this.rhythm.sounding(now(), sounding);
    this.worker.postMessage({ type: "figures", figures: { underruns, stall_ms: Math.round(stall * 1000) } });
    this.changed();
  }

  #microphoneLost() {
    this.#notice({ key: "live-microphone-lost" });
    this.#devices();
    this.changed();
  }

  async #devices() {
    this.microphones = await this.sound.microphones();
    this.changed();
  }

  /** @param {any} message of the worker */
  #told(message) {
    if (message.type === "word") this.#word(message.word);
    else if (message.type === "dropped") this.dropped = message.frames;
    else if (message.type === "interrupted") {
      this.dialogue.cut(message.response, message.by);
      this.rhythm.mark(now(), message.by);
    } else if (message.type === "link") this.#link(message.state);
    this.changed();
  }

  /** @param {import("./link.js").LinkState} state */
  #link(state) {
    if (!this.live) return;
    if (state === "up") {
      this.broken = false;
      this.notices.delete("live-link-broken");
      if (this.muted) this.worker.postMessage({ type: "say", word: { type: "mute", on: true } });
    } else if (state === "broken") {
      this.broken = true;
      this.#notice({ key: "live-link-broken" });
    } else if (state === "ended") this.#end(this.fault);
    else this.#end({ key: LINK[state] });
  }

  /** @param {any} word of the app */
  #word(word) {
    const { dialogue, rhythm } = this;
    if (word.type === "state") this.#state(word);
    else if (word.type === "heard") {
      this.you = word.speaking;
      dialogue.you(word.speaking, now());
      rhythm.you(now(), word.speaking);
    } else if (word.type === "listen") rhythm.decided(now(), "listen");
    else if (word.type === "speaking") {
      dialogue.begin(word.response);
      rhythm.decided(now(), "speak");
    } else if (word.type === "caption") {
      dialogue.caption(word.response, word.text, word.until_ms);
      rhythm.decided(now(), "speak");
    } else if (word.type === "spoken") dialogue.spoken(word);
    else if (word.type === "flush") {
      dialogue.cut(word.response, word.by);
      rhythm.mark(now(), word.by);
    } else if (word.type === "latency") {
      this.latency = word;
      dialogue.begin(word.response).latency = word.ttfp_ms;
    } else if (word.type === "clock") this.clock = word;
    else if (word.type === "notice") this.#notice(word);
    else if (word.type === "ended") {
      this.reason = word.reason;
      this.recording = word.recording;
      this.#end(word.fault ?? null);
    }
  }

  /** @param {any} word */
  #state({ state, position, retry_s, wire, barge_in, camera, idle_s, resumed, gap_s }) {
    if (state === "closed") return; // "ended" says why
    this.state = this.state === "ending" ? "ending" : state;
    this.position = position ?? 0;
    this.retry = retry_s ?? 0;
    for (const key of ["live-queued", "live-waiting", "live-resuming"]) this.notices.delete(key);
    if (state === "queued" && position) this.#notice({ key: "live-queued", facts: { position } });
    else if (state === "waiting") this.#notice({ key: "live-waiting", facts: { seconds: Math.max(1, Math.round(retry_s ?? 1)) } });
    else if (state === "lost") this.#notice({ key: "live-resuming" });
    else if (state === "open") {
      if (wire) this.can = { wire, barge_in, camera, idle_s };
      if (resumed !== undefined) this.#notice({ key: resumed ? "live-resumed" : "live-fresh", facts: { seconds: (gap_s ?? 0).toFixed(1) } });
    }
  }
}

/** Seconds on one clock. */
function now() {
  return performance.now() / 1000;
}

/** @param {unknown} error @returns {Told} */
function toldOf(error) {
  if (error instanceof Trouble) return { key: error.key };
  if (error && typeof error === "object" && "cause" in error && "cure" in error) return /** @type {Told} */ (error);
  throw error;
}
