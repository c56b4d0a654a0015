// @ts-check
/**
 * One answer's sound as a tape: packets are appended as they come, blocks are read as the sound card asks for them.
 *
 * Pure arithmetic on frames (24 kHz mono), no Web Audio in it: the worklet reads it in blocks of 128, the fallback without
 * AudioWorklet in blocks of 100 ms, a test in whatever it likes. `now` is always seconds on one clock that only runs forward.
 *
 * - A new answer has a higher number than every older one. Packets of an older or a silenced answer are dropped.
 * - Start: as soon as FIRST seconds are there and `reserve` seconds have passed since the first packet, or when the answer has ended.
 * - Starved: the last EDGE frames are always held back, so that the sound can fade out instead of breaking off. Nothing is skipped:
 *   it goes on, faded in, where it left off. A hole counts as a stall only when sound really follows it.
 * - Samples are passed on as they are (x / 32768) except EDGE frames at each edge of the sound.
 */

export const RATE = 24_000; // what the voice decoder makes (protocol §2.4)
export const EDGE = 48; // 2 ms: long enough to hide a click, too short to be heard as a fade
export const OUT = 120; // 5 ms: fade on Stop; well inside the 30 ms a person may wait for silence
const FIRST = 0.08; // s; smaller packets than this would start on a sliver and starve at once
const REFILL_MOST = 0.25; // s; after a hole wait as long again, so that a slow server stutters rarely instead of at every packet

/** @typedef {"idle" | "filling" | "playing" | "paused" | "ended"} TapeState */

export class Tape {
  constructor() {
    /** Number of the answer on the tape; 0: none yet. */
    this.answer = 0;
    this.barred = 0;
    /** @type {TapeState} */
    this.state = "idle";
    this.tail = new Float32Array(OUT);
    this.tailLeft = 0;
    this.#wipe(0);
  }

