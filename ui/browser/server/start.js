// @ts-check
/** The form that starts a server: layout and its picture, weights, cards, port; the command it stands for; Start, after a question. */
import { make, write } from "../texts.js";
import { post } from "./asking.js";
import { word } from "./labels.js";
import { picture } from "./picture.js";
import { button, confirm, copyable, failure, finding } from "./pieces.js";

export class StartForm {
  /** @param {() => void} look */
  constructor(look) {
    this.look = look;
    this.title = make("h2");
    this.off = make("div", "omni-server-note");
    this.off.hidden = true;
    this.layouts = make("select");
    this.layouts.addEventListener("change", () => this.#draw());
    this.drawn = make("div");
    this.model = field("text");
    this.cards = field("text");
    this.port = field("number");
    Object.assign(this.port.input, { min: 1, max: 65_535, value: 8091 });
    this.pick = make("label", "", [make("span"), this.layouts]);
    this.press = button("omni-server-button omni-server-go", "", () =>
      confirm(this.ask, word("start_sure", { layout: this.layout, port: this.port.input.value }), () => this.#start()),
    );
    this.show_command = button("omni-server-button", "", () => this.#plan());
    this.ask = make("div");
    this.told = make("div", "omni-server-told");
    this.told.setAttribute("role", "status");
    const fields = make("div", "omni-server-fields", [this.model.box, this.cards.box, this.port.box]);
    const acts = make("div", "omni-server-acts", [this.press, this.show_command]);
    this.box = make("section", "omni-server-part", [this.title, this.off, this.pick, this.drawn, fields, acts, this.ask, this.told]);
    /** @type {any[]} */
    this.rows = [];
    /** @type {string | null} */
    this.why = null;
  }

  get layout() {
    return this.layouts.value || "1card";
  }

  label() {
    write(this.title, word("start.title"));
    write(/** @type {Node} */ (this.pick.firstChild), word("start.layout"));
    for (const [part, name] of /** @type {const} */ ([[this.model, "model"], [this.cards, "cards"], [this.port, "port"]])) {
      write(part.name, word(`start.${name}`));
      if (name !== "port") part.input.placeholder = word(`start.${name}_hint`);
    }
    write(this.press, word("start.press"));
    write(this.show_command, word("start.show"));
    this.told.replaceChildren();
    this.ask.replaceChildren();
    this.#draw();
  }

  /** @param {any} control */
  show(control) {
    this.rows = control.layouts;
    this.why = control.why_not;
    const chosen = this.layouts.value;
    this.layouts.replaceChildren(...this.rows.map(({ name }) => new Option(name, name)));
    if (chosen) this.layouts.value = chosen;
    this.press.disabled = this.show_command.disabled = this.why !== null;
    this.off.hidden = this.why === null;
    if (this.why) this.off.replaceChildren(make("b", "", [word("barred.title")]), " ", word(`barred.${this.why}`));
    this.#draw();
  }

  #draw() {
    const row = this.rows.find(({ name }) => name === this.layout);
    this.drawn.replaceChildren(...(row ? [picture(row)] : []));
    const none = row?.cards === 0;
    this.model.box.hidden = this.cards.box.hidden = none;
  }

  get wanted() {
    const model = this.model.box.hidden ? "" : this.model.input.value.trim();
    const cards = this.cards.box.hidden ? "" : this.cards.input.value.trim();
    return { layout: this.layout, model, cards, port: Number(this.port.input.value) };
  }

  async #plan() {
    const answer = await this.#order("control/plan");
    if (!answer?.shell) return;
    this.told.replaceChildren(make("p", "omni-server-small", [word("start.command")]), copyable(answer.shell), ...answer.findings.map(finding));
  }

  async #start() {
    const answer = await this.#order("control/start");
    if (answer && !answer.blocked) this.told.replaceChildren(make("p", "omni-server-small", [word("start.started")]));
    else if (answer) this.told.replaceChildren(...answer.findings.map(finding));
    this.look();
  }

  /** @param {string} path */
  async #order(path) {
    this.told.replaceChildren(make("p", "omni-server-small", [word("acting")]));
    const answer = await post(path, this.wanted);
    const wrong = failure(answer);
    this.told.replaceChildren(...(wrong ? [wrong] : []));
    return wrong ? null : answer;
  }
}

/** @param {string} type */
export function field(type) {
  const input = make("input");
  input.type = type;
  input.autocomplete = "off";
  input.spellcheck = false;
  const name = make("span");
  return { input, name, box: make("label", "", [name, input]) };
}
