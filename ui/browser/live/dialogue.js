// @ts-check
/** What was said so far, by whom, and how much of it was heard. Pure bookkeeping; the page draws it, the tests read it. */
import { split, words } from "../caption.js";

/**
 * @typedef {{kind: "you", began: number, ended: number | null}} Yours
 * @typedef {{kind: "model", response: number, pieces: {text: string, until: number}[], heard: number, total: number,
 *            state: "coming" | "said" | "cut" | "failed", by: string, latency: number | null}} Answer
 */

export class Dialogue {
  constructor() {
    /** @type {(Yours | Answer)[]} */
    this.lines = [];
    /** @type {Map<number, Answer>} */
    this.answers = new Map();
    /** What the user is saying. @type {Yours | null} */
    this.mine = null;
  }

  /** The newest answer. @returns {Answer | null} */
  get answer() {
    return [...this.answers.values()].at(-1) ?? null;
  }

  /** The answer whose words are being heard: the first that is not over, else the last one. @returns {Answer | null} */
  get heard() {
    const all = [...this.answers.values()];
    return all.find(({ state, heard, total }) => state !== "cut" && (state === "coming" || heard < total)) ?? this.answer;
  }

  /** @param {boolean} speaking @param {number} now seconds */
  you(speaking, now) {
    if (speaking === (this.mine !== null)) return;
    if (this.mine) this.mine.ended = now;
    this.mine = speaking ? { kind: "you", began: now, ended: null } : null;
    if (this.mine) this.lines.push(this.mine);
  }

  /** @param {number} response */
  begin(response) {
    const known = this.answers.get(response);
    if (known) return known;
    /** @type {Answer} */
    const answer = { kind: "model", response, pieces: [], heard: 0, total: 0, state: "coming", by: "", latency: null };
    this.answers.set(response, answer);
    this.lines.push(answer);
    return answer;
  }

  /** @param {number} response @param {string} text @param {number} until ms of its sound */
  caption(response, text, until) {
    const answer = this.begin(response);
    answer.pieces.push({ text, until });
    answer.total = Math.max(answer.total, until);
  }

  /** @param {{response: number, status: string, text: string, duration_ms: number}} word */
  spoken({ response, status, text, duration_ms }) {
    const answer = this.begin(response);
    if (!answer.pieces.length && text) answer.pieces.push({ text, until: duration_ms });
    if (answer.state === "cut") return;
    answer.total = duration_ms;
    answer.state = status === "failed" ? "failed" : "said";
  }

  /** @param {number} response @param {number} ms */
  at(response, ms) {
    const answer = this.answers.get(response);
    if (answer) answer.heard = Math.max(answer.heard, ms);
  }

  /** Everything up to `response` that was not heard yet never will be. @param {number} response @param {string} by */
  cut(response, by) {
    for (const answer of this.answers.values()) {
      const over = answer.state === "cut" || (answer.state !== "coming" && answer.heard >= answer.total - 1);
      if (answer.response <= response && !over) Object.assign(answer, { state: "cut", by });
    }
  }

  /**
   * Its words: heard, being heard, and to come. Of one that was cut, those that were heard.
   * @param {Answer} answer
   */
  split(answer) {
    let [said, now, next] = ["", "", ""];
    let from = 0;
    for (const { text, until } of answer.pieces) {
      if (answer.heard >= until) said += text;
      else if (answer.heard > from) {
        const parts = split(words(text), (answer.heard - from) / (until - from));
        said += parts.said;
        now = parts.now;
        next += parts.next;
      } else next += text;
      from = Math.max(from, until);
    }
    if (answer.state === "cut") return { said, now: "", next: "" };
    // A sound that is through takes the last words along, however its pieces were measured.
    if (answer.state !== "coming" && answer.heard >= answer.total - 1) return { said: said + now + next, now: "", next: "" };
    return { said, now, next };
  }
}
