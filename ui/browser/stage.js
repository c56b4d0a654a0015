// @ts-check
/** One tab's answer: takes the values the page sends for it, the player's news and the user's presses, and draws what is true now. */
import { Gate } from "./gate.js";
import { Hearing } from "./hearing.js";
import { EMPTY, WAITING, live, modelOf } from "./model.js";
import { Scene } from "./scene.js";
import { RATE } from "./tape.js";

/** @typedef {import("./model.js").StageView} StageView */

const TICK_MS = 100; // seconds are shown with one decimal

export class Stage {
  /**
   * @param {HTMLElement} root
   * @param {import("./texts.js").Texts} texts
   * @param {import("./player.js").Player} player
   */
  constructor(root, texts, player) {
    this.root = root;
    this.player = player;
    this.gate = new Gate();
    this.whole = false;
    this.scene = new Scene(root, {
      seek: (seconds) => this.#seek(seconds),
      sound: () => this.#sound(),
      whole: () => {
        this.whole = !this.whole;
        this.draw();
      },
      unblock: () => player.unlock(),
      act: (action) => this.#act(action),
    });
    this.#reset(EMPTY);
    this.speak(texts);
    setInterval(() => live(this.view) && this.draw(), TICK_MS);
  }

  /**
   * @param {StageView} view
   * @param {number} [pressed]
   */
  #reset(view, pressed) {
    this.view = view;
    this.stopped = false;
    this.pressed = pressed ?? null;
    this.since = pressed ?? performance.now();
    // Outlives the turn only as a listener the player has let go of.
    const hearing = new Hearing(this.player, () => this.hearing === hearing && this.draw());
    this.hearing = hearing;
  }

  /** Another language. @param {import("./texts.js").Texts} texts */
  speak(texts) {
    this.texts = texts;
    this.scene.label(texts);
    this.draw();
  }

  /** Run or a sample was pressed. @param {number} pressed performance.now() of the press */
  begin(pressed) {
    this.#leave();
    this.gate.open();
    this.#reset(WAITING, pressed);
    this.draw();
  }

  /** What came stays; nothing more is shown or heard of this turn. */
  stop() {
    if (this.hearing?.mine) this.player.stop();
    this.#stopServer();
    this.gate.close(false);
    this.stopped = true;
    if (live(this.view)) this.view = { ...this.view, state: "stopped" };
    this.draw();
  }

  clear() {
    this.#leave();
    this.gate.close(true);
    this.#reset(EMPTY);
    this.draw();
  }

  /** The turn shown is over for us. */
  #leave() {
    if (this.hearing?.mine) this.player.stop();
    this.#stopServer();
  }

  #stopServer() {
    if (this.view.turn && live(this.view)) tellServer(this.view.turn, "stop");
  }

  /** A value of the page. @param {Partial<StageView> | null} value */
  value(value) {
    const view = { ...EMPTY, ...value };
    const verdict = this.gate.judge(view.turn, view.state);
    if (verdict === "orphan") tellServer(/** @type {string} */ (view.turn), "stop");
    if (verdict === "drop" || verdict === "orphan") return;
    if (verdict === "page") {
      if (live(this.view)) {
        if (view.state === "empty") return; // from before the press
        if (live(view) && !this.view.turn) return this.#wait(view);
      }
      this.#leave();
      this.gate.open();
      this.#reset(view);
    } else if (verdict === "new" && this.view.turn) {
      this.#leave();
      this.#reset(view);
    } else if (this.stopped) {
      // Its last figures and what was noticed are welcome, more text is not.
      if (live(view)) return;
      Object.assign(view, { text: this.view.text, state: this.view.state });
    }
    this.view = view;
    this.hearing?.text(view.text);
    if (view.turn && view.speech && !this.hearing?.opened && view.state !== "failed" && !this.stopped) this.#play(true);
    this.draw();
  }

  /** Still nothing but waiting, perhaps for something else. @param {StageView} view */
  #wait(view) {
    this.view = view;
    this.draw();
  }

  /** @param {boolean} first */
  #play(first) {
    this.hearing?.open(addressOf(this.view.turn), { first, pressed: first ? this.pressed ?? null : null });
  }

  /** @param {number} seconds */
  #seek(seconds) {
    this.player.unlock();
    if (!this.hearing?.mine) this.#play(false);
    this.player.seek(Math.round(seconds * RATE));
  }

  /** The sound button. */
  #sound() {
    this.player.unlock();
    const state = this.hearing?.state;
    if (state === "playing" || state === "filling") this.player.pause();
    else if (state === "paused") this.player.resume();
    else if (state === "ended") this.player.seek(0);
    else this.#play(false);
  }

  /** @param {string} action */
  #act(action) {
    const name = action === "retry" ? "omni:retry" : "omni:action";
    const detail = { stage: this.root.id, turn: this.view.turn, action };
    this.root.dispatchEvent(new CustomEvent(name, { bubbles: true, cancelable: true, detail }));
  }

  draw() {
    const { view, hearing, texts, whole, player } = this;
    if (!hearing || !texts) return;
    this.scene.show(
      modelOf(view, hearing, texts, {
        waited: (performance.now() - (this.since ?? 0)) / 1000,
        stopped: this.stopped ?? false,
        whole,
        url: addressOf(view.turn),
        blocked: player.blocked,
        scheduled: player.scheduled,
      }),
    );
  }
}

/** Where a turn's own resources are; below the page's own address, so that it holds behind a gateway's prefix, too. @param {string | null} turn */
export function addressOf(turn) {
  return new URL(`turns/${encodeURIComponent(turn ?? "-")}/`, document.baseURI).href;
}

/**
 * Fire and forget: the sound is silent already, and a turn that has ended does not mind.
 * @param {string} turn
 * @param {string} what
 */
export function tellServer(turn, what) {
  fetch(new URL(what, addressOf(turn)), { method: "POST", keepalive: true }).catch(() => {});
}
