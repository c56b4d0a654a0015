// @ts-check
/**
 * The page's one loudspeaker: an AudioContext at 24 kHz with a deck on it (AudioWorklet, else scheduled buffers).
 *
 * It is made inside the first gesture, because browsers (iOS most strictly) let only a gesture start sound. Nothing may wait for it:
 * messages posted before the worklet is loaded are kept, in order.
 */
import { ScheduledDeck } from "./scheduled.js";
import { RATE } from "./tape.js";

const START_MS = 1_000; // opening the sound card takes up to some hundred ms; a refused start is never answered at all

export class Deck {
  /**
   * @param {(message: any) => void} tell gets what deck.worklet.js sends, and {type: "context", state}
   * @param {{tap?: boolean}} [options]
   */
  constructor(tell, options = {}) {
    this.tell = tell;
    this.options = options;
    /** @type {AudioContext | null} */
    this.context = null;
    /** @type {{post: (message: any, transfer?: Transferable[]) => void} | null} */
    this.deck = null;
    /** @type {[any, Transferable[]][]} */
    this.waiting = [];
    this.scheduled = false;
    this.asked = 0;
  }

  /** Call inside a gesture; again and again does no harm. */
  unlock() {
    if (!this.context) {
      const context = new AudioContext({ sampleRate: RATE, latencyHint: "interactive" });
      this.context = context;
      context.onstatechange = () => this.tell({ type: "context", state: context.state });
      this.#open(context);
    }
    if (this.context.state === "running") return;
    this.asked = performance.now();
    this.context.resume();
  }

  /** The browser has not let us sound: a gesture is needed. */
  get blocked() {
    if (!this.context) return true;
    return this.context.state !== "running" && performance.now() - this.asked > START_MS;
  }

  /** @param {AudioContext} context */
  async #open(context) {
    if (!context.audioWorklet) {
      this.scheduled = true;
      this.#ready(new ScheduledDeck(context, this.tell));
      this.tell({ type: "scheduled" });
      return;
    }
    await context.audioWorklet.addModule(new URL("./deck.worklet.js", import.meta.url));
    const node = new AudioWorkletNode(context, "omni-deck", {
      numberOfInputs: 0,
      outputChannelCount: [1],
      processorOptions: { tap: Boolean(this.options.tap) },
    });
    node.port.onmessage = (event) => this.tell(event.data);
    node.connect(context.destination);
    this.#ready({ post: (message, transfer = []) => node.port.postMessage(message, transfer) });
  }

  /** @param {NonNullable<Deck["deck"]>} deck */
  #ready(deck) {
    this.deck = deck;
    for (const [message, transfer] of this.waiting.splice(0)) deck.post(message, transfer);
  }

  /**
   * @param {any} message
   * @param {Transferable[]} [transfer]
   */
  post(message, transfer = []) {
    if (this.deck) this.deck.post(message, transfer);
    else this.waiting.push([message, transfer]);
  }

  /**
   * When a sample of context time `time` reaches the ear, on performance.now()'s clock. `clock`: Date.now() of its block, used where the
   * browser has no output time stamp (yet).
   * @param {number} time
   * @param {number} clock
   */
  heardAt(time, clock) {
    const stamp = this.context?.getOutputTimestamp?.();
    if (stamp?.performanceTime && stamp.contextTime) return stamp.performanceTime + (time - stamp.contextTime) * 1000;
    return clock - performance.timeOrigin;
  }

  /** Seconds between a sample's leaving the worklet and the ear. */
  get latency() {
    return this.context?.outputLatency || 0;
  }
}
