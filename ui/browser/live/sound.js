// @ts-check
/**
 * Microphone and loudspeaker of a conversation: one AudioContext at the device's own rate, with the two worklets on it.
 *
 * One context for both, at a rate nobody chose: Firefox connects no microphone to a context of another rate, and an echo canceller knows
 * best what is played at the device's own. Made inside the press of Start, because only a gesture may start sound.
 */
import { Trouble, refusal } from "./trouble.js";

const HEARING = { echoCancellation: true, noiseSuppression: true, autoGainControl: true, channelCount: 1 };
const LATENCY_MS = 1_000; // the way to the ear changes when another loudspeaker is plugged in

/**
 * @typedef {{peak: number, rms: number, speaking: boolean}} Level 0..1, and whether it is a voice (voice.js)
 * @typedef {object} SoundNews
 * @property {(level: Level) => void} level of the microphone
 * @property {(at: {response: number, ms: number, sounding: boolean, underruns: number, stall: number}) => void} at
 * @property {(silent: {response: number, ms: number}) => void} silent
 * @property {() => void} lost the microphone was unplugged
 * @property {() => void} devices another device came or went
 */

export class Sound {
  /**
   * @param {Worker} worker gets the worklets' ports
   * @param {SoundNews} news
   * @param {boolean} tap
   */
  constructor(worker, news, tap) {
    this.worker = worker;
    this.news = news;
    this.tapped = tap;
    /** @type {AudioContext | null} */
    this.context = null;
    /** @type {MediaStream | null} */
    this.stream = null;
    /** @type {MediaStreamAudioSourceNode | null} */
    this.source = null;
    /** @type {AudioWorkletNode | null} */
    this.mic = null;
    /** @type {AudioWorkletNode | null} */
    this.deck = null;
    /** @type {((taken: any) => void)[]} */
    this.taps = [];
    navigator.mediaDevices?.addEventListener("devicechange", () => news.devices());
  }

  /**
   * Call it inside the press of Start. Throws `Trouble`.
   * @param {string} device id, "" for the browser's choice
   */
  async open(device) {
    if (!window.isSecureContext || !navigator.mediaDevices) throw new Trouble("mic-insecure-origin");
    const context = (this.context ??= new AudioContext({ latencyHint: "interactive" }));
    context.resume();
    const nodes = this.mic ? Promise.resolve() : this.#nodes(context);
    await Promise.all([this.use(device), nodes]);
    await context.resume();
    /** @type {AudioWorkletNode} */ (this.mic).port.postMessage({ type: "run", on: true });
    this.#connect();
  }

  /** Listens to another device, from now on. @param {string} device */
  async use(device) {
    let stream;
    try {
      stream = await navigator.mediaDevices.getUserMedia({ audio: { ...HEARING, ...(device && { deviceId: { exact: device } }) } });
    } catch (error) {
      throw refusal(error, "microphone");
    }
    this.#release();
    this.stream = stream;
    stream.getAudioTracks()[0].onended = () => this.news.lost();
    if (this.mic) this.#connect();
  }

  /** What the microphone hears leaves, or silence. @param {boolean} on */
  let(on) {
    this.mic?.port.postMessage({ type: "open", on });
  }

  /** By the shortest way; the worker, which knows of later answers, does the same. @param {number} response @param {number} asked */
  flush(response, asked) {
    this.deck?.port.postMessage({ type: "flush", response, asked });
  }

  /** The microphone's light goes out; the loudspeaker stays for what is still heard. */
  close() {
    this.mic?.port.postMessage({ type: "run", on: false });
    this.#release();
  }

  /** The microphones there are; without a name until the user has allowed one. */
  async microphones() {
    const devices = (await navigator.mediaDevices?.enumerateDevices()) ?? [];
    return devices.filter(({ kind, deviceId }) => kind === "audioinput" && deviceId);
  }

  /** For tests: what left the microphone (s16le 16 kHz) and what sounded (24 kHz). */
  async tap() {
    const ask = (/** @type {AudioWorkletNode | null} */ node) =>
      new Promise((resolve) => {
        this.taps.push(resolve);
        node?.port.postMessage({ type: "tap" });
      });
    return { microphone: await ask(this.mic), voice: await ask(this.deck) };
  }

  /** @param {AudioContext} context */
  async #nodes(context) {
    await Promise.all(["mic", "deck"].map((name) => context.audioWorklet.addModule(new URL(`./${name}.worklet.js`, import.meta.url))));
    const options = { channelCount: 1, outputChannelCount: [1], processorOptions: { tap: this.tapped } };
    const mic = new AudioWorkletNode(context, "omni-mic", { ...options, channelCountMode: "explicit" });
    const deck = new AudioWorkletNode(context, "omni-live-deck", { ...options, numberOfInputs: 0 });
    mic.port.onmessage = ({ data }) => (data.type === "tap" ? this.taps.shift()?.(data) : this.news.level(data));
    deck.port.onmessage = ({ data }) => {
      if (data.type === "at") this.news.at(data);
      else if (data.type === "silent") this.news.silent(data);
      else this.taps.shift()?.(data);
    };
    mic.connect(context.destination); // it puts out silence; a node that leads nowhere is not run everywhere
    deck.connect(context.destination);
    const ports = [new MessageChannel(), new MessageChannel()];
    mic.port.postMessage({ type: "worker", port: ports[0].port1 }, [ports[0].port1]);
    deck.port.postMessage({ type: "worker", port: ports[1].port1 }, [ports[1].port1]);
    this.worker.postMessage({ type: "ports", mic: ports[0].port2, deck: ports[1].port2 }, [ports[0].port2, ports[1].port2]);
    setInterval(() => deck.port.postMessage({ type: "latency", s: context.outputLatency || 0 }), LATENCY_MS);
    this.mic = mic;
    this.deck = deck;
  }

  #connect() {
    if (!this.stream || !this.mic) return;
    this.source?.disconnect();
    this.source = /** @type {AudioContext} */ (this.context).createMediaStreamSource(this.stream);
    this.source.connect(this.mic);
  }

  #release() {
    this.source?.disconnect();
    this.source = null;
    for (const track of this.stream?.getTracks() ?? []) {
      track.onended = null;
      track.stop();
    }
    this.stream = null;
  }
}
