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

/** One answer on the tape: its packets, where the reading stands, and what its hearing was like so far (seconds, frames). */
class Reel {
  /** @param {number} reserve seconds to wait after the first packet */
  constructor(reserve) {
    this.reserve = reserve;
    /** @type {Int16Array[]} */
    this.packets = [];
    /** @type {number[]} frame at which each packet starts */
    this.starts = [];
    this.total = 0;
    this.complete = false;
    /** The next frame to be read, and the packet it lies in. */
    this.at = 0;
    this.packet = 0;
    /** Frames of the fade-in still to come. */
    this.rise = EDGE;
    /** When the first packet came; the first one after a hole; when the sound starved. NaN: not, or not any more. */
    this.first = NaN;
    this.refill = NaN;
    this.starved = NaN;
    this.rewound = false;
    this.underruns = 0;
    this.stall = 0;
    this.longest = 0;
    this.lateness = -Infinity;
  }

  /** @param {number} hole seconds in which sound was due and none was there */
  count(hole) {
    this.underruns += 1;
    this.stall += hole;
    this.longest = Math.max(this.longest, hole);
  }

  /** The next sample, -1..1; `at` must be below `total`. */
  next() {
    while (this.at - this.starts[this.packet] >= this.packets[this.packet].length) this.packet += 1;
    const sample = this.packets[this.packet][this.at - this.starts[this.packet]];
    this.at += 1;
    return sample / 32_768;
  }
}

export class Tape {
  constructor() {
    /** Number of the answer on the tape; 0: none yet. */
    this.answer = 0;
    this.barred = 0;
    /** @type {TapeState} */
    this.state = "idle";
    this.reel = new Reel(0);
    this.tail = new Float32Array(OUT);
    this.tailLeft = 0;
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
      this.reel = new Reel(0);
      this.state = "filling";
    }
    if (reserve !== undefined) this.reel.reserve = reserve;
    return true;
  }

  /**
   * @param {number} answer
   * @param {Int16Array} pcm
   * @param {number} now
   */
  append(answer, pcm, now) {
    if (!this.load(answer) || pcm.length === 0 || this.reel.complete) return;
    const { reel } = this;
    if (reel.total === 0) reel.first = now;
    // How much later than "played without a break since the first packet" this one came: the start delay that would have hidden it.
    else reel.lateness = Math.max(reel.lateness, now - reel.first - reel.total / RATE);
    if (Number.isNaN(reel.refill)) reel.refill = now;
    reel.packets.push(pcm);
    reel.starts.push(reel.total);
    reel.total += pcm.length;
  }

  /** @param {number} answer */
  end(answer) {
    if (!this.load(answer)) return;
    this.reel.complete = true;
    this.reel.at = Math.min(this.reel.at, this.reel.total);
  }

  /** Plays from `frame`, as soon as it is there. Stalls are no longer counted: this is not the first hearing. @param {number} frame */
  seek(frame) {
    if (this.state === "idle") return;
    this.#fadeOut(EDGE);
    const { reel } = this;
    reel.rewound = true;
    reel.at = Math.max(0, reel.complete ? Math.min(Math.floor(frame), reel.total) : Math.floor(frame));
    reel.packet = Math.max(0, reel.starts.findLastIndex((start) => start <= reel.at));
    this.#refill();
  }

  pause() {
    if (this.state !== "playing" && this.state !== "filling") return;
    this.#fadeOut(OUT);
    this.state = "paused";
  }

  resume() {
    if (this.state === "paused") this.#refill();
  }

  /** On with it as soon as there is sound, and no hole: the listener wanted it so. */
  #refill() {
    Object.assign(this.reel, { rise: EDGE, starved: NaN, refill: -Infinity });
    this.state = "filling";
  }

  /** Silent within OUT frames; nothing of `answer` or older plays any more. @param {number} answer */
  silence(answer) {
    this.barred = Math.max(this.barred, answer);
    if (answer < this.answer || this.state === "idle") return;
    this.#fadeOut(OUT);
    this.reel = new Reel(0);
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
      const { reel } = this;
      const usable = reel.total - reel.at - (reel.complete ? 0 : EDGE);
      from = Math.max(0, Math.min(out.length, usable));
      this.#copy(out, from);
      if (reel.complete && reel.at === reel.total) this.state = "ended";
      else if (from < out.length) this.#starve(now + from / RATE);
    }
    this.#mixTail(out, this.state === "filling" ? from : 0);
  }

  /** @param {number} now */
  #ready(now) {
    const { complete, total, at, refill, starved, reserve } = this.reel;
    if (complete) return true;
    const wait = at === 0 ? reserve : Math.min(refill - starved || 0, REFILL_MOST);
    return total - at >= FIRST * RATE && now - refill >= wait;
  }

  /** @param {number} now */
  #start(now) {
    const { reel } = this;
    if (!Number.isNaN(reel.starved) && reel.at < reel.total && !reel.rewound) reel.count(now - reel.starved);
    reel.starved = NaN;
    this.state = "playing";
  }

  /** @param {number} now */
  #starve(now) {
    this.#fadeOut(EDGE, true);
    Object.assign(this.reel, { rise: EDGE, starved: now, refill: NaN });
    this.state = "filling";
  }

  /**
   * Copies `count` frames with the ramps of the edges, and moves on.
   * @param {Float32Array} out
   * @param {number} count
   */
  #copy(out, count) {
    const { reel } = this;
    for (let i = 0; i < count; i += 1) {
      let gain = 1;
      if (reel.rise > 0) gain = 1 - reel.rise-- / EDGE;
      if (reel.complete && reel.total - reel.at <= EDGE) gain *= (reel.total - reel.at) / EDGE;
      out[i] = reel.next() * gain;
    }
  }

  /**
   * Puts the next `length` frames, ramped down, aside: they sound over whatever comes.
   * @param {number} length
   * @param {boolean} [consume] the frames count as played
   */
  #fadeOut(length, consume = false) {
    if (this.state !== "playing") return;
    const { reel } = this;
    const { at, packet } = reel;
    const count = Math.min(length, reel.total - reel.at);
    this.tail.fill(0);
    for (let i = 0; i < count; i += 1) this.tail[OUT - length + i] = reel.next() * (1 - i / length);
    this.tailLeft = length;
    if (!consume) Object.assign(reel, { at, packet });
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
