// @ts-check
/** What is left of a recorded conversation: its files, and a replay with the words in step. */
import { make } from "../texts.js";
import { label } from "./labels.js";

const FILES = ["audio.wav", "transcript.srt", "transcript.txt", "events.jsonl", "result.json"];
const STAMP = /(\d+):(\d+):(\d+)[,.](\d+)/;

/** @typedef {{from: number, until: number, text: string}} Cue */

/**
 * Builds the links and the replay of conversation `id` into `box`.
 * @param {HTMLElement} box
 * @param {string} id
 * @param {string} base
 */
export async function after(box, id, base) {
  const address = (/** @type {string} */ name) => new URL(`live/${encodeURIComponent(id)}/${name}`, base).href;
  const link = (/** @type {string} */ path, /** @type {string} */ text) => {
    const it = make("a", "omni-link", [text]);
    Object.assign(it, { href: address(path), download: "" });
    it.dataset.file = text;
    return it;
  };
  const zip = label(link("recording/recording.zip", "recording.zip"), "after.zip");
  const audio = make("audio");
  Object.assign(audio, { controls: true, preload: "metadata", src: address("recording/audio.wav") });
  label(audio, "after.replay", "aria-label");
  const words = make("p", "omni-live-replayed");
  words.setAttribute("aria-live", "off"); // the sound says it
  box.replaceChildren(
    label(make("h3"), "after.title"),
    audio,
    words,
    make("div", "omni-acts", [zip, ...FILES.map((name) => link(`recording/${name}`, name))]),
  );
  const srt = await fetch(address("recording/transcript.srt"));
  if (!srt.ok) return;
  const cues = cuesOf(await srt.text());
  const draw = () => {
    const at = audio.currentTime;
    const now = cues.filter(({ from, until }) => from <= at && at < until);
    words.textContent = now.map(({ text }) => text).join(" / ");
  };
  for (const type of ["timeupdate", "seeked", "play"]) audio.addEventListener(type, draw);
}

/** The cues of an SRT file. @param {string} srt @returns {Cue[]} */
export function cuesOf(srt) {
  const found = [];
  for (const block of srt.replace(/\r/g, "").split(/\n\n+/)) {
    const lines = block.split("\n");
    const at = lines.findIndex((line) => line.includes("-->"));
    if (at < 0) continue;
    const [from, until] = lines[at].split("-->").map(seconds);
    found.push({ from, until, text: lines.slice(at + 1).join(" ").trim() });
  }
  return found;
}

/** @param {string} stamp */
function seconds(stamp) {
  const [, h, m, s, ms] = (stamp.match(STAMP) ?? []).map(Number);
  return h * 3600 + m * 60 + s + ms / 1000;
}
