// @ts-check
/** "As curl", "as PowerShell", "as Python", "raw events": folded; fetched when opened, again at each opening; with a button that copies. */
import { make, say, write } from "./texts.js";

const KINDS = /** @type {const} */ ({ curl: "request.sh", powershell: "request.ps1", python: "request.py", events: "events" });
const COPIED_MS = 1_500; // long enough to be read, short enough not to be taken for the state of the button

export class Details {
  constructor() {
    this.url = "";
    /** @type {import("./texts.js").Texts} */
    this.texts = {};
    this.folds = Object.entries(KINDS).map(([name, path]) => {
      const title = make("summary");
      const code = make("code");
      const box = make("pre", "", [code]);
      box.tabIndex = 0; // scrolls by the keyboard, too
      const copy = make("button", "omni-copy");
      copy.type = "button";
      const fold = make("details", "omni-fold", [title, make("div", "omni-code", [copy, box])]);
      fold.dataset.kind = name;
      fold.addEventListener("toggle", () => fold.open && this.#load(path, code));
      copy.addEventListener("click", () => this.#copy(copy, code));
      return { name, fold, title, code, copy };
    });
  }

  get elements() {
    return this.folds.map(({ fold }) => fold);
  }

  /** @param {import("./texts.js").Texts} texts */
  label(texts) {
    this.texts = texts;
    for (const { name, title, copy } of this.folds) {
      write(title, say(texts, `stage.as.${name}`));
      write(copy, say(texts, "stage.copy"));
    }
  }

  /** Another turn's address: what is open closes. @param {string} url */
  of(url) {
    if (url === this.url) return;
    this.url = url;
    for (const { fold, code } of this.folds) {
      fold.open = false;
      write(code, "");
    }
  }

  /**
   * @param {string} path
   * @param {HTMLElement} code
   */
  async #load(path, code) {
    const { url } = this;
    write(code, say(this.texts, "stage.loading"));
    try {
      const answer = await fetch(new URL(path, url));
      if (!answer.ok) throw new Error(String(answer.status));
      const text = await answer.text();
      if (url === this.url) write(code, text);
    } catch {
      if (url === this.url) write(code, say(this.texts, "stage.not_loaded"));
    }
  }

  /**
   * @param {HTMLElement} button
   * @param {HTMLElement} code
   */
  async #copy(button, code) {
    if (navigator.clipboard) await navigator.clipboard.writeText(code.textContent ?? "");
    else {
      // No clipboard on plain http: leave it selected for Ctrl+C.
      getSelection()?.selectAllChildren(code);
      return;
    }
    write(button, say(this.texts, "stage.copied"));
    setTimeout(() => write(button, say(this.texts, "stage.copy")), COPIED_MS);
  }
}
