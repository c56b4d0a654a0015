// @ts-check
/**
 * The server tab: what runs on this machine, a start, a check-up, and the way to see the page from elsewhere.
 *
 * Asked by plain GET while the tab is in sight, carried out by POST (ui/control/routes.py). Nothing here rides Gradio's queue.
 */
import { make } from "../texts.js";
import { CheckUp } from "./checkup.js";
import { get } from "./asking.js";
import { word } from "./labels.js";
import { Running } from "./running.js";
import { StartForm } from "./start.js";
import { Tunnel } from "./tunnel.js";

const EVERY_MS = 2_000; // a start takes minutes and changes every few seconds; each look costs the app about 20 ms

const sheet = document.createElement("link");
sheet.rel = "stylesheet";
sheet.href = new URL("../server.css", import.meta.url).href;
document.head.append(sheet);

class ServerRoom {
  /** @param {HTMLElement} root */
  constructor(root) {
    this.root = root;
    this.lost = make("p", "omni-server-note");
    this.lost.hidden = true;
    this.running = new Running(() => this.look());
    this.start = new StartForm(() => this.look());
    this.checkup = new CheckUp(() => this.start.wanted);
    this.tunnel = new Tunnel();
    root.replaceChildren(
      this.lost,
      make("div", "omni-server-left", [this.running.box, this.checkup.box]),
      make("div", "omni-server-right", [this.start.box, this.tunnel.box]),
    );
    addEventListener("omni:language", () => this.#begin());
    this.#begin();
    setInterval(() => this.#seen() && this.look(), EVERY_MS);
  }

  #seen() {
    return !document.hidden && this.root.offsetParent !== null;
  }

  /** Everything that does not change by itself. */
  async #begin() {
    for (const part of [this.running, this.start, this.checkup, this.tunnel]) part.label();
    this.lost.textContent = word("lost");
    const control = await get("control");
    if (control) {
      this.start.show(control);
      this.running.allow(control.why_not === null, control.server);
    }
    await this.look();
  }

  async look() {
    const status = await get("control/status");
    this.lost.hidden = status !== null;
    if (status) this.running.show(status);
  }
}

/** @param {HTMLElement} element what Gradio draws the template into */
export function mount(element) {
  new ServerRoom(/** @type {HTMLElement} */ (element.querySelector(".omni-server") ?? element));
}
