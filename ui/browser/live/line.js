// @ts-check
/**
 * The answers of a conversation in a line, each on a tape of its own: the first one sounds, the next begins when it has ended. 24 kHz mono.
 *
 * Each answer counts for itself how much of it was heard: the server learns it one by one. What is flushed fades out within 5 ms and
 * nothing of it, or of an older one, sounds any more.
 */
import { Tape } from "../tape.js";

const RESERVE = 0.12; // s; the model speaks in units of a second, each a little early or late
const RESERVE_MOST = 0.8; // s; a longer wait for a first word is worse than a hole
const MARGIN = 0.02; // s on top of the hole that was measured: one beat of the packets' way

/** @typedef {{response: number, frame: number, total: number, state: import("../tape.js").TapeState, underruns: number, stall: number}} Heard */

export class Line {
  constructor() {
    /** @type {Tape[]} the first one sounds */
    this.tapes = [];
    /** @type {Tape | null} flushed, and still fading */
    this.ghost = null;
    this.barred = 0;
    this.reserve = RESERVE;
    this.underruns = 0;
    this.stall = 0;
    /** What was flushed or has ended since the last `take`. @type {Heard[]} */
    this.over = [];
    this.spare = new Float32Array(0);
  }

  /**
   * @param {number} response
   * @param {Int16Array} pcm
   * @param {number} now seconds
   */
  append(response, pcm, now) {
    this.#tape(response)?.append(response, pcm, now);
  }

  /** Everything of it has come. @param {number} response */
  end(response) {
    this.#tape(response)?.end(response);
  }

  /** Drops everything up to and with `response`; it is silent within 5 ms. @param {number} response */
  flush(response) {
    this.barred = Math.max(this.barred, response);
    const [head] = this.tapes;
    for (const tape of this.tapes) if (tape.answer <= response) this.#done(tape);
    if (head && head.answer <= response && head.state !== "idle") {
      head.silence(head.answer);
      this.ghost = head;
    }
    this.tapes = this.tapes.filter((tape) => tape.answer > response);
  }

  /** Something can be heard. */
  get sounding() {
    return this.tapes[0]?.state === "playing";
  }

  /** Something is there to be heard, now or soon. */
  get waiting() {
    return this.tapes.some((tape) => tape.reel.total > 0);
  }

  /** The fade after a flush is not through. */
  get fading() {
    return this.ghost?.fading ?? false;
  }

  /** How far each answer was heard: those over since the last call, then the one that sounds. @returns {Heard[]} */
  take() {
    const heard = this.over.splice(0);
    if (this.tapes[0]?.reel.total) heard.push(position(this.tapes[0]));
    return heard;
  }

  /**
   * @param {Float32Array} out
   * @param {number} now
   */
  read(out, now) {
    const [head] = this.tapes;
    if (head) head.read(out, now);
    else out.fill(0);
    if (this.ghost) {
      if (this.spare.length < out.length) this.spare = new Float32Array(out.length);
      const tail = this.spare.subarray(0, out.length);
      this.ghost.read(tail, now);
      for (let i = 0; i < out.length; i += 1) out[i] += tail[i];
      if (!this.ghost.fading) this.ghost = null;
    }
    if (head?.state === "ended") {
      this.#done(head);
      this.barred = Math.max(this.barred, head.answer);
      this.tapes.shift();
    }
  }

  /** @param {Tape} tape */
  #done(tape) {
    const { reel } = tape;
    this.over.push({ ...position(tape), state: "ended" });
    this.underruns += reel.underruns;
    this.stall += reel.stall;
    if (reel.at === 0) return;
    // Raised at once, lowered by halves: a link that was late may be late again.
    const hole = reel.underruns > 0 ? reel.lateness + MARGIN : 0;
    this.reserve = Math.min(RESERVE_MOST, Math.max(RESERVE, hole, this.reserve / 2));
  }

  /** @param {number} response @returns {Tape | null} null: it is flushed, or over */
  #tape(response) {
    const last = this.tapes.at(-1);
    if (response <= this.barred) return null;
    if (last && response < last.answer) return this.tapes.find((tape) => tape.answer === response) ?? null;
    if (last?.answer === response) return last;
    last?.end(last.answer); // answers come one after the other: nothing more of it will
    const tape = new Tape();
    tape.load(response, this.reserve);
    this.tapes.push(tape);
    return tape;
  }
}

/** @param {Tape} tape @returns {Heard} */
function position({ answer, state, reel }) {
  return { response: answer, frame: reel.at, total: reel.total, state, underruns: reel.underruns, stall: reel.stall };
}
