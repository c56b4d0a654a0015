// @ts-check
/**
 * Sound of one sample rate as sound of another, in a stream: a polyphase low-pass (windowed sinc) at exactly the ratio of the two rates.
 *
 * Pass band to 7/8 of the lower rate's half (7 kHz for 16 kHz), -80 dB from that half on: nothing above it folds back into the speech.
 * Delay: half the filter, 2.5 ms for 48 to 16 kHz, 1.7 ms for 24 to 48 kHz.
 */

const TAPS = 80; // at the lower rate; Kaiser's formula for 80 dB over the last eighth of the band: (80 - 7.95) / (14.36 * 0.0625)
const BETA = 7.86; // Kaiser window for 80 dB: 0.1102 * (80 - 8.7); 16 bit speech has no quieter parts that matter
const CUT = 15 / 16; // of the lower half rate: the middle between pass and stop band

/** @param {number} a @param {number} b @returns {number} */
const divisor = (a, b) => (b ? divisor(b, a % b) : a);

/** Modified Bessel function of order 0, by its series. @param {number} x */
function bessel(x) {
  let sum = 1;
  for (let term = 1, k = 1; term > 1e-12 * sum; k += 1) {
    term *= (x / (2 * k)) ** 2;
    sum += term;
  }
  return sum;
}

export class Resampler {
  /**
   * @param {number} from Hz
   * @param {number} to Hz
   */
  constructor(from, to) {
    const common = divisor(from, to);
    this.up = to / common;
    this.down = from / common;
    const share = Math.min(1, to / from);
    this.taps = 2 * Math.ceil(TAPS / share / 2);
    this.table = table(this.up, this.taps, CUT * share);
    /** Samples still needed, the oldest first; it begins with silence, so that the first output needs no waiting. */
    this.kept = new Float32Array(this.taps + this.down + 4096);
    this.length = this.taps - 1;
    this.phase = 0;
    this.skip = 0;
  }

  /** The most that `process` puts out for `count` samples. @param {number} count */
  most(count) {
    return Math.ceil((count * this.up) / this.down) + 1;
  }

  /**
   * @param {Float32Array} input at most 4096 samples
   * @param {Float32Array} output room for `most(input.length)`
   * @returns {number} how many samples were put out
   */
  process(input, output) {
    const { kept, table, taps, up, down } = this;
    kept.set(input, this.length);
    this.length += input.length;
    let at = this.skip;
    let count = 0;
    for (; at + taps <= this.length; count += 1) {
      const row = this.phase * taps;
      let sum = 0;
      for (let k = 0; k < taps; k += 1) sum += kept[at + k] * table[row + k];
      output[count] = sum;
      this.phase += down;
      at += Math.floor(this.phase / up);
      this.phase %= up;
    }
    const used = Math.min(at, this.length);
    kept.copyWithin(0, used, this.length);
    this.length -= used;
    this.skip = at - used;
    return count;
  }
}

/**
 * Row `p` weighs the samples around a place `p / up` behind the middle one. Each row sums to 1.
 * @param {number} up
 * @param {number} taps
 * @param {number} cut of the input's half rate
 */
function table(up, taps, cut) {
  const rows = new Float32Array(up * taps);
  const half = taps / 2;
  for (let p = 0; p < up; p += 1) {
    let sum = 0;
    for (let k = 0; k < taps; k += 1) {
      const t = k - (half - 1) - p / up;
      const window = Math.abs(t) < half ? bessel(BETA * Math.sqrt(1 - (t / half) ** 2)) : 0;
      const sinc = t === 0 ? cut : Math.sin(Math.PI * cut * t) / (Math.PI * t);
      rows[p * taps + k] = window * sinc;
      sum += rows[p * taps + k];
    }
    for (let k = 0; k < taps; k += 1) rows[p * taps + k] /= sum;
  }
  return rows;
}
