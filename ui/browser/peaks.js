// @ts-check
/** The outline of a sound: the loudest sample of each 20 ms. Feeds the waveform and the pace of the caption. */

export const SLOT = 480; // frames, 20 ms: about a third of a spoken sound, finer than any bar on the page

export class Peaks {
  constructor() {
    this.loudest = 0;
    this.filled = 0;
  }

  /**
   * @param {Int16Array} pcm the next samples
   * @returns {Float32Array<ArrayBuffer>} the peaks (0..1) that are complete now
   */
  add(pcm) {
    const done = new Float32Array(Math.floor((this.filled + pcm.length) / SLOT));
    let slot = 0;
    for (const sample of pcm) {
      const size = sample < 0 ? -sample : sample;
      if (size > this.loudest) this.loudest = size;
      this.filled += 1;
      if (this.filled === SLOT) {
        done[slot] = this.loudest / 32_768;
        slot += 1;
        this.loudest = 0;
        this.filled = 0;
      }
    }
    return done;
  }
}
