// @ts-check
/** What is wrong, what to do about it, and the button that tries again; below it what is worth knowing. */
import { make, prose, say } from "./texts.js";

/**
 * @typedef {{cause: string, cure: string, actions?: {id: string, label: string}[]}} Fault
 * @typedef {{cause: string, cure: string}} Notice
 */

export class Cards {
  /** @param {(action: string) => void} press "retry" or an action's id */
  constructor(press) {
    this.press = press;
    this.box = make("div", "omni-cards");
    this.shown = "";
  }

  /**
   * @param {import("./texts.js").Texts} texts
   * @param {Fault | null} fault
   * @param {Notice[]} notices
   * @param {boolean} retry
   */
  show(texts, fault, notices, retry) {
    const now = JSON.stringify([fault, notices, retry, texts["stage.retry"]]);
    if (now === this.shown) return;
    this.shown = now;
    this.box.replaceChildren();
    if (fault) {
      const card = this.#card("omni-note omni-fault", fault);
      card.setAttribute("role", "alert");
      const buttons = [...(fault.actions ?? [])];
      if (retry) buttons.push({ id: "retry", label: say(texts, "stage.retry") });
      for (const { id, label } of buttons) {
        const button = make("button", "omni-button", [label]);
        button.type = "button";
        button.dataset.action = id;
        button.addEventListener("click", () => this.press(id));
        card.append(button);
      }
      this.box.append(card);
    }
    for (const notice of notices) this.box.append(this.#card("omni-note", notice));
  }

  /**
   * @param {string} name
   * @param {Notice} words
   */
  #card(name, { cause, cure }) {
    return make("div", name, [make("p", "", [make("b", "", prose(cause)), " ", ...prose(cure)])]);
  }
}
