// @ts-check
/**
 * Fetches one answer's sound at a time, off the page's own thread, and hands it straight to the audio thread.
 *
 * In (from player.js):
 *   {type: "feed", port}        the MessagePort to the deck; gets {answer, pcm: ArrayBuffer (s16le 24 kHz)} and {answer, end: true}
 *   {type: "open", answer, url} url: the turn's own address, ending in "/" (…/turns/<id>/)
 *   {type: "close", answer}     stop fetching; nothing of it is handed on any more
 *   {type: "heard", answer, report}  what was heard, for the server
 * Out:
 *   {type: "peaks", answer, peaks}   Float32Array, the loudest sample (0..1) of each further 20 ms
 *   {type: "route", answer, route}   "socket" | "stream" | "file": how the sound travels now
 *   {type: "end", answer, frames}    everything is here
 *   {type: "lost", answer, reason}   "session" | "gone" | "broken": no route leads to the rest
 */
import { bySocket, byStream, byFile, Refused } from "./routes.js";
import { Peaks } from "./peaks.js";

/** @typedef {{answer: number, url: string, received: number, abort: AbortController, send: ((text: string) => void) | null}} Job */

/** @type {MessagePort | null} */
let deck = null;
/** @type {Job | null} */
let job = null;
let socketWorks = true; // a gateway that breaks one WebSocket breaks them all: do not pay for its time-out at every answer

const ROUTES = { socket: bySocket, stream: byStream, file: byFile };

self.onmessage = (event) => {
  const message = event.data;
  if (message.type === "feed") deck = message.port;
  else if (message.type === "open") {
    job?.abort.abort();
    job = { answer: message.answer, url: message.url, received: 0, abort: new AbortController(), send: null };
    run(job);
  } else if (job?.answer !== message.answer) return;
  else if (message.type === "close") job?.abort.abort();
  else if (message.type === "heard") tell(/** @type {Job} */ (job), message.report);
};

/** @param {Job} current */
async function run(current) {
  const peaks = new Peaks();
  const take = (/** @type {Uint8Array} */ bytes) => {
    if (current.abort.signal.aborted) return;
    const pcm = bytes.length === bytes.buffer.byteLength ? bytes : bytes.slice(); // the buffer is given away: it must be ours alone
    current.received += pcm.length / 2;
    const found = peaks.add(new Int16Array(pcm.buffer));
    deck?.postMessage({ answer: current.answer, pcm: pcm.buffer }, [pcm.buffer]);
    if (found.length) self.postMessage({ type: "peaks", answer: current.answer, peaks: found }, { transfer: [found.buffer] });
  };
  const end = await anyRoute(current, take);
  if (current.abort.signal.aborted) return;
  if (end instanceof Error) {
    self.postMessage({ type: "lost", answer: current.answer, reason: end instanceof Refused ? end.reason : "broken" });
  }
  deck?.postMessage({ answer: current.answer, end: true });
  self.postMessage({ type: "end", answer: current.answer, frames: current.received });
}

/**
 * Tries the routes in turn, each from where the one before broke off.
 * @param {Job} current
 * @param {(bytes: Uint8Array) => void} take
 * @returns {Promise<Error | null>} null: everything came
 */
async function anyRoute(current, take) {
  let trouble = new Error("no route");
  for (const route of /** @type {const} */ (["socket", "stream", "file"])) {
    if (route === "socket" && !socketWorks) continue;
    self.postMessage({ type: "route", answer: current.answer, route });
    try {
      await ROUTES[route](current, take);
      return null;
    } catch (error) {
      trouble = /** @type {Error} */ (error);
      if (current.abort.signal.aborted || trouble instanceof Refused) return trouble;
      if (route === "socket" && current.send === null) socketWorks = false;
      current.send = null;
    }
  }
  return trouble;
}

/**
 * @param {Job} current
 * @param {object} report
 */
function tell(current, report) {
  const text = JSON.stringify({ type: "heard", ...report });
  if (current.send) current.send(text);
  else {
    // A lost report only leaves a figure empty; the sound goes on.
    fetch(new URL("heard", current.url), { method: "POST", body: text, headers: { "Content-Type": "application/json" } }).catch(() => {});
  }
}
