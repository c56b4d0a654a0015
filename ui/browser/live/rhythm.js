// @ts-check
/** When who sounded, and what the model decided each second: what the timeline draws. Seconds on one clock, a minute of them is kept. */

export const SPAN = 60; // s; a minute is what a person can still put a face to

const UNIT = 0.9; // s; a unit of the model is a second, and its words may come in pieces

/** @typedef {{at: number, until: number | null}} Stretch */

export class Rhythm {
  constructor() {
    /** @type {{at: number, rms: number}[]} */
    this.levels = [];
    /** @type {Stretch[]} */
    this.mine = [];
    /** @type {Stretch[]} */
    this.voice = [];
    /** @type {{at: number, what: "listen" | "speak"}[]} */
    this.decisions = [];
    /** @type {{at: number, by: string}[]} */
    this.marks = [];
  }

  /** @param {number} at @param {number} rms 0..1 */
  level(at, rms) {
    this.levels.push({ at, rms });
    while (this.levels[0].at < at - SPAN) this.levels.shift();
  }

  /** @param {number} at @param {boolean} on */
  you(at, on) {
    stretch(this.mine, at, on);
  }

  /** @param {number} at @param {boolean} on */
  sounding(at, on) {
    stretch(this.voice, at, on);
  }

  /** A second in which it spoke says so with its words, perhaps twice. @param {number} at @param {"listen" | "speak"} what */
  decided(at, what) {
    const last = this.decisions.at(-1);
    if (what === "speak" && last?.what === "speak" && at - last.at < UNIT) return;
    keep(this.decisions, { at, what });
  }

  /** @param {number} at @param {string} by */
  mark(at, by) {
    const last = this.marks.at(-1);
    if (!last || at - last.at > 1) keep(this.marks, { at, by }); // a press, and the app's word for it
  }
}

/** @param {Stretch[]} all @param {number} at @param {boolean} on */
function stretch(all, at, on) {
  const last = all.at(-1);
  const running = last !== undefined && last.until === null;
  if (on && !running) keep(all, { at, until: null });
  else if (!on && running) last.until = at;
}

/** @template {{at: number}} T @param {T[]} all @param {T} one */
function keep(all, one) {
  all.push(one);
  if (all.length > 200) all.shift(); // more than a minute holds
}
