// @ts-check
/**
 * The duplex tab: mounts form, buttons and conversation into the stage of ui/tabs/duplex.py, and connects them.
 *
 * Keys, while the tab is in sight: Esc presses Stop, M mutes, Space held talks (push to talk) unless it belongs to what has the focus.
 * For tests, with `?tap=1` or `window.omniTap`: `omniLive.tap()`.
 */
import { make, show } from "../texts.js";
import { after } from "./after.js";
import { Awake } from "./awake.js";
import { Camera } from "./camera.js";
import { Face } from "./face.js";
import { label, word } from "./labels.js";
import { Talk } from "./talk.js";
import { Trouble } from "./trouble.js";
import { Wishes, button } from "./wishes.js";

const tapped = new URLSearchParams(location.search).has("tap") || Boolean(/** @type {any} */ (window).omniTap);

const sheet = document.createElement("link");
sheet.rel = "stylesheet";
sheet.href = new URL("../live.css", import.meta.url).href;
document.head.append(sheet);

class Duplex {
  /**
   * @param {HTMLElement} root
   * @param {import("./face.js").Faults} faults
   */
  constructor(root, faults) {
    this.root = root;
    this.base = document.baseURI;
    this.due = false;
    /** What has been tidied up. @type {import("./call.js").Call | null} */
    this.over = null;
    this.recorded = false;
    this.awake = new Awake();
    this.talk = new Talk(() => this.draw(), { tap: tapped });
    this.face = new Face(faults);
    this.camera = new Camera((frame) => this.talk.picture(frame));
    this.wishes = new Wishes(
      {
        device: (id) => this.talk.listenTo(id),
        push: (on) => this.talk.pushToTalk(on),
        voice: (on) => this.talk.interruptOnVoice(on),
        camera: (on) => this.#camera(on),
      },
      this.base,
    );
    this.start = button("omni-live-start", "start", () => this.#start());
    this.mute = button("omni-live-button", "mute", () => this.talk.mute(!this.talk.muted));
    this.stop = button("omni-live-button", "stop", (event) => this.talk.interrupt(performance.timeOrigin + event.timeStamp));
    label(this.stop, "stop.help", "title");
    this.hold = button("omni-live-button omni-live-hold", "hold", () => {});
    this.hold.addEventListener("pointerdown", (event) => {
      this.hold.setPointerCapture(event.pointerId);
      this.talk.hold(true);
    });
    for (const type of ["pointerup", "pointercancel", "blur"]) this.hold.addEventListener(type, () => this.talk.hold(false));
    this.hold.addEventListener("contextmenu", (event) => event.preventDefault()); // a long press on a phone
    const go = make("div", "omni-live-go", [this.start, this.hold, this.mute, this.stop]);
    const help = make("details", "omni-fold omni-live-help", [label(make("summary"), "help.title")]);
    for (const key of ["rhythm", "listening", "interrupt", "echo", "keys"]) help.append(label(make("p"), `help.${key}`));
    root.replaceChildren(make("div", "omni-live-ask", [this.wishes.box, this.camera.video, go]), this.face.box, help);
    this.#keys();
    this.wishes.refresh();
    addEventListener("omni:language", () => this.draw());
    this.draw();
  }

  /** In the next frame, once for all that changed; at once where nothing is painted. */
  draw() {
    if (this.due) return;
    this.due = true;
    requestAnimationFrame(() => {
      this.due = false;
      this.#show();
    });
  }

  #show() {
    const { talk } = this;
    const { call } = talk;
    const { live } = call;
    this.root.dataset.state = call.state;
    this.face.show(call, { muted: talk.muted, record: this.recorded });
    this.wishes.settle(live, live ? call.can : null);
    this.wishes.microphones(talk.microphones);
    this.wishes.meter.value = Math.min(1, talk.level.peak);
    label(this.start, live ? "end" : "start");
    this.start.classList.toggle("omni-live-end", live);
    this.start.disabled = call.state === "ending";
    label(this.mute, talk.muted ? "unmute" : "mute");
    this.mute.setAttribute("aria-pressed", String(talk.muted));
    this.hold.setAttribute("aria-pressed", String(talk.held));
    show(this.hold, talk.push);
    this.mute.disabled = this.stop.disabled = this.hold.disabled = !live;
    this.awake.keep(live);
    if (call.state === "ended" && this.over !== call) this.#over(call);
  }

  #start() {
    if (this.talk.call.live) return this.talk.end();
    /** @type {any} */ (window).omni?.player.stop(); // an answer of another tab does not talk into this
    this.face.after.replaceChildren();
    this.recorded = this.wishes.record.input.checked;
    this.talk.start(this.wishes.value, this.wishes.devices.value);
  }

  /** @param {import("./call.js").Call} call */
  #over(call) {
    this.over = call;
    this.camera.close();
    this.wishes.camera.input.checked = false;
    this.wishes.refresh();
    if (call.recording) after(this.face.after, call.id, this.base);
  }

  /** @param {boolean} on */
  async #camera(on) {
    try {
      await this.camera.turn(on);
    } catch (error) {
      this.wishes.camera.input.checked = false;
      if (!(error instanceof Trouble)) throw error;
      this.talk.call.notice({ key: error.key });
      this.draw();
    }
  }

  #keys() {
    const here = () => this.root.offsetParent !== null;
    const taken = (/** @type {EventTarget | null} */ target) =>
      target instanceof Element && target !== this.hold && target.closest("input, textarea, select, button, summary, audio, a, [contenteditable]");
    addEventListener("keydown", (event) => {
      if (!here() || event.ctrlKey || event.metaKey || event.altKey) return;
      if (event.key === "Escape" && this.talk.call.live) this.talk.interrupt(performance.timeOrigin + event.timeStamp);
      else if (taken(event.target)) return;
      else if (event.key === " " && this.talk.push) {
        event.preventDefault();
        this.talk.hold(true);
      } else if (event.key.toLowerCase() === "m" && !event.repeat && this.talk.call.live) this.talk.mute(!this.talk.muted);
    });
    addEventListener("keyup", (event) => event.key === " " && this.talk.hold(false));
    addEventListener("blur", () => this.talk.hold(false)); // a key let go elsewhere is never told
  }
}

/**
 * Called by the tab's own component.
 * @param {HTMLElement} element
 * @param {{faults: import("./face.js").Faults}} props
 */
export function mount(element, props) {
  const duplex = new Duplex(/** @type {HTMLElement} */ (element.querySelector(".omni-live")), props.faults);
  /** @type {any} */ (window).omniLive = { duplex, talk: duplex.talk, tap: () => duplex.talk.sound.tap() };
}
