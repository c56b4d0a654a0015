// @ts-check
/** The servers on this machine: state, how far a start has come, the end of the log, Stop and Restart. */
import { make, write } from "../texts.js";
import { get, post } from "./asking.js";
import { word } from "./labels.js";
import { button, confirm, copyable, failure, finding } from "./pieces.js";

const STAGES = [0, 1, 2];

/** One server's card; it is kept while the server is, so that what is unfolded stays so. */
class Card {
  /** @param {number} port @param {() => void} look */
  constructor(port, look) {
    this.port = port;
    this.look = look;
    this.head = make("div", "omni-server-head");
    this.bars = make("div", "omni-server-bars");
    this.facts = make("dl", "omni-server-facts");
    this.use = make("div");
    this.ask = make("div");
    this.acts = make("div", "omni-server-acts");
    this.summary = make("summary");
    this.log = make("pre", "omni-server-log");
    this.log.tabIndex = 0;
    this.fold = make("details", "", [this.summary, this.log]);
    this.fold.addEventListener("toggle", () => this.fold.open && this.readLog());
    this.box = make("article", "omni-server-card", [this.head, this.bars, this.facts, this.use, this.acts, this.ask, this.fold]);
    this.key = "";
  }

  /** @param {any} server @param {any} start @param {boolean} may @param {string | null} own the page's own server */
  show(server, start, may, own) {
    this.box.dataset.state = server.state;
    if (this.fold.open) this.readLog();
    this.#bars(server, start);
    // What a hand may be on is drawn anew only when it changes.
    const key = JSON.stringify([server.state, server.ours, server.model, server.layout, server.pid, may, own, server.requests, word("stop")]);
    const up = server.up_s === null ? "—" : clock(server.up_s);
    write(this.head.querySelector(".omni-server-up") ?? this.head, up);
    if (key === this.key) return;
    this.key = key;
    const state = make("b", "", [word(`state.${server.state}`)]);
    const marks = [own === server.url ? word("here") : "", server.ours ? "" : word("foreign")].filter(Boolean);
    this.head.replaceChildren(
      make("span", "omni-dot"),
      state,
      make("span", "", [server.url]),
      ...marks.map((text) => make("span", "omni-server-mark", [text])),
      make("span", "omni-server-up", [up]),
    );
    const rows = [
      ["model", server.model],
      ["layout", server.layout],
      ["process", server.pid],
      ["ready_after", server.ready_after_s === null ? null : `${Math.round(server.ready_after_s)} s`],
      ["requests", server.requests],
    ];
    this.facts.replaceChildren(
      ...rows.filter(([, value]) => value !== null).flatMap(([name, value]) => [make("dt", "", [word(String(name))]), make("dd", "", [String(value)])]),
    );
    const other = server.state === "ready" && own !== server.url;
    this.use.replaceChildren(...(other ? [make("p", "omni-server-small", [word("use"), ". ", word("use_help")]), copyable(`python app.py --server ${server.url}`)] : []));
    const acts = may && server.ours;
    this.fold.hidden = !acts;
    const stop = button("omni-server-button", word("stop"), () => confirm(this.ask, word("stop_sure", { port: this.port }), () => this.#act("control/stop")));
    const restart = button("omni-server-button", word("restart"), () => confirm(this.ask, word("restart_sure", { port: this.port }), () => this.#act("control/restart")));
    this.acts.replaceChildren(...(acts ? [stop, restart] : []));
    write(this.summary, word("log"));
  }

  /** @param {any} server @param {any} start */
  #bars(server, start) {
    const shown = server.state === "starting" && start;
    this.bars.hidden = !shown;
    if (!shown) return;
    const stages = Object.fromEntries(start.stages.map((/** @type {any} */ stage) => [stage.stage, stage]));
    this.bars.replaceChildren(
      ...STAGES.map((number) => {
        const stage = stages[number];
        const share = stage?.share ?? 0;
        const bar = make("progress");
        bar.max = 1;
        bar.value = share;
        const done = share === 1 && stage.took_s !== null;
        const phase = done ? word("phase.ready", { seconds: Math.round(stage.took_s) }) : word(`phase.${stage?.phase ?? "waiting"}`);
        bar.setAttribute("aria-label", word(`stage.s${number}`));
        return make("div", "", [make("span", "", [word(`stage.s${number}`)]), bar, make("span", "omni-server-small", [phase])]);
      }),
    );
  }

  async readLog() {
    const found = await get("control/log", { port: this.port });
    if (!found) return;
    const marks = new Map(found.marks.map((/** @type {any} */ mark) => [mark.line, mark]));
    const bottom = this.log.scrollHeight - this.log.scrollTop - this.log.clientHeight < 40;
    this.log.replaceChildren(
      ...(found.lines.length ? found.lines : [word("log_none")]).flatMap((/** @type {string} */ line, /** @type {number} */ number) => {
        const mark = marks.get(number);
        const row = make("span", "omni-server-row", [line || " "]);
        if (!mark) return [row];
        row.dataset.severity = mark.severity;
        return [row, finding(mark)];
      }),
    );
    if (bottom) this.log.scrollTop = this.log.scrollHeight;
  }

  /** @param {string} path */
  async #act(path) {
    this.ask.replaceChildren(make("p", "omni-server-small", [word("acting")]));
    const answer = await post(path, { port: this.port });
    const wrong = failure(answer);
    this.ask.replaceChildren(...(wrong ? [wrong] : (answer.findings ?? []).map(finding)));
    this.look();
  }
}

export class Running {
  /** @param {() => void} look */
  constructor(look) {
    this.look = look;
    this.title = make("h2");
    this.none = make("p", "omni-server-small");
    this.cards = make("div", "omni-server-cards");
    this.left = make("div");
    this.box = make("section", "omni-server-part", [this.title, this.none, this.cards, this.left]);
    /** @type {Map<number, Card>} */
    this.known = new Map();
    this.may = false;
    /** @type {string | null} */
    this.own = null;
  }

  label() {
    write(this.title, word("servers"));
    write(this.none, word("none"));
  }

  /** @param {boolean} may @param {string | null} own */
  allow(may, own) {
    this.may = may;
    this.own = own;
  }

  /** @param {any} status */
  show(status) {
    const starts = new Map(status.starts.map((/** @type {any} */ start) => [start.port, start]));
    const ports = new Set(status.servers.map((/** @type {any} */ server) => server.port));
    for (const [port, card] of this.known) {
      if (ports.has(port)) continue;
      card.box.remove();
      this.known.delete(port);
    }
    for (const server of status.servers) {
      let card = this.known.get(server.port);
      if (!card) {
        card = new Card(server.port, this.look);
        this.known.set(server.port, card);
        this.cards.append(card.box);
      }
      card.show(server, starts.get(server.port), this.may, this.own);
    }
    this.none.hidden = status.servers.length > 0;
    const key = JSON.stringify(status.findings);
    if (this.left.dataset.key === key) return;
    this.left.dataset.key = key;
    this.left.replaceChildren(...status.findings.map(finding));
  }
}

/** @param {number} seconds */
function clock(seconds) {
  const whole = Math.floor(seconds);
  const two = (/** @type {number} */ n) => String(n).padStart(2, "0");
  const hours = Math.floor(whole / 3600);
  return `${hours ? `${hours}:` : ""}${hours ? two(Math.floor(whole / 60) % 60) : Math.floor(whole / 60)}:${two(whole % 60)}`;
}
