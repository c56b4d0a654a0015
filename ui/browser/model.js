// @ts-check
/** From what a stage knows to what it shows: plain values in, a `Model` for the scene out. */
import { say } from "./texts.js";

/**
 * @typedef {"empty" | "waiting" | "streaming" | "done" | "stopped" | "cut" | "failed"} State
 * @typedef {{turn: string | null, state: State, speech: boolean, text: string, figures: import("./figures.js").Figures,
 *            fault: import("./cards.js").Fault | null, notices: import("./cards.js").Notice[], rehearsal: boolean,
 *            waiting_for: string | null}} StageView what the page sends (`ui/stage.py`)
 */

/** @type {StageView} */
export const EMPTY = {
  turn: null, state: "empty", speech: false, text: "", figures: {}, fault: null, notices: [], rehearsal: false, waiting_for: null,
};

/** From the press until the page says more. @type {StageView} */
export const WAITING = { ...EMPTY, state: "waiting", waiting_for: "answer" };

/** @param {StageView} view */
export const live = ({ state }) => state === "waiting" || state === "streaming";

const SOUND = /** @type {const} */ ({ playing: "pause", filling: "pause", paused: "play", ended: "replay", idle: "replay" });

/**
 * @param {StageView} view
 * @param {import("./hearing.js").Hearing} hearing
 * @param {import("./texts.js").Texts} texts
 * @param {{waited: number, stopped: boolean, whole: boolean, url: string, blocked: boolean, scheduled: boolean}} more
 *   waited: seconds since the press; stopped: by the user, perhaps after the last word had come
 * @returns {import("./scene.js").Model}
 */
export function modelOf(view, hearing, texts, { waited, stopped, whole, url, blocked, scheduled }) {
  const spoken = view.speech && hearing.opened;
  const voice = spoken && hearing.total > 0;
  const about = (/** @type {string} */ key, facts = {}) => ({
    cause: say(texts, `${key}.cause`, facts),
    cure: say(texts, `${key}.cure`, facts),
  });
  return {
    ...status(view, hearing, texts, waited, stopped),
    state: view.state,
    rehearsal: view.rehearsal,
    caption: voice || (spoken && live(view)) ? hearing.caption : { said: view.text, now: "", next: "" },
    placeholder: view.state === "empty" ? say(texts, "stage.empty") : live(view) ? "…" : "",
    steps: spoken,
    whole,
    outline: spoken ? hearing.outline : null,
    played: hearing.at,
    seconds: hearing.seconds,
    sound: voice ? SOUND[hearing.state] : null,
    blocked: hearing.mine && blocked,
    wav: voice,
    kept: view.turn !== null,
    url,
    figures: { ...view.figures, ...hearing.figures },
    fault: hearing.lost ? about(`stage.lost.${hearing.lost}`) : view.fault,
    retry: view.turn !== null && (view.state === "failed" || view.state === "cut"),
    notices: scheduled && spoken ? [about("stage.insecure", tunnel()), ...view.notices] : view.notices,
  };
}

/**
 * @param {StageView} view
 * @param {import("./hearing.js").Hearing} hearing
 * @param {import("./texts.js").Texts} texts
 * @param {number} waited
 * @param {boolean} stopped
 * @returns {{status: string, tone: "" | "live" | "warn" | "bad"}}
 */
function status(view, hearing, texts, waited, stopped) {
  const { at, state: sounding } = hearing;
  const total = hearing.complete ? hearing.seconds : hearing.total / 24_000;
  const tell = (/** @type {string} */ key, /** @type {"" | "live" | "warn" | "bad"} */ tone) => {
    const what = say(texts, `stage.wait.${view.waiting_for ?? "answer"}`);
    const facts = { at: at.toFixed(1), total: total.toFixed(1), s: waited.toFixed(1), what };
    return { status: say(texts, `stage.state.${key}`, facts), tone };
  };
  if (view.state === "failed") return tell("failed", "bad");
  if (sounding === "paused") return tell("paused", "");
  if (sounding === "playing" && total > 0) return tell("speaking", "live");
  if (sounding === "filling" && at > 0) return tell("hole", "live");
  if (stopped || view.state === "stopped") return tell("stopped", "");
  if (view.state === "cut") return tell("cut", "warn");
  if (view.state === "empty") return tell("empty", "");
  if (view.state === "streaming" && !view.speech) return tell("writing", "live");
  if (live(view)) return tell("waiting", "live");
  return tell(total > 0 ? "spoken" : "written", "");
}

/** The line that makes this page secure in the browser's eyes, for whoever opened it at another machine's address. */
function tunnel() {
  const port = location.port || "80";
  return { line: `ssh -L ${port}:127.0.0.1:${port} ${location.hostname}`, local: `http://127.0.0.1:${port}` };
}