  /** @param {number} reserve seconds */
  #wipe(reserve) {
    /** @type {Int16Array[]} */
    this.packets = [];
    /** @type {number[]} frame at which each packet starts */
    this.starts = [];
    this.reserve = reserve;
    this.total = 0;
    this.at = 0;
    this.packet = 0;
    this.complete = false;
    this.first = NaN;
    this.refill = NaN;
    this.rise = EDGE;
    this.starved = NaN;
    this.rewound = false;
    this.underruns = 0;
    this.stall = 0;
    this.longest = 0;
    this.lateness = -Infinity;
  }

  /**
   * Makes `answer` the one on the tape, once; whatever sounded fades out. False: it is old or silenced.
   * @param {number} answer
   * @param {number} [reserve] seconds to wait after the first packet
   */
  load(answer, reserve) {
    if (answer < this.answer || answer <= this.barred) return false;
    if (answer > this.answer) {
      this.#fadeOut(OUT);
      this.answer = answer;
      this.#wipe(0);
      this.state = "filling";
    }
    if (reserve !== undefined) this.reserve = reserve;
    return true;
  }

  /**
   * @param {number} answer
   * @param {Int16Array} pcm
   * @param {number} now
   */
  append(answer, pcm, now) {
    if (!this.load(answer) || pcm.length === 0 || this.complete) return;
    if (this.total === 0) this.first = now;
    // How much later than "played without a break since the first packet" this one came: the start delay that would have hidden it.
    else this.lateness = Math.max(this.lateness, now - this.first - this.total / RATE);
    if (Number.isNaN(this.refill)) this.refill = now;
    this.packets.push(pcm);
    this.starts.push(this.total);
    this.total += pcm.length;
  }

  /** @param {number} answer */
  end(answer) {
    if (!this.load(answer)) return;
    this.complete = true;
    this.at = Math.min(this.at, this.total);
  }

  /** Plays from `frame`, as soon as it is there. Stalls are no longer counted: this is not the first hearing. @param {number} frame */
  seek(frame) {
    if (this.state === "idle") return;
    this.#fadeOut(EDGE);
    this.rewound = true;
    this.at = Math.max(0, this.complete ? Math.min(Math.floor(frame), this.total) : Math.floor(frame));
    this.packet = Math.max(0, this.starts.findLastIndex((start) => start <= this.at));
    this.rise = EDGE;
    this.starved = NaN;
    this.state = "filling";
    this.refill = -Infinity;
  }

  pause() {
    if (this.state !== "playing" && this.state !== "filling") return;
    this.#fadeOut(OUT);
    this.starved = NaN;
    this.state = "paused";
  }

  resume() {
    if (this.state !== "paused") return;
    this.rise = EDGE;
    this.refill = -Infinity;
    this.state = "filling";
  }

  /** Silent within OUT frames; nothing of `answer` or older plays any more. @param {number} answer */
  silence(answer) {
    this.barred = Math.max(this.barred, answer);
    if (answer < this.answer || this.state === "idle") return;
    this.#fadeOut(OUT);
    this.#wipe(0);
    this.state = "idle";
  }

  /** True while a fade-out is still sounding. */
  get fading() {
    return this.tailLeft > 0;
  }

  /**
   * Fills `out` with the next frames.
   * @param {Float32Array} out
   * @param {number} now seconds at its first frame
   */
  read(out, now) {
    out.fill(0);
    let from = 0;
    if (this.state === "filling" && this.#ready(now)) this.#start(now);
    if (this.state === "playing") {
      const usable = this.complete ? this.total - this.at : this.total - this.at - EDGE;
      from = Math.max(0, Math.min(out.length, usable));
      this.#copy(out, from);
      if (from < out.length) {
        if (this.complete) this.state = "ended";
        else this.#starve(now + from / RATE);
      } else if (this.complete && this.at === this.total) this.state = "ended";
    }
    this.#mixTail(out, this.state === "filling" ? from : 0);
  }

  /** @param {number} now */
  #ready(now) {
    if (this.complete) return true;
    const waited = now - this.refill;
    return this.total - this.at >= FIRST * RATE && waited >= (this.at === 0 ? this.reserve : this.#refillWait());
  }

  #refillWait() {
    return Math.min(this.refill - this.starved || 0, REFILL_MOST);
  }

  /** @param {number} now */
  #start(now) {
    if (!Number.isNaN(this.starved) && this.at < this.total && !this.rewound) {
      const hole = now - this.starved;
      this.underruns += 1;
      this.stall += hole;
      this.longest = Math.max(this.longest, hole);
    }
    this.starved = NaN;
    this.state = "playing";
  }

  /** @param {number} now */
  #starve(now) {
    this.#fadeOut(EDGE, true);
    this.starved = now;
    this.refill = NaN;
    this.rise = EDGE;
    this.state = "filling";
  }

  /**
   * Copies `count` frames with the ramps of the edges, and moves on.
   * @param {Float32Array} out
   * @param {number} count
   */
  #copy(out, count) {
    for (let i = 0; i < count; i += 1) {
      let gain = 1;
      if (this.rise > 0) gain = 1 - this.rise-- / EDGE;
      if (this.complete && this.total - this.at <= EDGE) gain *= (this.total - this.at) / EDGE;
      out[i] = this.#next() * gain;
    }
  }

  #next() {
    while (this.at - this.starts[this.packet] >= this.packets[this.packet].length) this.packet += 1;
    const sample = this.packets[this.packet][this.at - this.starts[this.packet]];
    this.at += 1;
    return sample / 32_768;
  }

  /**
   * Puts the next `length` frames, ramped down, aside: they sound over whatever comes.
   * @param {number} length
   * @param {boolean} [consume] the frames count as played
   */
  #fadeOut(length, consume = false) {
    if (this.state !== "playing") return;
    const { at, packet } = this;
    const count = Math.min(length, this.total - this.at);
    this.tail.fill(0);
    for (let i = 0; i < count; i += 1) this.tail[OUT - length + i] = this.#next() * (1 - i / length);
    this.tailLeft = length;
    if (!consume) Object.assign(this, { at, packet });
  }

  /**
   * @param {Float32Array} out
   * @param {number} from
   */
  #mixTail(out, from) {
    const count = Math.min(this.tailLeft, out.length - from);
    for (let i = 0; i < count; i += 1) out[from + i] += this.tail[OUT - this.tailLeft + i];
    this.tailLeft -= count;
  }
}
