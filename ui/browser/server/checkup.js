// @ts-check
/** The doctor: what stands against a start of the chosen layout, worst first. */
import { make, write } from "../texts.js";
import { get } from "./asking.js";
import { word } from "./labels.js";
import { button, failure, finding } from "./pieces.js";

export class CheckUp {
  /** @param {() => {layout: string, model: string, port: number}} wanted */
  constructor(wanted) {
    this.wanted = wanted;
    this.title = make("h2");
    this.press = button("omni-server-button", "", () => this.#check());
    this.told = make("div", "omni-server-told");
    this.told.setAttribute("role", "status");
    this.box = make("section", "omni-server-part", [this.title, make("div", "omni-server-acts", [this.press]), this.told]);
  }

  label() {
    write(this.title, word("doctor.title"));
    write(this.press, word("doctor.press"));
    this.told.replaceChildren();
  }

  async #check() {
    const { layout, model, port } = this.wanted();
    this.press.disabled = true;
    this.told.replaceChildren(make("p", "omni-server-small", [word("doctor.busy")]));
    const answer = await get("control/doctor", { layout, model, port });
    this.press.disabled = false;
    const wrong = failure(answer ?? { refused: true });
    if (wrong) return this.told.replaceChildren(wrong);
    const findings = answer.findings.map(finding);
    this.told.replaceChildren(...(findings.length ? findings : [make("p", "omni-server-small", [word("doctor.well", { layout })])]));
  }
}
