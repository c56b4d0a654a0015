// @ts-check
/**
 * The fallback deck for pages without AudioWorklet (plain http on a LAN address): the same Tape, read ahead in blocks of 100 ms that are
 * scheduled back to back. Takes and gives the messages of deck.worklet.js, except "tap".
 */
import { EDGE, OUT, RATE, Tape } from "./tape.js";

const BLOCK = 2_400; // 100 ms a buffer: small enough to stop soon, large enough that a timer keeps up
const AHEAD = 0.6; // s; a stall of the page's own thread shorter than this is not heard
const START = 0.12; // s from the first packet to its sound: the page's own thread is not as punctual as the audio thread
const DUE = 0.05; // s; what is needed sooner than this is taken from the tape even if it means a hole
const LATE = 1e-6; // s; below that it is arithmetic
const PUMP_MS = 25; // timers fire late under load; 25 ms leaves two tries before a block is due

export class ScheduledDeck {
  /**
   * @param {AudioContext} context
   * @param {(message: any) => void} tell
   */
  constructor(context, tell) {
    this.context = context;
    this.tell = tell;
    this.tape = new Tape();
    this.heard = 0;
    this.next = 0;
    this.said = "";
    this.gain = this.#bus();
    /** @type {{at: number, frame: number, length: number}[]} */
    this.booked = [];
    setInterval(() => this.pump(), PUMP_MS);
  }

  #bus() {
    const gain = this.context.createGain();
    gain.connect(this.context.destination);
    return gain;
  }

  /** @param {any} message */
  post(message) {
    const { tape } = this;
    if (message.type === "feed") {
      message.port.onmessage = (/** @type {MessageEvent} */ event) => {
        const { answer, pcm, end } = event.data;
        if (pcm) tape.append(answer, new Int16Array(pcm), this.context.currentTime);
        if (end) tape.end(answer);
        this.pump();
      };
      return;
    }
    const here = this.position();
    if (message.type !== "resume") this.#cut();
    if (message.type === "load") tape.load(message.answer, message.reserve);
    else if (message.type === "silence") {
      tape.silence(message.answer);
      this.tell({ type: "silent", answer: message.answer, time: this.context.currentTime + OUT / RATE, clock: Date.now() });
    } else if (message.answer === tape.answer) {
      if (message.type === "seek") tape.seek(message.frame);
      else if (message.type === "pause") {
        tape.seek(here);
        tape.pause();
      } else if (message.type === "resume") tape.resume();
    }
    this.pump();
  }

  /** Takes back what is booked but has not sounded. */
  #cut() {
    const { currentTime } = this.context;
    const old = this.gain;
    old.gain.setValueAtTime(1, currentTime);
    old.gain.linearRampToValueAtTime(0, currentTime + OUT / RATE);
    setTimeout(() => old.disconnect(), 50); // after the ramp, whatever the timer's delay
    this.gain = this.#bus();
    this.booked = [];
    this.next = 0;
    this.tape.tailLeft = 0;
  }

  /** The frame that sounds now. */
  position() {
    const { currentTime } = this.context;
    while (this.booked.length > 1 && this.booked[1].at <= currentTime) this.booked.shift();
    const block = this.booked[0];
    if (!block) return this.tape.reel.at;
    return Math.round(block.frame + Math.max(0, Math.min(block.length, (currentTime - block.at) * RATE)));
  }

  pump() {
    const { tape, context } = this;
    for (;;) {
      const { reel } = tape;
      const start = Math.max(this.next, context.currentTime + (this.next ? 0.01 : START));
      const lead = start - context.currentTime;
      const dry = !reel.complete && reel.total - reel.at < BLOCK + EDGE;
      if (lead > AHEAD || (tape.state === "playing" && dry && lead > DUE)) break;
      if (tape.state !== "playing" && tape.state !== "filling") break;
      // Sound was there, but the page's thread had no time to book it.
      if (tape.state === "playing" && this.next && start > this.next + LATE) reel.count(start - this.next);
      const before = reel.at;
      const samples = new Float32Array(BLOCK);
      tape.read(samples, start);
      const count = Math.min(BLOCK, reel.at - before);
      if (count === 0) break;
      this.#book(samples, start, before, count);
    }
    this.#report();
  }

  /**
   * @param {Float32Array<ArrayBuffer>} samples
   * @param {number} start
   * @param {number} frame
   * @param {number} count
   */
  #book(samples, start, frame, count) {
    const buffer = this.context.createBuffer(1, count, RATE);
    buffer.copyToChannel(samples.subarray(0, count), 0);
    const source = this.context.createBufferSource();
    source.buffer = buffer;
    source.connect(this.gain);
    source.start(start);
    this.booked.push({ at: start, frame, length: count });
    this.next = start + count / RATE;
    const first = samples.findIndex((sample) => sample !== 0);
    if (this.heard < this.tape.answer && first >= 0) {
      this.heard = this.tape.answer;
      const time = start + first / RATE;
      this.tell({ type: "sound", answer: this.heard, time, clock: Date.now() + (time - this.context.currentTime) * 1000 });
    }
  }

  #report() {
    const { answer } = this.tape;
    const { total, underruns, stall, longest, lateness } = this.tape.reel;
    const frame = this.position();
    const last = this.booked.at(-1);
    const sounding = last !== undefined && last.at + last.length / RATE > this.context.currentTime;
    const state = this.tape.state === "ended" && sounding ? "playing" : this.tape.state;
    const now = `${answer} ${state} ${frame} ${total}`;
    if (now === this.said) return;
    this.said = now;
    this.tell({ type: "at", answer, state, frame, total, underruns, stall, longest, lateness });
  }
}
