// @ts-check
/** The conversation as it is drawn: who speaks, the words in step, the last minute, the figures, and what was said before. */
import { make, prose, say, show, write } from "../texts.js";
import { label, speaking, word } from "./labels.js";
import { Timeline } from "./timeline.js";

const FIGURES = /** @type {const} */ (["ttft", "ttfp", "stall", "dropped", "session", "idle"]);
/** @type {Record<string, string>} */
const TONES = { you: "live", model: "live", listening: "live", queued: "warn", waiting: "warn", lost: "warn" };
const CARD_MOST = 4; // notices at once; older ones have been read

/** @typedef {import("./call.js").Call} Call */
/** @typedef {Record<string, {cause: {zh: string, en: string}, cure: {zh: string, en: string}}>} Faults of the catalogue, by key */

export class Face {
  /** @param {Faults} faults */
  constructor(faults) {
    this.faults = faults;
    this.status = make("span", "omni-status");
    this.status.setAttribute("role", "status");
    this.mark = label(make("span", "omni-mark"), "recording");
    this.decision = make("span", "omni-live-decision");
    this.cards = make("div", "omni-cards");
    this.carded = "";
    this.said = make("span", "omni-said");
    this.now = make("span", "omni-now");
    this.next = make("span", "omni-next");
    this.hint = make("span", "omni-hint");
    this.caption = make("p", "omni-caption", [this.said, this.now, this.next, this.hint]);
    this.caption.tabIndex = 0;
    label(this.caption, "caption", "aria-label");
    this.timeline = new Timeline();
    label(this.timeline.canvas, "timeline", "aria-label");
    this.key = label(make("p", "omni-live-small omni-live-key"), "timeline.key");
    this.figures = make("dl", "omni-figs");
    this.cells = FIGURES.map((name) => {
      const [value, unit] = [make("b"), make("i")];
      const cell = make("div", "", [label(make("dt"), `fig.${name}`), make("dd", "", [value, unit])]);
      cell.dataset.figure = name;
      this.figures.append(label(cell, `fig.${name}.help`, "title"));
      return { name, value, unit };
    });
    this.lines = make("ol", "omni-live-lines");
    this.lines.tabIndex = 0;
    label(this.lines, "transcript", "aria-label");
    this.after = make("div", "omni-live-after");
    this.raw = make("pre");
    this.unknown = make("details", "omni-fold omni-code", [label(make("summary"), "unknown"), this.raw]);
    this.box = make("div", "omni-stage omni-live-stage", [
      make("div", "omni-who", [make("span", "omni-dot"), this.status, this.mark, this.decision]),
      this.cards,
      this.caption,
      this.timeline.canvas,
      this.key,
      this.figures,
      this.after,
      this.lines,
      this.unknown,
    ]);
  }

  /** @param {Call} call @param {{muted: boolean, record: boolean}} how */
  show(call, { muted, record }) {
    const state = stateOf(call, muted);
    this.box.dataset.state = state;
    this.box.dataset.tone = call.fault ? "bad" : TONES[state] ?? "";
    write(this.status, word(`state.${call.fault ? "failed" : state}`, { position: call.position, seconds: Math.max(1, Math.round(call.retry)) }));
    show(this.mark, call.live && record);
    const last = call.rhythm.decisions.at(-1);
    write(this.decision, call.state === "open" && last ? word(`decision.${last.what}`) : "");
    this.#cards(call);
    this.#caption(call);
    this.#figures(call);
    this.#lines(call.dialogue);
    show(this.unknown, call.unknown.length > 0);
    write(this.raw, call.unknown.map((event) => JSON.stringify(event)).join("\n"));
    for (const it of [this.timeline.canvas, this.key]) show(it, call.rhythm.levels.length > 0);
    this.timeline.draw(call.rhythm, performance.now() / 1000);
  }

