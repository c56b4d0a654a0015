// @ts-check
/**
 * `window.omni`: what the page calls, and what listens to the whole page. Load it once: `<script type="module" src="omni/omni.js">`.
 *
 *   omni.begin(stageId)  a press of Run or of a sample: silence, "waiting" at once, and the moment counts for first_sound_ms
 *   omni.stop(stageId)   silence within 30 ms; ends the turn on the server; nothing more of it is shown or heard
 *   omni.clear(stageId)  the same, and the stage is empty again
 *   omni.speak(texts)    another language for all stages
 *   omni.mount(element, texts, value, watch)   called by each stage's own component (ui/stage.py)
 *   omni.tap()           for tests, with `?tap=1` or `window.omniTap`: what sounded, {blocks, starts}
 *
 * On the page: `.omni-run`, `.omni-sample`, `.omni-stop` mark its buttons. Ctrl/Cmd+Enter presses the visible Run, Esc the visible Stop.
 * A second click on the same Run or sample within 400 ms is swallowed: a double click asks once.
 * Events that bubble from a stage: `omni:retry` (unless prevented, presses Run) and `omni:action` ({detail: {stage, turn, action}}).
 */
import { Player } from "./player.js";
import { Stage, tellServer } from "./stage.js";
import { WAITING, live } from "./model.js";

const DOUBLE_MS = 400; // the usual double-click time of a desktop is 500 ms; nobody asks twice on purpose so fast
const PRESS_MS = 1_000; // a press older than this is not the one that began a turn: it was begun by a script
const ASK = ".omni-run, .omni-sample";
const HUSH = ".omni-run, .omni-sample, .omni-stop, .omni-clear";

const tapped = new URLSearchParams(location.search).has("tap") || Boolean(/** @type {any} */ (window).omniTap);
const player = new Player({ tap: tapped });
/** @type {Map<string, Stage>} */
const stages = new Map();
/** The components' own properties, by stage. @type {Map<string, {value: any}>} */
const values = new Map();
let begun = 0;
let pressed = -Infinity;
let asked = { by: /** @type {Element | null} */ (null), at: 0 };

player.changed = () => stages.forEach((stage) => stage.draw());

const sheet = document.createElement("link");
sheet.rel = "stylesheet";
sheet.href = new URL("./stage.css", import.meta.url).href;
document.head.append(sheet);

const omni = {
  /** @param {string} id */
  begin(id) {
    const now = performance.now();
    player.unlock();
    player.stop();
    stages.get(id)?.begin(now - pressed < PRESS_MS ? pressed : now);
    // Gradio passes on only what differs from the value before: without this, the same refusal twice would leave the second press waiting.
    const props = values.get(id);
    begun += 1;
    if (props) props.value = { ...WAITING, begun };
  },
  /** @param {string} id */
  stop(id) {
    stages.get(id)?.stop();
  },
  /** @param {string} id */
  clear(id) {
    stages.get(id)?.clear();
  },
  /** @param {import("./texts.js").Texts} texts */
  speak(texts) {
    stages.forEach((stage) => stage.speak(texts));
  },
  tap: () => player.tap(),
  player,
  /**
   * @param {HTMLElement} element
   * @param {string} id
   * @param {{value: any, texts: import("./texts.js").Texts}} props
   * @param {(names: string, then: () => void) => void} watch
   */
  mount(element, id, props, watch) {
    const root = /** @type {HTMLElement} */ (element.querySelector(".omni-stage"));
    const stage = new Stage(root, props.texts, player);
    stages.set(id, stage);
    values.set(id, props);
    stage.value(props.value);
    watch("value", () => stage.value(props.value));
    watch("texts", () => stage.speak(props.texts));
  },
};
/** @type {any} */ (window).omni = omni;

/**
 * What cannot wait until the page has passed a press on to `begin` or `stop`: only a gesture may start sound, and silence is due at once.
 * @param {Event} event
 */
function gesture(event) {
  player.unlock();
  if (event.type !== "click" || !(event.target instanceof Element)) return;
  const { target, timeStamp } = event;
  pressed = timeStamp;
  const ask = target.closest(ASK);
  if (ask && ask === asked.by && timeStamp - asked.at < DOUBLE_MS) {
    event.stopImmediatePropagation();
    event.preventDefault();
    return;
  }
  if (ask) asked = { by: ask, at: timeStamp };
  if (target.closest(HUSH)) player.stop();
}
for (const type of ["pointerdown", "keydown", "click"]) addEventListener(type, gesture, { capture: true });

/** @param {string} selector */
const visible = (selector) =>
  /** @type {HTMLElement | undefined} */ (
    [...document.querySelectorAll(selector)].find((element) => /** @type {HTMLElement} */ (element).offsetParent !== null)
  );

/** A class may stand on a button or around it. @param {string} selector */
function press(selector) {
  const found = visible(selector);
  (found?.matches("button") ? found : found?.querySelector("button") ?? found)?.click();
}

addEventListener("keydown", (event) => {
  if (event.key === "Enter" && (event.ctrlKey || event.metaKey)) {
    event.preventDefault();
    if (!event.repeat) press(".omni-run");
  } else if (event.key === "Escape" && !event.isComposing) press(".omni-stop");
});

addEventListener("omni:retry", (event) => queueMicrotask(() => event.defaultPrevented || press(".omni-run")));

// Whoever closes the page leaves nothing running on the server.
addEventListener("pagehide", () => {
  for (const { view } of stages.values()) if (view.turn && live(view)) tellServer(view.turn, "stop");
});

export default omni;
