// @ts-check
/**
 * The audio thread's side of the player: a Tape read 128 frames at a time. Context rate: 24 kHz (Tape's RATE).
 *
 * processorOptions: `{tap: boolean}`: keep every block that sounds, for the tests that compare it with the WAV.
 *
 * In, on `port` (from deck.js):
 *   {type: "feed", port}             the worker's MessagePort; its messages: {answer, pcm: ArrayBuffer (s16le)} | {answer, end: true}
 *   {type: "load", answer, reserve}  a new answer; reserve in seconds
 *   {type: "seek", answer, frame} {type: "pause", answer} {type: "resume", answer} {type: "silence", answer}
 *   {type: "tap"}                    asks for what sounded so far
 * Out:
 *   {type: "at", answer, state, frame, total, underruns, stall, longest, lateness}
 *                                    every 32 ms while something changes, and at once when the state does (seconds, frames)
 *   {type: "sound", answer, time, clock}  the first non-zero sample of an answer left: context seconds, and Date.now() of that block
 *   {type: "silent", answer, time, clock} the fade after "silence" is through: the context second of the first silent sample
 *   {type: "tap", blocks, starts}    Float32Array of 128 frames each, and the context frame at which each began
 */
import { RATE, Tape } from "./tape.js";

/** @typedef {{currentTime: number, currentFrame: number, registerProcessor: Function}} AudioScope */
const scope = /** @type {AudioScope} */ (/** @type {unknown} */ (globalThis));
const Processor = /** @type {any} */ (globalThis).AudioWorkletProcessor;

const BEAT = 6; // blocks of 128 frames = 32 ms: 31 positions a second move a caption smoothly
const TAP_MOST = 60_000; // blocks, 320 s: a tap somebody forgot does not fill the memory

class DeckProcessor extends Processor {
  /** @param {{processorOptions?: {tap?: boolean}}} options */
  constructor(options) {
    super();
    this.tape = new Tape();
    this.heard = 0;
    this.silenced = 0;
    this.beat = 0;
    this.said = "";
    /** @type {{blocks: Float32Array[], starts: number[]} | null} */
    this.kept = options.processorOptions?.tap ? { blocks: [], starts: [] } : null;
    this.port.onmessage = (/** @type {MessageEvent} */ event) => this.order(event.data);
  }

  /** @param {any} message */
  order(message) {
    const { tape } = this;
    if (message.type === "feed") {
      message.port.onmessage = (/** @type {MessageEvent} */ event) => {
        const { answer, pcm, end } = event.data;
        if (pcm) tape.append(answer, new Int16Array(pcm), scope.currentTime);
        if (end) tape.end(answer);
      };
    } else if (message.type === "load") tape.load(message.answer, message.reserve);
    else if (message.type === "silence") {
      tape.silence(message.answer);
      this.silenced = message.answer;
    } else if (message.type === "tap") this.port.postMessage({ type: "tap", ...this.kept });
    else if (message.answer === tape.answer) {
      if (message.type === "seek") tape.seek(message.frame);
      else if (message.type === "pause") tape.pause();
      else if (message.type === "resume") tape.resume();
    }
  }

  /**
   * @param {Float32Array[][]} _inputs
   * @param {Float32Array[][]} outputs
   */
  process(_inputs, outputs) {
    const out = outputs[0][0];
    const { tape } = this;
    tape.read(out, scope.currentTime);
    if (this.kept && tape.answer > 0 && this.kept.blocks.length < TAP_MOST) {
      this.kept.blocks.push(out.slice());
      this.kept.starts.push(scope.currentFrame);
    }
    if (this.heard < tape.answer && tape.state !== "idle") {
      const first = out.findIndex((sample) => sample !== 0);
      if (first >= 0 && tape.reel.at > 0) {
        this.heard = tape.answer;
        this.tell("sound", scope.currentTime + first / RATE);
      }
    }
    if (this.silenced && !tape.fading) {
      this.tell("silent", scope.currentTime + out.findLastIndex((sample) => sample !== 0) / RATE, this.silenced);
      this.silenced = 0;
    }
    this.report();
    return true;
  }

  report() {
    const { tape } = this;
    this.beat += 1;
    const now = `${tape.answer} ${tape.state}`;
    const moving = tape.state === "playing" || tape.state === "filling";
    if (now === this.said && !(moving && this.beat >= BEAT)) return;
    this.said = now;
    this.beat = 0;
    const { answer, state } = tape;
    const { at: frame, total, underruns, stall, longest, lateness } = tape.reel;
    this.port.postMessage({ type: "at", answer, state, frame, total, underruns, stall, longest, lateness });
  }

  /**
   * @param {"sound" | "silent"} type
   * @param {number} time
   * @param {number} [answer]
   */
  tell(type, time, answer = this.tape.answer) {
    this.port.postMessage({ type, answer, time, clock: Date.now() });
  }
}

scope.registerProcessor("omni-deck", DeckProcessor);
