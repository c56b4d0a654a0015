// @ts-check
/** The stage as it is drawn: builds its elements once, then shows one `Model` after another. Knows nothing of turns, players or time. */
import { Cards } from "./cards.js";
import { Details } from "./details.js";
import { FigureRow } from "./figures.js";
import { make, say, show, write } from "./texts.js";
import { Waveform } from "./waveform.js";

/**
 * @typedef {object} Model
 * @property {string} state for the style sheet and for tests
 * @property {"" | "live" | "warn" | "bad"} tone
 * @property {string} status
 * @property {boolean} rehearsal
 * @property {{said: string, now: string, next: string}} caption
 * @property {string} placeholder shown instead of an empty caption
 * @property {boolean} steps the caption goes with a voice (and can be shown whole)
 * @property {boolean} whole
 * @property {import("./caption.js").Outline | null} outline null: no waveform
 * @property {number} played seconds
 * @property {number} seconds
 * @property {"play" | "pause" | "replay" | null} sound what the sound button does
 * @property {boolean} blocked the browser wants a gesture before it lets us sound
 * @property {boolean} wav
 * @property {boolean} kept the turn can be saved and looked at
 * @property {string} url of the turn, ending in "/"
 * @property {import("./figures.js").Figures} figures
 * @property {import("./cards.js").Fault | null} fault
 * @property {boolean} retry
 * @property {import("./cards.js").Notice[]} notices
 *
 * @typedef {object} Hands what the stage does when something is pressed
 * @property {(seconds: number) => void} seek
 * @property {() => void} sound
 * @property {() => void} whole
 * @property {() => void} unblock
 * @property {(action: string) => void} act
 */

export class Scene {
  /**
   * @param {HTMLElement} root
   * @param {Hands} hands
   */
  constructor(root, hands) {
    this.root = root;
    /** @type {import("./texts.js").Texts} */
    this.texts = {};
    this.status = make("span", "omni-status");
    this.status.setAttribute("role", "status");
    this.rehearsal = make("span", "omni-mark");
    this.whole = this.#button("omni-whole", hands.whole);
    this.said = make("span", "omni-said");
    this.now = make("span", "omni-now");
    this.next = make("span", "omni-next");
    this.hint = make("span", "omni-hint");
    this.caption = make("p", "omni-caption", [this.said, this.now, this.next, this.hint]);
    this.caption.tabIndex = 0;
    this.wave = make("div", "omni-wave");
    this.wave.tabIndex = 0;
    this.wave.setAttribute("role", "slider");
    this.wave.setAttribute("aria-valuemin", "0");
    this.waveform = new Waveform(this.wave, hands.seek);
    this.figures = new FigureRow();
    this.sound = this.#button("omni-link", hands.sound);
    this.sound.dataset.action = "sound";
    this.unblock = this.#button("omni-button omni-unblock", hands.unblock);
    this.wav = this.#link("answer.wav");
    this.zip = this.#link("turn.zip");
    this.details = new Details();
    this.cards = new Cards(hands.act);
    root.replaceChildren(
      make("div", "omni-who", [make("span", "omni-dot"), this.status, this.rehearsal, this.whole]),
      this.caption,
      this.unblock,
      this.wave,
      this.figures.box,
      make("div", "omni-acts", [this.sound, this.wav, this.zip, ...this.details.elements]),
      this.cards.box,
    );
  }

  /**
   * @param {string} name
   * @param {() => void} press
   */
  #button(name, press) {
    const button = make("button", name);
    button.type = "button";
    button.addEventListener("click", press);
    return button;
  }

  /** @param {string} file */
  #link(file) {
    const link = make("a", "omni-link");
    link.download = "";
    link.dataset.file = file;
    return link;
  }

  /** @param {import("./texts.js").Texts} texts */
  label(texts) {
    this.texts = texts;
    write(this.rehearsal, say(texts, "stage.rehearsal"));
    this.rehearsal.title = say(texts, "stage.rehearsal.help");
    write(this.unblock, say(texts, "stage.unblock"));
    write(this.wav, say(texts, "stage.wav"));
    write(this.zip, say(texts, "stage.save"));
    this.root.setAttribute("aria-label", say(texts, "stage.name"));
    this.caption.setAttribute("aria-label", say(texts, "stage.caption"));
    this.wave.setAttribute("aria-label", say(texts, "stage.wave"));
    this.wave.title = say(texts, "stage.wave.help");
    this.figures.label(texts);
    this.details.label(texts);
  }

  /** @param {Model} model */
  show(model) {
    const { texts } = this;
    this.root.dataset.state = model.state;
    this.root.dataset.tone = model.tone;
    write(this.status, model.status);
    show(this.rehearsal, model.rehearsal);
    show(this.whole, model.steps);
    this.whole.setAttribute("aria-pressed", String(model.whole));
    write(this.whole, say(texts, model.whole ? "stage.in_step" : "stage.show_all"));
    this.#caption(model);
    show(this.unblock, model.blocked);
    show(this.wave, model.outline !== null);
    if (model.outline) this.waveform.show(model.outline, model.played, model.seconds);
    this.figures.show(model.figures);
    show(this.sound, model.sound !== null);
    if (model.sound) write(this.sound, say(texts, `stage.sound.${model.sound}`));
    for (const [link, shown] of /** @type {const} */ ([[this.wav, model.wav], [this.zip, model.kept]])) {
      show(link, shown);
      if (shown) link.href = new URL(/** @type {string} */ (link.dataset.file), model.url).href;
    }
    this.details.of(model.url);
    for (const fold of this.details.elements) show(fold, model.kept);
    this.cards.show(texts, model.fault, model.notices, model.retry);
  }

  /** @param {Model} model */
  #caption({ caption, placeholder, steps, whole }) {
    const empty = !caption.said && !caption.now && !caption.next;
    write(this.hint, empty ? placeholder : "");
    // A voice is heard; without one the text itself is the answer, and is announced as it grows.
    this.caption.setAttribute("aria-live", steps ? "off" : "polite");
    this.caption.classList.toggle("omni-whole-text", whole);
    const moved = this.now.textContent !== caption.now || this.said.textContent !== caption.said;
    write(this.said, caption.said);
    write(this.now, caption.now);
    write(this.next, caption.next);
    if (moved && this.caption.scrollHeight > this.caption.clientHeight) this.#follow();
  }

  /** Keeps the words being said in sight, without moving the page. */
  #follow() {
    const box = this.caption.getBoundingClientRect();
    const word = (this.now.textContent ? this.now : this.said).getClientRects();
    const last = word[this.now.textContent ? 0 : word.length - 1];
    if (last && (last.bottom > box.bottom || last.top < box.top)) this.caption.scrollTop += last.top - box.top - box.height / 3;
  }
}
