// @ts-check
/** The forward guide with a form: the very line to type on one's own computer. */
import { make, prose, write } from "../texts.js";
import { get } from "./asking.js";
import { word } from "./labels.js";
import { button, copyable, failure } from "./pieces.js";
import { field } from "./start.js";

export class Tunnel {
  constructor() {
    this.title = make("h2");
    this.intro = make("p", "omni-server-small");
    this.target = field("text");
    this.jump = field("text");
    this.port = field("number");
    Object.assign(this.port.input, { min: 1, max: 65_535, value: Number(location.port) || 7862 });
    this.press = button("omni-server-button", "", () => this.#show());
    this.told = make("div", "omni-server-told");
    const form = make("form", "omni-server-fields", [this.target.box, this.jump.box, this.port.box]);
    form.addEventListener("submit", (event) => event.preventDefault());
    form.addEventListener("keydown", (event) => event.key === "Enter" && this.#show());
    this.box = make("section", "omni-server-part", [this.title, this.intro, form, make("div", "omni-server-acts", [this.press]), this.told]);
  }

  label() {
    write(this.title, word("forward.title"));
    write(this.intro, word("forward.intro"));
    write(this.press, word("forward.press"));
    for (const [part, name] of /** @type {const} */ ([[this.target, "target"], [this.jump, "jump"], [this.port, "port"]])) {
      write(part.name, word(`forward.${name}`));
      if (name !== "port") part.input.placeholder = word(`forward.${name}_hint`);
    }
    this.told.replaceChildren();
  }

  async #show() {
    const target = this.target.input.value.trim();
    if (!target) return this.target.input.focus();
    const answer = await get("control/forward", { target, jump: this.jump.input.value.trim(), port: this.port.input.value || 7862 });
    const wrong = failure(answer ?? { refused: true });
    if (wrong) return this.told.replaceChildren(wrong);
    const lines = ["openssh", "powershell", "config"].flatMap((name) => [make("p", "omni-server-small", [word(`forward.${name}`)]), copyable(answer[name])]);
    const notes = make("ul", "omni-server-notes", Object.values(answer.notes).map((note) => make("li", "", prose(String(note)))));
    this.told.replaceChildren(...lines, notes);
  }
}
