// @ts-check
/**
 * The audio thread's side of the microphone: the context's rate in, frames of 200 ms s16le 16 kHz out, straight to the worker.
 *
 * While it runs a frame leaves every 200 ms, whatever happens: muted, released (push to talk) or unplugged, it holds silence. The model
 * decides by the second, and a second without input is not a second of silence.
 *
 * In, on `port` (from sound.js):
 *   {type: "worker", port}   the worker's MessagePort; frames go there
 *   {type: "run", on}        frames leave (numbered from 0, on and on) or do not
 *   {type: "open", on}       what the microphone hears is in them, or silence
 *   {type: "tap"}            asks for the frames that left so far, for tests (processorOptions `{tap: true}`)
 * Out, to the worker: {type: "frame", number, buffer} (wire.js), {type: "voice"} somebody began to speak (voice.js; not while closed)
 * Out, to the page:   {type: "level", peak, rms, speaking} every 60 ms (of what the microphone hears, sent or not), {type: "tap", frames: Int16Array[]}
 */
import { Resampler } from "./resampler.js";
import { VoiceGate } from "./voice.js";
import { HEAD, MICROPHONE, MIC_FRAME, MIC_RATE, frame } from "./wire.js";

/** @typedef {{sampleRate: number, registerProcessor: Function}} AudioScope */
const scope = /** @type {AudioScope} */ (/** @type {unknown} */ (globalThis));
const Processor = /** @type {any} */ (globalThis).AudioWorkletProcessor;

const LEVEL = 960; // samples at 16 kHz, 60 ms: a meter that moves 16 times a second looks live
const RAMP = 80; // samples, 5 ms: opening and closing makes no click for the model to hear
const BLOCK = 128;

class MicProcessor extends Processor {
  /** @param {{processorOptions?: {tap?: boolean}}} options */
  constructor(options) {
    super();
    this.resampler = new Resampler(scope.sampleRate, MIC_RATE);
    this.heard = new Float32Array(this.resampler.most(BLOCK));
    this.silence = new Float32Array(BLOCK);
    this.gate = new VoiceGate();
    this.running = false;
    this.gain = 0;
    this.open = false;
    this.number = 0;
    this.buffer = frame(MICROPHONE, 0, MIC_FRAME * 2);
    this.samples = new Int16Array(this.buffer, HEAD);
    this.filled = 0;
    this.peak = 0;
    this.power = 0;
    this.metered = 0;
    /** @type {Int16Array[] | null} */
    this.kept = options.processorOptions?.tap ? [] : null;
    /** @type {MessagePort | null} */
    this.worker = null;
    this.port.onmessage = (/** @type {MessageEvent} */ event) => this.order(event.data);
  }

  /** @param {any} message */
  order(message) {
    if (message.type === "worker") this.worker = message.port;
    else if (message.type === "open") this.open = message.on;
    else if (message.type === "tap") this.port.postMessage({ type: "tap", frames: this.kept });
    else if (message.type === "run") {
      if (message.on && !this.running) this.number = this.filled = 0;
      this.running = message.on;
    }
  }

  /** @param {Float32Array[][]} inputs */
  process(inputs) {
    const input = inputs[0][0] ?? this.silence;
    const count = this.resampler.process(input, this.heard);
    const heard = this.heard.subarray(0, count);
    this.meter(heard);
    if (this.gate.push(heard) && this.open) this.worker?.postMessage({ type: "voice" });
    if (this.running) for (const sample of heard) this.put(sample);
    return true;
  }

  /** @param {number} sample */
  put(sample) {
    this.gain = this.open ? Math.min(1, this.gain + 1 / RAMP) : Math.max(0, this.gain - 1 / RAMP);
    const value = Math.round(Math.max(-1, Math.min(1, sample * this.gain)) * 32_767);
    this.samples[this.filled] = value;
    this.filled += 1;
    if (this.filled < MIC_FRAME) return;
    this.kept?.push(this.samples.slice());
    const { number, buffer } = this;
    this.worker?.postMessage({ type: "frame", number, buffer }, [buffer]);
    this.number += 1;
    this.buffer = frame(MICROPHONE, this.number, MIC_FRAME * 2);
    this.samples = new Int16Array(this.buffer, HEAD);
    this.filled = 0;
  }

  /** @param {Float32Array} heard */
  meter(heard) {
    for (const sample of heard) {
      this.peak = Math.max(this.peak, Math.abs(sample));
      this.power += sample * sample;
    }
    this.metered += heard.length;
    if (this.metered < LEVEL) return;
    const rms = Math.sqrt(this.power / this.metered);
    this.port.postMessage({ type: "level", peak: this.peak, rms, speaking: this.gate.speaking });
    this.peak = this.power = this.metered = 0;
  }
}

scope.registerProcessor("omni-mic", MicProcessor);
