// @ts-check
/** What is known of one conversation: where it stands, what was said, what is wrong. Takes the app's words; knows no socket and no sound. */
import { Dialogue } from "./dialogue.js";
import { Rhythm } from "./rhythm.js";

/**
 * @typedef {{zh: string, en: string}} Both
 * @typedef {{key?: string, facts?: Record<string, string | number>, cause?: Both, cure?: Both}} Told a key of the catalogue, or the app's own words
 * @typedef {{wire: string, barge_in: boolean, camera: boolean, idle_s: number}} Can
 * @typedef {"idle" | "starting" | "queued" | "connecting" | "waiting" | "open" | "lost" | "ending" | "ended"} CallState
 */

const PASSING = ["live-queued", "live-waiting", "live-resuming"]; // told while they last
const UNKNOWN_MOST = 50; // a newer server may say something new each second
const LINK = {
  session: "live-session-unknown",
  gone: "live-page-gone",
  taken: "live-taken-over",
  away: "live-page-away",
  "no-socket": "live-no-socket",
};

export class Call {
  constructor() {
    this.state = /** @type {CallState} */ ("idle");
    this.id = "";
    /** The page's own socket is down. */
    this.broken = false;
    this.dialogue = new Dialogue();
    this.rhythm = new Rhythm();
    this.you = false;
    this.sounding = false;
    this.position = 0;
    this.retry = 0;
    /** @type {Can | null} */
    this.can = null;
    /** @type {{session_s: number, idle_left_s: number | null, dropped_frames: number} | null} */
    this.clock = null;
    /** Microphone frames that never left the page. */
    this.dropped = 0;
    /** Seconds. @type {number | null} */
    this.stall = null;
    /** @type {{ttft_ms: number | null, ttfp_ms: number | null} | null} */
    this.latency = null;
    /** @type {Told | null} */
    this.fault = null;
    /** @type {Map<string, Told>} */
    this.notices = new Map();
    /** What the server said that nobody knows, the newest last. @type {object[]} */
    this.unknown = [];
    /** There is something to be had of it. */
    this.recording = false;
  }

  /** It lasts, or soon will. */
  get live() {
    return this.state !== "idle" && this.state !== "ended";
  }

  /** @param {Told} told the newest comes last */
  notice(told) {
    const key = told.key ?? JSON.stringify(told.cause);
    this.notices.delete(key);
    this.notices.set(key, told);
  }

  /** @param {Told | null} fault */
  end(fault) {
    if (this.state === "ended") return;
    this.state = "ended";
    this.fault = fault;
    this.broken = this.you = false;
    this.dialogue.you(false, now());
    for (const key of [...PASSING, "live-link-broken", "live-tab-hidden"]) this.notices.delete(key);
  }

  /** Nothing of what has come and was not heard will be. @param {number} response @param {string} by */
  cut(response, by) {
    this.dialogue.cut(response, by);
    this.rhythm.mark(now(), by);
  }

  /** @param {import("./link.js").LinkState} state of the page's socket */
  link(state) {
    if (!this.live) return;
    this.broken = state === "broken";
    if (state === "up") this.notices.delete("live-link-broken");
    else if (state === "broken") this.notice({ key: "live-link-broken" });
    else this.end(state === "ended" ? null : { key: LINK[state] });
  }

  /**
   * What leaves the microphone. Who speaks is told from it and not from the server's "heard", which notes a beginning and seldom an end.
   * @param {import("./sound.js").Level} level
   */
  level({ rms, speaking }) {
    if (!this.live) return;
    this.you = speaking;
    this.dialogue.you(speaking, now());
    this.rhythm.you(now(), speaking);
    this.rhythm.level(now(), rms);
  }

  /** @param {{response: number, ms: number, sounding: boolean, stall: number}} at of the loudspeaker */
  at({ response, ms, sounding, stall }) {
    this.dialogue.at(response, ms);
    this.sounding = sounding;
    this.stall = stall;
    this.rhythm.sounding(now(), sounding);
  }

  /** @param {any} word of the app (ui/live/page_wire.py) */
  word(word) {
    const { dialogue, rhythm } = this;
    if (word.type === "state") this.#state(word);
    else if (word.type === "listen") rhythm.decided(now(), "listen");
    else if (word.type === "speaking") {
      dialogue.begin(word.response);
      rhythm.decided(now(), "speak");
    } else if (word.type === "caption") {
      dialogue.caption(word.response, word.text, word.until_ms);
      rhythm.decided(now(), "speak");
    } else if (word.type === "spoken") dialogue.spoken(word);
    else if (word.type === "flush") this.cut(word.response, word.by);
    else if (word.type === "latency") {
      this.latency = word;
      dialogue.begin(word.response).latency = word.ttfp_ms;
    } else if (word.type === "clock") this.clock = word;
    else if (word.type === "notice") this.notice(word);
    else if (word.type === "unknown") this.unknown = [...this.unknown.slice(1 - UNKNOWN_MOST), word.event];
    else if (word.type === "ended") {
      this.recording = word.recording;
      this.end(word.fault ?? null);
    }
  }

  /** @param {any} word */
  #state({ state, position = 0, retry_s = 0, wire, barge_in, camera, idle_s, resumed, gap_s = 0 }) {
    if (state === "closed" || this.state === "ending" || !this.live) return; // "ended" says why
    Object.assign(this, { state, position, retry: retry_s });
    for (const key of PASSING) this.notices.delete(key);
    if (state === "queued" && position) this.notice({ key: "live-queued", facts: { position } });
    else if (state === "waiting") this.notice({ key: "live-waiting", facts: { seconds: Math.max(1, Math.round(retry_s)) } });
    else if (state === "lost") this.notice({ key: "live-resuming" });
    else if (state === "open") {
      if (wire) this.can = { wire, barge_in, camera, idle_s };
      if (resumed !== undefined) this.notice({ key: resumed ? "live-resumed" : "live-fresh", facts: { seconds: gap_s.toFixed(1) } });
    }
  }
}

/** Seconds on the page's clock. */
function now() {
  return performance.now() / 1000;
}
