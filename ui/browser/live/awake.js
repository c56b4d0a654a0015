// @ts-check
/** Keeps the screen on while one talks: a phone that falls asleep takes the microphone along. */
export class Awake {
  constructor() {
    this.wanted = false;
    /** @type {WakeLockSentinel | null} */
    this.lock = null;
    document.addEventListener("visibilitychange", () => this.#ask()); // a hidden page loses it
  }

  /** @param {boolean} wanted */
  keep(wanted) {
    if (wanted === this.wanted) return;
    this.wanted = wanted;
    if (wanted) this.#ask();
    else this.lock?.release();
  }

  async #ask() {
    if (!this.wanted || document.hidden || !("wakeLock" in navigator)) return;
    try {
      this.lock = await navigator.wakeLock.request("screen");
      if (!this.wanted) this.lock.release();
    } catch {
      this.lock = null; // a low battery refuses it; the conversation goes on
    }
  }
}
