// @ts-check
/**
 * Which of the page's values count for a stage.
 *
 * A press (`open`) makes the stage ready for the next turn it has not seen; from then on only that turn counts. What an older turn still
 * sends is dropped. After `close` (Stop, Clear) no new turn is taken until the next press.
 *
 * @typedef {"drop" | "page" | "new" | "same" | "orphan"} Verdict
 * page: a value of the page itself, without a turn; orphan: a turn nobody waits for any more, which should be stopped
 */

const DEAD_MOST = 64; // turns remembered as over; a late value comes within seconds, not 64 turns later

export class Gate {
  constructor() {
    this.closed = false;
    /** @type {string | null} */
    this.turn = null;
    /** @type {Set<string>} */
    this.dead = new Set();
  }

  /** The turn shown is over; a new one may come. */
  open() {
    this.#bury(this.turn);
    this.turn = null;
    this.closed = false;
  }

  /** No new turn may come. @param {boolean} forget the turn shown is over, too */
  close(forget) {
    this.closed = true;
    if (!forget) return;
    this.#bury(this.turn);
    this.turn = null;
  }

  /**
   * @param {string | null} turn
   * @param {string} state
   * @returns {Verdict}
   */
  judge(turn, state) {
    if (turn === null) return this.closed ? "drop" : "page";
    if (this.dead.has(turn)) return "drop";
    if (turn === this.turn) return "same";
    const live = state === "waiting" || state === "streaming";
    if (this.closed || state === "stopped") {
      this.#bury(turn);
      return live ? "orphan" : "drop";
    }
    this.#bury(this.turn);
    this.turn = turn;
    return "new";
  }

  /** @param {string | null} turn */
  #bury(turn) {
    if (turn === null) return;
    this.dead.add(turn);
    if (this.dead.size > DEAD_MOST) this.dead.delete(/** @type {string} */ (this.dead.values().next().value));
  }
}
