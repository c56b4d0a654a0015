// @ts-check
/**
 * Which words are said, being said, and to come, while a voice speaks a text whose word times nobody tells us.
 *
 * The text is cut into words, each with the seconds it would take at an ordinary pace. The voice's outline (20 ms peaks) tells how much
 * of what was heard was voice and not pause. Words advance with the share of *voiced* time that has passed: a pause holds the caption,
 * too. While the end is not known, the length is estimated from the text at the pace of the voices heard before.
 */
import { SLOT } from "./peaks.js";
import { RATE } from "./tape.js";

const HAN_S = 0.21; // s a Chinese character: Mandarin is spoken at about 5 syllables a second
const LETTER_S = 0.068; // s a letter of other words: English at about 5 syllables of 3 letters a second
const BEAT = 7; // characters of Chinese that light up together; about a breath and a half of a phrase, as in subtitles
const VOICED = 0.06; // share of the loudest peak above which 20 ms count as voice: -24 dB, between a soft consonant and a breath
const FLOOR = 0.01; // of full scale; below that even the loudest is no voice

const HAN = /[\u3400-\u9fff\uf900-\ufaff\u3040-\u30ff\uac00-\ud7af]/g;
const WORDY = /[\p{L}\p{N}]/u;
const BREAK = /[\p{P}\n]\s*$/u;

/** @typedef {{text: string, seconds: number, beat: number}} Word */

/**
 * @param {string} text
 * @returns {Word[]} joined they are the text again; marks and spaces belong to the word before them
 */
export function words(text) {
  /** @type {Word[]} */
  const found = [];
  let beat = 0;
  let room = BEAT * HAN_S;
  for (const piece of pieces(text)) {
    const last = found.at(-1);
    if (last && !WORDY.test(piece)) last.text += piece;
    else {
      const han = piece.match(HAN)?.length ?? 0;
      const seconds = han * HAN_S + Math.max(0, [...piece].length - han) * LETTER_S;
      if (last && (BREAK.test(last.text) || seconds > room)) {
        beat += 1;
        room = BEAT * HAN_S;
      }
      room -= seconds;
      found.push({ text: piece, seconds, beat });
    }
  }
  return found;
}

/** @param {string} text */
function pieces(text) {
  if (typeof Intl !== "undefined" && "Segmenter" in Intl) {
    return Array.from(new Intl.Segmenter(undefined, { granularity: "word" }).segment(text), ({ segment }) => segment);
  }
  return text.match(/[\u3400-\u9fff\uf900-\ufaff]|[\p{L}\p{N}'’-]+|[^\p{L}\p{N}]+/gu) ?? [];
}

/** The voice's outline, and how much of it is voice. */
export class Outline {
  constructor() {
    /** @type {number[]} */
    this.peaks = [];
    this.loudest = 0;
  }

  /** @param {Float32Array} peaks */
  add(peaks) {
    for (const peak of peaks) {
      this.peaks.push(peak);
      if (peak > this.loudest) this.loudest = peak;
    }
  }

  /** Seconds of voice before `frame`. @param {number} frame */
  voiced(frame) {
    const threshold = Math.max(FLOOR, VOICED * this.loudest);
    const until = Math.min(this.peaks.length, frame / SLOT);
    let slots = 0;
    for (let slot = 0; slot < until; slot += 1) if (this.peaks[slot] > threshold) slots += Math.min(1, until - slot);
    return (slots * SLOT) / RATE;
  }
}

/**
 * @param {Word[]} all
 * @param {number} share of the voice that is through, 0..1
 * @returns {{said: string, now: string, next: string}}
 */
export function split(all, share) {
  const total = all.reduce((sum, word) => sum + word.seconds, 0);
  let passed = 0;
  let at = 0;
  while (at < all.length && passed + all[at].seconds <= share * total + 1e-9) {
    passed += all[at].seconds;
    at += 1;
  }
  if (share <= 0) at = 0;
  let end = at;
  while (end < all.length && all[end].beat === all[at].beat) end += 1;
  const join = (/** @type {number} */ from, /** @type {number} */ to) => all.slice(from, to).map((word) => word.text).join("");
  return share <= 0
    ? { said: "", now: "", next: join(0, all.length) }
    : { said: join(0, at), now: join(at, end), next: join(end, all.length) };
}

/** Seconds `all` would take at an ordinary pace. @param {Word[]} all */
export function ordinary(all) {
  return all.reduce((sum, word) => sum + word.seconds, 0);
}
