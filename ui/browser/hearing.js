// @ts-check
/** A turn's voice as far as this page knows it: what came, what was heard, and how its caption goes with it. */
import { Outline, ordinary, split, words } from "./caption.js";
import { RATE } from "./tape.js";

const NEXT_S = 0.2; // s of voice kept in hand while more may come, so that the caption does not run to the end of what came
const SURE_S = 1; // s; a shorter voice says too little about its pace

let pace = 1; // this voice's time over the ordinary time of its text; learnt from the answers heard before

export class Hearing {
  /**
   * @param {import("./player.js").Player} player
   * @param {() => void} changed
   */
  constructor(player, changed) {
    this.player = player;
    this.changed = changed;
    this.outline = new Outline();
    /** @type {import("./player.js").Position | null} */
    this.position = null;
    this.frames = NaN;
    /** Of the voice, 0..1. */
    this.share = 0;
    this.opened = false;
    this.mine = false;
    /** Measured at the first hearing. @type {import("./figures.js").Figures} */
    this.figures = {};
    /** @type {"session" | "gone" | "broken" | null} */
    this.lost = null;
    this.said = "";
    this.words = words("");
    this.ordinary = 0;
  }

  /** @param {string} text */
  text(text) {
    if (text === this.said) return;
    this.said = text;
    this.words = words(text);
    this.ordinary = ordinary(this.words);
  }

  /**
   * Plays it from the start.
   * @param {string} url
   * @param {{first: boolean, pressed: number | null}} how
   */
  open(url, how) {
    this.opened = true;
    this.mine = true;
    this.outline = new Outline();
    this.position = null;
    this.share = 0;
    this.lost = null;
    const then = (/** @type {() => void} */ set) => {
      set();
      this.changed();
    };
    this.player.play(
      url,
      {
        position: (position) => then(() => this.#heard(position)),
        peaks: (peaks) => then(() => this.outline.add(peaks)),
        sound: (first_sound_ms) => then(() => (this.figures = { first_sound_ms, stall_ms: 0, stall_longest_ms: 0 })),
        end: (frames) => then(() => this.#ended(frames)),
        lost: (reason) => then(() => (this.lost = reason)),
        released: () => then(() => (this.mine = false)),
      },
      how,
    );
  }

  /** @param {import("./player.js").Position} position */
  #heard(position) {
    const back = position.frame < (this.position?.frame ?? 0);
    this.position = position;
    // A better estimate of the whole may be a longer one; only a jump back takes words back.
    this.share = Math.max(back ? 0 : this.share, this.#shareOf(position.frame));
    if (this.figures.stall_ms === undefined || this.player.first === false) return;
    this.figures.stall_ms = position.stall * 1000;
    this.figures.stall_longest_ms = position.longest * 1000;
  }

  /** @param {number} frames */
  #ended(frames) {
    this.frames = frames;
    const voiced = this.outline.voiced(frames);
    if (voiced > SURE_S && this.ordinary > SURE_S) pace = voiced / this.ordinary;
  }

  get complete() {
    return !Number.isNaN(this.frames);
  }

  /** Frames that came. */
  get total() {
    return this.complete ? this.frames : this.position?.total ?? 0;
  }

  /** Seconds heard. */
  get at() {
    return (this.position?.frame ?? 0) / RATE;
  }

  /** Seconds of the whole, estimated while it still comes. */
  get seconds() {
    const came = this.total / RATE;
    return this.complete ? came : Math.max(came, this.ordinary * pace);
  }

  /** @returns {import("./tape.js").TapeState} */
  get state() {
    return this.mine ? this.position?.state ?? "filling" : "idle";
  }

  /** @param {number} frame */
  #shareOf(frame) {
    if (this.complete && frame >= this.frames) return 1;
    const came = this.outline.voiced(this.total);
    const voice = this.complete ? came : Math.max(came + NEXT_S, this.ordinary * pace);
    return voice > 0 ? this.outline.voiced(frame) / voice : 0;
  }

  /** @returns {{said: string, now: string, next: string}} */
  get caption() {
    return split(this.words, this.share);
  }
}
