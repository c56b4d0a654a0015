// @ts-check
/**
 * One conversation off the page's own thread: microphone frames to the app, the model's voice to the audio thread, the words to the page.
 *
 * In, from talk.js:
 *   {type: "ports", mic, deck}         the MessagePorts of the two worklets
 *   {type: "open", socket, tickets}    address of the conversation's socket; `tickets`: where a fresh one is had, null when it needs none
 *   {type: "voice", on}                the user's voice interrupts
 *   {type: "interrupt", asked}         Stop was pressed at `asked` (Date.now())
 *   {type: "say", word} {type: "camera", frame} {type: "close"}
 * Out: {type: "word", word} what the app said, {type: "link", state} (link.js), {type: "interrupted", by, response} before the app knows,
 *   {type: "dropped", frames} microphone frames that did not leave
 */
import { Link } from "./link.js";
import { HEAD } from "./wire.js";

const FIGURES_MS = 5_000; // for the record; what the user sees is on the page already

/** @type {MessagePort | null} */
let deck = null;
/** @type {Link | null} */
let link = null;
let voice = false;
let sounding = false;
let latest = 0; // number of the newest answer
let silenced = 0;
let figures = {};
let toldDropped = 0;

self.onmessage = ({ data }) => {
  if (data.type === "ports") {
    deck = data.deck;
    data.deck.onmessage = (/** @type {MessageEvent} */ event) => fromDeck(event.data);
    data.mic.onmessage = (/** @type {MessageEvent} */ event) => fromMic(event.data);
  } else if (data.type === "open") open(data.socket, data.tickets);
  else if (data.type === "voice") voice = data.on;
  else if (data.type === "interrupt") interrupt("stop", data.asked);
  else if (data.type === "say") say(data.word);
  else if (data.type === "figures") figures = { ...figures, ...data.figures };
  else if (data.type === "camera") link?.send(data.frame);
  else if (data.type === "close") close();
};

/**
 * @param {string} socket
 * @param {string | null} tickets
 */
function open(socket, tickets) {
  latest = silenced = toldDropped = 0;
  sounding = false;
  figures = {};
  deck?.postMessage({ type: "new" });
  link = new Link(socket, {
    word: heard,
    speech: (response, frame) => {
      latest = Math.max(latest, response);
      if (frame.byteLength > HEAD) deck?.postMessage({ type: "speech", response, frame }, [frame]);
    },
    state: (state) => self.postMessage({ type: "link", state }),
    renew: async () => {
      if (!tickets) return socket;
      const answer = await fetch(tickets, { method: "POST" });
      return (await answer.json()).socket;
    },
  });
}

function close() {
  if (!link) return;
  say({ type: "close" });
  deck?.postMessage({ type: "flush", response: latest, asked: Date.now() });
}

/** @param {any} word */
function say(word) {
  link?.send(JSON.stringify(word));
}

/** @param {any} word of the app */
function heard(word) {
  if (word.type === "speaking") latest = Math.max(latest, word.response);
  else if (word.type === "spoken") deck?.postMessage({ type: "end", response: word.response });
  else if (word.type === "flush") deck?.postMessage({ type: "flush", response: word.response, asked: Date.now() });
  self.postMessage({ type: "word", word });
}

/**
 * Silence first; the app and the server learn of it a moment later.
 * @param {"stop" | "voice"} by
 * @param {number} asked
 */
function interrupt(by, asked) {
  if (silenced === latest) return;
  silenced = latest;
  deck?.postMessage({ type: "flush", response: latest, asked });
  say({ type: "interrupt", by });
  self.postMessage({ type: "interrupted", by, response: latest });
}

/** @param {any} message */
function fromMic(message) {
  if (message.type === "frame") {
    link?.microphone(message.buffer);
    if (link && link.dropped > toldDropped) {
      toldDropped = link.dropped;
      self.postMessage({ type: "dropped", frames: toldDropped });
    }
  } else if (message.type === "voice" && voice && sounding) interrupt("voice", Date.now());
}

/** @param {any} message */
function fromDeck(message) {
  if (message.type === "sounding") sounding = message.on;
  else if (message.type === "played") say({ type: "played", response: message.response, ms: Math.round(message.ms) });
  else if (message.type === "silent") tell({ flush_ms: message.ms });
}

/** @param {object} more */
function tell(more = {}) {
  figures = { ...figures, ...more };
  if (link?.up) say({ type: "figures", ...figures, dropped_frames: link.dropped });
}

setInterval(tell, FIGURES_MS);
