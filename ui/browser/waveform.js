// @ts-check
/** The voice's outline as bars, with the playhead; press anywhere to play from there. Drawn on a canvas in the colours of the page. */
import { SLOT } from "./peaks.js";
import { RATE } from "./tape.js";

const BAR = 3; // px wide, 2 px apart: single bars are still told apart from the back of a room
const STEP = 5;
const LEAST = 3; // px; silence is a row of dots, so that the length of an answer shows
const FULL = 0.25; // peak that fills the height at least: an ordinary voice does, a faint one looks faint

export class Waveform {
  /**
   * @param {HTMLElement} box gets the canvas, and is the slider
   * @param {(seconds: number) => void} seek
   */
  constructor(box, seek) {
    this.box = box;
    this.canvas = document.createElement("canvas");
    this.canvas.setAttribute("aria-hidden", "true");
    box.append(this.canvas);
    this.seconds = 0;
    this.known = 0;
    /** @type {number[]} */
    this.peaks = [];
    this.loudest = 0;
    this.played = 0;
    this.box.addEventListener("click", (event) => {
      const { left, width } = box.getBoundingClientRect();
      this.#jump(((event.clientX - left) / width) * this.seconds, seek);
    });
    this.box.addEventListener("keydown", (event) => {
      const step = { ArrowLeft: -1, ArrowRight: 1, PageDown: -5, PageUp: 5 }[event.key];
      const to = event.key === "Home" ? 0 : event.key === "End" ? this.known : step && this.played + step;
      if (to === undefined) return;
      event.preventDefault();
      this.#jump(to, seek);
    });
    new ResizeObserver(() => this.draw()).observe(box);
    matchMedia("(prefers-color-scheme: dark)").addEventListener("change", () => this.draw());
    new MutationObserver(() => this.draw()).observe(document.body, { attributes: true, attributeFilter: ["class"] });
  }

  /**
   * @param {number} to seconds
   * @param {(seconds: number) => void} seek
   */
  #jump(to, seek) {
    if (this.known > 0) seek(Math.max(0, Math.min(to, this.known - 0.01)));
  }

  /**
   * @param {import("./caption.js").Outline} outline
   * @param {number} played seconds heard
   * @param {number} seconds length of the whole, known or estimated
   */
  show({ peaks, loudest }, played, seconds) {
    Object.assign(this, { peaks, loudest, played });
    this.known = (peaks.length * SLOT) / RATE;
    this.seconds = Math.max(seconds, this.known);
    this.box.setAttribute("aria-valuemax", this.known.toFixed(1));
    this.box.setAttribute("aria-valuenow", played.toFixed(1));
    this.draw();
  }

  draw() {
    const { clientWidth: width, clientHeight: height } = this.box;
    if (!width || !height) return;
    const { canvas } = this;
    const scale = devicePixelRatio || 1;
    if (canvas.width !== Math.round(width * scale) || canvas.height !== Math.round(height * scale)) {
      canvas.width = Math.round(width * scale);
      canvas.height = Math.round(height * scale);
    }
    const pen = canvas.getContext("2d");
    if (!pen) return;
    const style = getComputedStyle(this.box);
    const heard = style.getPropertyValue("--live");
    const ahead = style.getPropertyValue("--bar");
    pen.setTransform(scale, 0, 0, scale, 0, 0);
    pen.clearRect(0, 0, width, height);
    const bars = Math.floor((width + STEP - BAR) / STEP);
    const slots = (this.seconds * RATE) / SLOT;
    const full = Math.max(FULL, this.loudest);
    for (let bar = 0; bar < bars; bar += 1) {
      const from = Math.floor((bar * slots) / bars);
      const to = Math.max(from + 1, Math.floor(((bar + 1) * slots) / bars));
      let peak = 0;
      for (let slot = from; slot < to && slot < this.peaks.length; slot += 1) peak = Math.max(peak, this.peaks[slot]);
      const size = Math.max(LEAST, (peak / full) * height);
      pen.fillStyle = bar / bars < this.played / (this.seconds || 1) ? heard : ahead;
      pen.beginPath();
      pen.roundRect(bar * STEP, (height - size) / 2, BAR, size, BAR / 2);
      pen.fill();
    }
  }
}