  /** @param {Call} call */
  #cards(call) {
    const told = [...(call.fault ? [call.fault] : []), ...[...call.notices.values()].slice(-CARD_MOST).reverse()];
    const shown = JSON.stringify([told, speaking()]);
    if (shown === this.carded) return;
    this.carded = shown;
    this.cards.replaceChildren(
      ...told.map((one) => {
        const { cause, cure } = one.cause && one.cure ? { cause: one.cause, cure: one.cure } : this.faults[one.key ?? ""];
        const facts = one.facts ?? {};
        const tell = (/** @type {{zh: string, en: string}} */ both) => prose(say({ it: both[speaking()] }, "it", facts));
        const bad = one === call.fault;
        const card = make("div", bad ? "omni-note omni-fault" : "omni-note", [make("p", "", [make("b", "", tell(cause)), " ", ...tell(cure)])]);
        card.dataset.fault = one.key ?? "app";
        if (bad) card.setAttribute("role", "alert");
        return card;
      }),
    );
  }

  /** @param {Call} call */
  #caption(call) {
    const answer = call.dialogue.heard;
    const parts = answer ? call.dialogue.split(answer) : { said: "", now: "", next: "" };
    write(this.said, parts.said);
    write(this.now, parts.now);
    write(this.next, parts.next);
    const empty = !parts.said && !parts.now && !parts.next;
    write(this.hint, empty ? word(call.live ? (call.state === "open" ? "hint.speak" : "hint.wait") : "hint.start") : "");
  }

  /** @param {Call} call */
  #figures({ latency, stall, clock, dropped }) {
    const time = (/** @type {number | null | undefined} */ ms) =>
      ms === null || ms === undefined ? ["—", ""] : ms < 1000 ? [String(Math.round(ms)), "ms"] : [(ms / 1000).toFixed(2), "s"];
    const minutes = (/** @type {number | null | undefined} */ s) =>
      s === null || s === undefined ? ["—", ""] : [`${Math.floor(s / 60)}:${String(Math.floor(s % 60)).padStart(2, "0")}`, ""];
    const values = {
      ttft: time(latency?.ttft_ms),
      ttfp: time(latency?.ttfp_ms),
      stall: time(stall === null ? null : stall * 1000),
      dropped: clock || dropped ? [String(dropped + (clock?.dropped_frames ?? 0)), ""] : ["—", ""],
      session: minutes(clock?.session_s),
      idle: minutes(clock?.idle_left_s),
    };
    for (const { name, value, unit } of this.cells) {
      write(value, values[name][0]);
      write(unit, values[name][1]);
    }
  }

  /** @param {import("./dialogue.js").Dialogue} dialogue */
  #lines(dialogue) {
    while (this.lines.children.length > dialogue.lines.length) this.lines.lastChild?.remove();
    const atEnd = this.lines.scrollTop + this.lines.clientHeight >= this.lines.scrollHeight - 8;
    let grown = false;
    dialogue.lines.forEach((line, i) => {
      let row = this.lines.children[i];
      if (!row) {
        row = make("li", "", [make("b"), make("p"), make("i")]);
        this.lines.append(row);
        grown = true;
      }
      const [who, text, note] = row.children;
      row.className = `omni-live-${line.kind}`;
      write(who, word(`who.${line.kind}`));
      if (line.kind === "you") {
        write(text, line.ended === null ? word("you.now") : word("you.spoke", { seconds: (line.ended - line.began).toFixed(1) }));
        return;
      }
      const { said, now, next } = dialogue.split(line);
      write(text, said + now + next);
      const seconds = line.latency === null ? "" : word("took", { seconds: (line.latency / 1000).toFixed(2) });
      write(note, line.state === "cut" ? word(`cut.${line.by}`) : line.state === "failed" ? word("cut.failed") : seconds);
    });
    if (grown && atEnd) this.lines.scrollTop = this.lines.scrollHeight;
  }
}

/** Who speaks, or what it waits for. @param {Call} call @param {boolean} muted */
function stateOf(call, muted) {
  if (call.state !== "open") return call.state;
  if (call.broken) return "lost";
  if (call.sounding) return "model";
  if (call.you) return "you";
  return muted ? "muted" : "listening";
}
