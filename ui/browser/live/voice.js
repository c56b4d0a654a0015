// @ts-check
/**
 * Hears whether a person begins to speak, and nothing else: the rule behind "interrupt on my voice". 16 kHz mono, pure arithmetic.
 *
 * Every 10 ms is looked at in a window of 40 ms. It counts as *voiced* when it is loud (LOUD, and STEP above the room's own noise) and has
 * a pitch between 70 and 400 Hz: its autocorrelation has a peak of PITCH there. The gate fires when MANY of the last SPAN were voiced: about
 * a fifth of a second of vowel. Noise has no pitch, a click or a cough is over sooner. It fires again only after REST without voice;
 * until then the person is taken to be `speaking`.
 */

export const RATE = 16_000;
const HOP = 160; // 10 ms
const THIN = 4; // a pitch below 400 Hz needs no more than 4 kHz
const WINDOW = 160; // 40 ms at 4 kHz: three periods of the lowest voice
const SHORTEST = 10; // 400 Hz at 4 kHz
const LONGEST = 57; // 70 Hz
const LOUD = 10 ** (-42 / 20); // of full scale; speech at a desk comes with -20 to -30 dBFS, what echo cancellation leaves with -50
const STEP = 10 ** (10 / 20); // above the room: speech in a murmuring hall still stands out by so much
const PITCH = 0.6; // vowels reach 0.8 and more, noise 0.35
const SPAN = 25; // 250 ms, about a syllable and a half
const MANY = 15; // 150 ms of them voiced; the voiced part of a cough lasts 100 ms at most
const REST = 50; // 500 ms: the pauses within a sentence are shorter
const RISE = 1.004; // per hop, 3.5 dB a second: the room's noise may grow, but a sentence is not taken for it
const FLOOR = 10 ** (-70 / 20); // no room with a microphone in it is quieter

export class VoiceGate {
  constructor() {
    this.hop = new Float32Array(HOP);
    this.filled = 0;
    this.thin = new Float32Array(WINDOW);
    this.room = Infinity; // the first sound is the first guess
    /** @type {boolean[]} */
    this.voiced = [];
    this.speaking = false;
    this.rest = 0;
  }

  /**
   * @param {Float32Array} samples any number
   * @returns {boolean} somebody has just begun to speak
   */
  push(samples) {
    let fired = false;
    for (const sample of samples) {
      this.hop[this.filled] = sample;
      this.filled += 1;
      if (this.filled === HOP) {
        this.filled = 0;
        fired = this.#look() || fired;
      }
    }
    return fired;
  }

  #look() {
    let power = 0;
    for (const sample of this.hop) power += sample * sample;
    const level = Math.sqrt(power / HOP);
    this.#shift();
    const voiced = level > LOUD && level > STEP * this.room && this.#pitched();
    this.room = Math.max(FLOOR, Math.min(level, this.room * RISE));
    this.voiced.push(voiced);
    if (this.voiced.length > SPAN) this.voiced.shift();
    this.rest = voiced ? 0 : this.rest + 1;
    if (this.rest >= REST) this.speaking = false;
    if (this.speaking || this.voiced.filter(Boolean).length < MANY) return false;
    this.speaking = true;
    this.voiced.length = 0;
    return true;
  }

  #shift() {
    const fresh = HOP / THIN;
    this.thin.copyWithin(0, fresh);
    for (let i = 0; i < fresh; i += 1) {
      let sum = 0;
      for (let k = 0; k < THIN; k += 1) sum += this.hop[i * THIN + k];
      this.thin[WINDOW - fresh + i] = sum / THIN;
    }
  }

  /** A peak, not a mere slope: the autocorrelation of rumble falls off without one. */
  #pitched() {
    let before = this.#likeness(SHORTEST - 1);
    let here = this.#likeness(SHORTEST);
    for (let lag = SHORTEST; lag < LONGEST; lag += 1) {
      const after = this.#likeness(lag + 1);
      if (here > PITCH && here > before && here >= after) return true;
      before = here;
      here = after;
    }
    return false;
  }

  /** Correlation of the window with itself `lag` later, -1..1. @param {number} lag */
  #likeness(lag) {
    const { thin } = this;
    let both = 0;
    let one = 1e-12;
    let two = 1e-12;
    for (let i = 0; i + LONGEST + 1 < WINDOW; i += 1) {
      both += thin[i] * thin[i + lag];
      one += thin[i] * thin[i];
      two += thin[i + lag] * thin[i + lag];
    }
    return both / Math.sqrt(one * two);
  }
}
