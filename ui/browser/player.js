// @ts-check
/**
 * Plays one answer at a time: starts its feed (worker) and its tape (deck), tells the stage what is heard, and the server what was.
 *
 * `first_sound_ms`: from the press of Run or of a sample (time stamp of that gesture) to the moment at which the first non-zero sample
 * that left the worklet reaches the ear: its context time on performance.now()'s clock by AudioContext.getOutputTimestamp(), so the
 * output device's own delay is in it. Where a browser has no such stamp, the moment the sample left the worklet.
 * `stall_ms`, `stall_longest_ms`: silence inside the answer, at its first hearing, because the next sound had not come yet.
 * `played_ms`: how far the first hearing came.
 */
import { Deck } from "./deck.js";
import { RATE } from "./tape.js";

const MARGIN = 0.02; // s on top of the hole that was measured: one beat of the worklet's report each way
const RESERVE_MOST = 1.5; // s; a longer wait for the first sound is worse than a stutter
const REPORT_MS = 1_000; // how often the server hears what was heard: a lost page leaves figures at most this old

/**
 * @typedef {{frame: number, total: number, state: import("./tape.js").TapeState, underruns: number, stall: number, longest: number,
 *            lateness: number}} Position
 * @typedef {object} Listener
 * @property {(position: Position) => void} position
 * @property {(peaks: Float32Array) => void} peaks
 * @property {(first_sound_ms: number | null) => void} sound
 * @property {(frames: number) => void} end everything has come
 * @property {(reason: "session" | "gone" | "broken") => void} lost
 * @property {() => void} released another answer took the loudspeaker
 */

export class Player {
  /** @param {{tap?: boolean}} [options] */
  constructor(options = {}) {
    this.deck = new Deck((message) => this.#heard(message), options);
    this.worker = new Worker(new URL("./feed.worker.js", import.meta.url), { type: "module" });
    this.worker.onmessage = (event) => this.#fed(event.data);
    const { port1, port2 } = new MessageChannel();
    this.worker.postMessage({ type: "feed", port: port1 }, [port1]);
    this.deck.post({ type: "feed", port: port2 }, [port2]);
    this.answer = 0;
    this.reserve = 0;
    this.route = "";
    /** @type {Listener | null} */
    this.listener = null;
    /** @type {number | null} */
    this.pressed = null;
    this.first = false;
    /** @type {Position | null} */
    this.last = null;
    this.report = { first_sound_ms: /** @type {number | null} */ (null), stall_ms: 0, stall_longest_ms: 0, played_ms: 0 };
    this.reported = 0;
    /** @type {((taken: any) => void)[]} */
    this.taps = [];
    /** Set by the page: called when `blocked` or `scheduled` may have changed. */
    this.changed = () => {};
  }

  unlock() {
    this.deck.unlock();
  }

  /** The browser does not let us sound before a gesture. */
  get blocked() {
    return this.deck.blocked;
  }

  /** There is no AudioWorklet here: the page is not from a secure address. */
  get scheduled() {
    return this.deck.scheduled;
  }

  /**
   * @param {string} url the turn's address, ending in "/"
   * @param {Listener} listener
   * @param {{first: boolean, pressed: number | null}} how first: its first hearing, the one that is measured
   */
  play(url, listener, { first, pressed }) {
    if (this.listener !== listener) this.listener?.released();
    this.answer += 1;
    Object.assign(this, { listener, first, pressed, last: null, reported: 0 });
    this.report = { first_sound_ms: null, stall_ms: 0, stall_longest_ms: 0, played_ms: 0 };
    this.deck.post({ type: "load", answer: this.answer, reserve: first ? this.reserve : 0 });
    this.worker.postMessage({ type: "open", answer: this.answer, url });
  }

  /** @param {number} frame */
  seek(frame) {
    this.#endFirst();
    this.deck.post({ type: "seek", answer: this.answer, frame });
  }

  pause() {
    this.deck.post({ type: "pause", answer: this.answer });
  }

  resume() {
    this.deck.post({ type: "resume", answer: this.answer });
  }

  /** Silent at once; nothing that is still on its way is heard. */
  stop() {
    const { listener } = this;
    if (!listener) return;
    this.listener = null; // what the emptied tape tells is no news of this answer
    this.deck.post({ type: "silence", answer: this.answer });
    this.#endFirst();
    this.worker.postMessage({ type: "close", answer: this.answer });
    listener.released();
  }

  /** What sounded so far, for tests: {blocks, starts}. @returns {Promise<{blocks: Float32Array[], starts: number[]}>} */
  tap() {
    return new Promise((resolve) => {
      this.taps.push(resolve);
      this.deck.post({ type: "tap" });
    });
  }

  #endFirst() {
    if (!this.first) return;
    this.#tellServer();
    this.first = false;
  }

  /** @param {any} message from the deck */
  #heard(message) {
    if (message.type === "context" || message.type === "scheduled") this.changed();
    else if (message.type === "tap") this.taps.shift()?.(message);
    else if (message.answer !== this.answer || !this.listener) return;
    else if (message.type === "sound") {
      if (!this.first) return;
      this.report.first_sound_ms = this.pressed === null ? null : this.deck.heardAt(message.time, message.clock) - this.pressed;
      this.#tellServer();
      this.listener.sound(this.report.first_sound_ms);
    } else if (message.type === "at") this.#position(message);
  }

  /** @param {Position} position */
  #position(position) {
    this.last = position;
    const frame = position.state === "ended" ? position.frame : Math.max(0, position.frame - this.deck.latency * RATE);
    if (this.first) {
      this.report.stall_ms = position.stall * 1000;
      this.report.stall_longest_ms = position.longest * 1000;
      this.report.played_ms = (frame / RATE) * 1000;
    }
    this.listener?.position({ ...position, frame });
    if (position.state === "ended") this.#ended(position);
    else if (performance.now() - this.reported > REPORT_MS && position.frame > 0) this.#tellServer();
  }

  /** @param {Position} position */
  #ended(position) {
    if (!this.first) return;
    this.#endFirst();
    this.worker.postMessage({ type: "close", answer: this.answer });
    // Only a hole asks for a reserve. Raised at once, lowered by halves: a server that stalled may stall again.
    const hole = this.route === "file" ? 0 : position.lateness;
    const wanted = hole > 0 ? Math.min(RESERVE_MOST, hole + MARGIN) : 0;
    this.reserve = Math.max(wanted, this.reserve > MARGIN ? this.reserve / 2 : 0);
  }

  #tellServer() {
    if (!this.first) return;
    this.reported = performance.now();
    this.worker.postMessage({ type: "heard", answer: this.answer, report: this.report });
  }

  /** @param {any} message from the worker */
  #fed(message) {
    if (message.answer !== this.answer || !this.listener) return;
    if (message.type === "peaks") this.listener.peaks(message.peaks);
    else if (message.type === "end") this.listener.end(message.frames);
    else if (message.type === "lost") this.listener.lost(message.reason);
    else if (message.type === "route") this.route = message.route;
  }
}
