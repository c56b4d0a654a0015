// @ts-check
/**
 * Three ways for the same PCM, from frame `received` on: a WebSocket, a streaming GET, the finished WAV. Each resolves when everything
 * came, throws `Refused` when no other way would help, and any other error when the next way should try.
 *
 * @typedef {{url: string, received: number, abort: AbortController, send: ((text: string) => void) | null}} Job
 * @typedef {(bytes: Uint8Array) => void} Take bytes of whole frames; their buffer may be gone afterwards
 */

const OPEN_MS = 3_000; // a gateway that swallows the upgrade answers never; a tunnel answers in well under a second
const QUIET_MS = 15_000; // three signs of life that did not come (speech.py sends one every 5 s): the link is dead without a word
const POLL_MS = 700; // between looks whether the WAV is finished; the page's own figures move no faster there
const SESSION = 4403;
const GONE = 4404;

export class Refused extends Error {
  /** @param {"session" | "gone"} reason */
  constructor(reason) {
    super(reason);
    this.reason = reason;
  }
}

/**
 * The server may send whatever piece sizes it likes.
 * @param {Job} job
 * @param {Take} take
 * @returns {Promise<void>}
 */
export function bySocket(job, take) {
  return new Promise((resolve, reject) => {
    const url = new URL(`speech?start=${job.received}`, job.url);
    url.protocol = url.protocol.replace("http", "ws");
    const socket = new WebSocket(url);
    socket.binaryType = "arraybuffer";
    let timer = setTimeout(() => socket.close(), OPEN_MS);
    const alive = () => {
      clearTimeout(timer);
      timer = setTimeout(() => socket.close(), QUIET_MS);
    };
    job.abort.signal.addEventListener("abort", () => socket.close(1000));
    let ended = false;
    socket.onopen = () => {
      alive();
      job.send = (text) => socket.readyState === WebSocket.OPEN && socket.send(text);
    };
    socket.onmessage = ({ data }) => {
      alive();
      if (typeof data !== "string") take(new Uint8Array(data));
      else if (JSON.parse(data).type === "end") {
        // The socket stays open for what was heard; the server closes it when it has waited long enough.
        ended = true;
        clearTimeout(timer);
        resolve();
      }
    };
    socket.onclose = ({ code }) => {
      clearTimeout(timer);
      if (ended) job.send = null;
      else if (code === SESSION) reject(new Refused("session"));
      else if (code === GONE) reject(new Refused("gone"));
      else reject(new Error(`socket closed with ${code}`));
    };
  });
}

/**
 * @param {Job} job
 * @param {Take} take
 */
export async function byStream(job, take) {
  const answer = await get(job, `speech.pcm?start=${job.received}`);
  const reader = /** @type {ReadableStream<Uint8Array>} */ (answer.body).getReader();
  let odd = new Uint8Array(0);
  for (;;) {
    const { done, value } = await reader.read();
    if (done) return;
    const bytes = odd.length ? joined(odd, value) : value;
    const whole = bytes.length & ~1;
    odd = bytes.slice(whole); // before the rest is given away
    if (whole) take(bytes.subarray(0, whole));
  }
}

/**
 * @param {Job} job
 * @param {Take} take
 */
export async function byFile(job, take) {
  for (;;) {
    const { state } = await (await get(job, "snapshot")).json();
    if (state !== "waiting" && state !== "streaming") break;
    await new Promise((resolve) => setTimeout(resolve, POLL_MS));
  }
  const wav = new Uint8Array(await (await get(job, "answer.wav")).arrayBuffer());
  take(wav.subarray(samplesAt(wav) + job.received * 2));
}

/**
 * @param {Job} job
 * @param {string} path
 */
async function get(job, path) {
  const answer = await fetch(new URL(path, job.url), { signal: job.abort.signal });
  if (answer.status === 403) throw new Refused("session");
  if (answer.status === 404) throw new Refused("gone");
  if (!answer.ok) throw new Error(`${path}: ${answer.status}`);
  return answer;
}

/**
 * Where a WAV's samples begin.
 * @param {Uint8Array} wav
 */
function samplesAt(wav) {
  const view = new DataView(wav.buffer, wav.byteOffset, wav.byteLength);
  let at = 12; // "RIFF", size, "WAVE"
  while (at + 8 <= wav.length) {
    if (view.getUint32(at, false) === 0x64617461 /* "data" */) return at + 8;
    at += 8 + view.getUint32(at + 4, true);
  }
  throw new Error("a WAV without samples");
}

/**
 * @param {Uint8Array} head
 * @param {Uint8Array} rest
 */
function joined(head, rest) {
  const bytes = new Uint8Array(head.length + rest.length);
  bytes.set(head);
  bytes.set(rest, head.length);
  return bytes;
}
