// @ts-check
/**
 * The audio thread's side of the model's voice: a Line read at 24 kHz, resampled to the context's rate. The context runs at the device's
 * own rate, because an echo canceller (Firefox's most) only knows what is played that way.
 *
 * In, on `port` (from sound.js): {type: "worker", port}, {type: "latency", s} from here to the ear, "flush" as below, {type: "tap"} for tests
 *   (processorOptions `{tap: true}`: keep what sounds, at 24 kHz, while there is an answer)
 * In, from the worker: {type: "speech", response, frame: ArrayBuffer} (wire.js), {type: "end", response}, {type: "new"} another conversation,
 *   {type: "flush", response, asked} silence, at once; `asked`: Date.now() of the decision
 * Out, to the worker:  {type: "played", response, ms} really heard of each answer, every 250 ms and at its end
 *   {type: "sounding", on} something can be heard, or not, {type: "silent", response, ms} the fade after a flush is through, `ms` after it was asked
 * Out, to the page: {type: "at", response, ms, sounding, underruns, stall} every 32 ms while it sounds and when that changes; ms, seconds
 *   {type: "silent", response, ms} and {type: "tap", samples, marks: [response, first sample][]}
 */
import { RATE } from "../tape.js";
import { Line } from "./line.js";
import { Resampler } from "./resampler.js";
import { HEAD } from "./wire.js";

/** @typedef {{currentTime: number, sampleRate: number, registerProcessor: Function}} AudioScope */
const scope = /** @type {AudioScope} */ (/** @type {unknown} */ (globalThis));
const Processor = /** @type {any} */ (globalThis).AudioWorkletProcessor;

const PIECE = 64; // frames read at once: 2.7 ms more than the sound card asked for at most
const BEAT_S = 0.032; // 31 positions a second move a caption smoothly
const PLAYED_S = 0.25; // how often the server hears what was heard
const TAP_MOST = RATE * 480; // a tap somebody forgot does not fill the memory

class LiveDeck extends Processor {
  /** @param {{processorOptions?: {tap?: boolean}}} options */
  constructor(options) {
    super();
    this.piece = new Float32Array(PIECE);
    this.latency = 0;
    this.kept = options.processorOptions?.tap ? { samples: new Float32Array(TAP_MOST), length: 0, marks: /** @type {number[][]} */ ([]) } : null;
    /** @type {MessagePort | null} */
    this.worker = null;
    this.line = new Line();
    this.resampler = new Resampler(RATE, scope.sampleRate);
    this.ready = new Float32Array(this.resampler.most(PIECE) + 128);
    this.length = 0;
    /** @type {{response: number, asked: number} | null} */
    this.flushed = null;
    this.sounding = false;
    this.told = 0;
    this.played = 0;
    this.port.onmessage = (/** @type {MessageEvent} */ event) => this.order(event.data);
  }

  /** @param {any} message */
  order(message) {
    if (message.type === "worker") {
      this.worker = message.port;
      message.port.onmessage = (/** @type {MessageEvent} */ event) => this.hear(event.data);
    } else if (message.type === "flush") this.flush(message);
    else if (message.type === "latency") this.latency = message.s;
    else if (message.type === "tap" && this.kept) {
      const { samples, length, marks } = this.kept;
      this.port.postMessage({ type: "tap", samples: samples.slice(0, length), marks });
    }
  }

  /** @param {any} message */
  hear(message) {
    const { line } = this;
    if (message.type === "speech") line.append(message.response, new Int16Array(message.frame, HEAD), scope.currentTime);
    else if (message.type === "end") line.end(message.response);
    else if (message.type === "new") this.line = new Line();
    else if (message.type === "flush") this.flush(message);
  }

  /** @param {{response: number, asked: number}} order */
  flush(order) {
    const sounds = this.line.waiting;
    this.line.flush(order.response);
    if (sounds) this.flushed = order;
  }

  /**
   * @param {Float32Array[][]} _inputs
   * @param {Float32Array[][]} outputs
   */
  process(_inputs, outputs) {
    const out = outputs[0][0];
    while (this.length < out.length) this.read();
    out.set(this.ready.subarray(0, out.length));
    this.ready.copyWithin(0, out.length, this.length);
    this.length -= out.length;
    if (this.flushed && !this.line.fading && out.every((sample) => Math.abs(sample) < 1e-4)) {
      const { response, asked } = this.flushed;
      this.flushed = null;
      const silent = { type: "silent", response, ms: Date.now() - asked };
      this.worker?.postMessage(silent);
      this.port.postMessage(silent);
    }
    this.report();
    return true;
  }

  read() {
    const { line, piece, kept } = this;
    const [head] = line.tapes;
    const before = head?.reel.at;
    line.read(piece, scope.currentTime);
    if (kept && head && before === 0 && head.reel.at > 0) kept.marks.push([head.answer, kept.length]);
    if (kept && kept.length + PIECE <= TAP_MOST && (head || line.fading)) {
      kept.samples.set(piece, kept.length);
      kept.length += PIECE;
    }
    this.length += this.resampler.process(piece, this.ready.subarray(this.length));
  }

  report() {
    const { line } = this;
    const now = scope.currentTime;
    const turned = line.sounding !== this.sounding;
    if (turned) {
      this.sounding = line.sounding;
      this.worker?.postMessage({ type: "sounding", on: this.sounding });
    }
    const over = line.over.length > 0;
    if (!turned && !over && !(this.sounding && now - this.told >= BEAT_S)) return;
    this.told = now;
    const server = over || now - this.played >= PLAYED_S;
    if (server) this.played = now;
    const stall = line.stall + (line.tapes[0]?.reel.stall ?? 0);
    const underruns = line.underruns + (line.tapes[0]?.reel.underruns ?? 0);
    for (const { response, frame, state } of line.take()) {
      // What is still on its way to the ear has not been heard; at an answer's own end it soon will be.
      const ms = Math.max(0, (frame / RATE - (state === "ended" ? 0 : this.latency)) * 1000);
      this.port.postMessage({ type: "at", response, ms, sounding: this.sounding, underruns, stall });
      if (server) this.worker?.postMessage({ type: "played", response, ms });
    }
  }
}

scope.registerProcessor("omni-live-deck", LiveDeck);
