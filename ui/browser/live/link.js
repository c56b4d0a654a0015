// @ts-check
/**
 * The socket of one conversation, from the worker. It comes back by itself within the time the app keeps the conversation for an absent
 * page, reads on behind the last frame it has, and says what became of it.
 */
import { SPEECH, head } from "./wire.js";

const AWAY_MS = 20_000; // so long the app keeps a conversation whose page is away (ui/live/conversation.py)
const FIRST_MS = 250; // between the first two tries; doubled each time, up to MOST_MS
const MOST_MS = 4_000;
const OPEN_MS = 5_000; // an upgrade that a gateway swallows is never answered
const TRIES = 3; // a gateway that lets no socket through thrice lets none through
const QUIET_MS = 15_000; // the app says something every 5 s
const BACKLOG = 64_000; // bytes, 2 s of microphone: what is older than that would only make the model hear late
const FINAL = { 4403: "session", 4404: "gone", 4409: "taken" };

/**
 * @typedef {"up" | "broken" | "session" | "gone" | "taken" | "away" | "no-socket" | "ended"} LinkState
 * @typedef {object} Ends
 * @property {(word: any) => void} word
 * @property {(response: number, frame: ArrayBuffer) => void} speech
 * @property {(state: LinkState) => void} state
 * @property {() => Promise<string>} renew another address with a fresh ticket
 */

export class Link {
  /**
   * @param {string} address
   * @param {Ends} ends
   */
  constructor(address, ends) {
    this.address = address;
    this.ends = ends;
    this.last = 0;
    this.opened = false;
    this.closed = false;
    this.ended = false;
    this.dropped = 0;
    this.since = performance.now();
    this.tries = 0;
    this.wait = FIRST_MS;
    /** @type {WebSocket | null} */
    this.socket = null;
    this.timer = 0;
    this.#open(address);
  }

  get up() {
    return this.socket?.readyState === WebSocket.OPEN;
  }

  /** A text or camera frame; nothing when the socket is down. @param {string | ArrayBuffer} data */
  send(data) {
    if (this.up) this.socket?.send(data);
  }

  /** A microphone frame. False: dropped, because the socket is down or too slow. @param {ArrayBuffer} buffer */
  microphone(buffer) {
    if (!this.up || /** @type {WebSocket} */ (this.socket).bufferedAmount > BACKLOG) {
      if (this.opened) this.dropped += 1; // before that there is nobody to hear it
      return false;
    }
    this.socket?.send(buffer);
    return true;
  }

  close() {
    this.closed = true;
    clearTimeout(this.timer);
    this.socket?.close(1000);
  }

  /** @param {string} address */
  #open(address) {
    const url = new URL(address);
    if (this.opened) url.searchParams.set("after", String(this.last));
    const socket = new WebSocket(url);
    socket.binaryType = "arraybuffer";
    this.socket = socket;
    this.#watch(OPEN_MS);
    socket.onopen = () => {
      this.#watch(QUIET_MS);
      this.opened = true;
      this.wait = FIRST_MS;
      this.ends.state("up");
    };
    socket.onmessage = ({ data }) => {
      this.#watch(QUIET_MS);
      if (typeof data === "string") this.#word(JSON.parse(data));
      else {
        this.last += 1;
        const { kind, number } = head(data);
        if (kind === SPEECH) this.ends.speech(number, data);
      }
    };
    socket.onclose = ({ code }) => this.socket === socket && this.#lost(code);
  }

  /** @param {any} word */
  #word(word) {
    this.last = word.seq;
    if (word.type === "ended") this.ended = true;
    this.ends.word(word);
  }

  /** Dead after so long without a word. @param {number} ms */
  #watch(ms) {
    clearTimeout(this.timer);
    this.timer = setTimeout(() => {
      const { socket } = this;
      if (!socket) return;
      socket.close();
      this.socket = null; // a dead line answers no goodbye either
      this.#lost(1006);
    }, ms);
  }

  /** @param {number} code */
  #lost(code) {
    clearTimeout(this.timer);
    if (this.closed || this.ended) return this.ends.state("ended");
    const final = FINAL[/** @type {keyof typeof FINAL} */ (code)];
    if (final) return this.ends.state(/** @type {LinkState} */ (final));
    const now = performance.now();
    if (this.opened && this.wait === FIRST_MS) {
      this.since = now;
      this.ends.state("broken");
    }
    if (now - this.since + this.wait > AWAY_MS) return this.ends.state("away");
    if (!this.opened && (this.tries += 1) === TRIES) return this.ends.state("no-socket");
    this.timer = setTimeout(() => this.#again(), this.wait);
    this.wait = Math.min(MOST_MS, this.wait * 2);
  }

  async #again() {
    let address = this.address;
    try {
      address = await this.ends.renew();
    } catch {
      // The app cannot be reached: the socket will say the same, and count the time.
    }
    if (!this.closed) this.#open(address);
  }
}
