// @ts-check
/**
 * The last minute on a canvas, now at the right edge: above, what the microphone heard (dark where the server took it for speech); in the
 * middle one mark a second, hollow for listening and full for speaking; below, where the model's voice could be heard; interruptions as lines.
 */
import { SPAN } from "./rhythm.js";

const DOT = 4; // px radius; sixty of them fit on a phone
const FULL = 0.18; // rms that fills the microphone's lane: a near, loud voice

export class Timeline {
  constructor() {
    this.canvas = document.createElement("canvas");
    this.canvas.className = "omni-live-time";
    this.canvas.setAttribute("role", "img");
    this.drawn = 0;
  }

  /**
   * @param {import("./rhythm.js").Rhythm} rhythm
   * @param {number} now seconds
   */
  draw(rhythm, now) {
    const { clientWidth: width, clientHeight: height } = this.canvas;
    const pen = this.canvas.getContext("2d");
    if (!width || !pen) return;
    const scale = devicePixelRatio || 1;
    const [w, h] = [Math.round(width * scale), Math.round(height * scale)];
    if (this.canvas.width !== w || this.canvas.height !== h) Object.assign(this.canvas, { width: w, height: h });
    pen.setTransform(scale, 0, 0, scale, 0, 0);
    pen.clearRect(0, 0, width, height);
    const style = getComputedStyle(this.canvas);
    const [live, bar, soft, warn] = ["--live", "--bar", "--soft", "--warn"].map((name) => style.getPropertyValue(name));
    const seconds = Math.min(SPAN, Math.max(20, width / 16)); // dots never touch
    const x = (/** @type {number} */ at) => width - DOT - 1 - ((now - at) / seconds) * (width - 2 * DOT - 2);
    const [mine, middle, voice] = [height * 0.24, height * 0.56, height * 0.86];
    const lane = height * 0.4;

    pen.fillStyle = bar;
    for (const y of [mine, voice]) pen.fillRect(0, y - 0.5, width, 1);
    for (const { at, rms } of rhythm.levels) {
      if (x(at) < 0) continue;
      const size = Math.max(1, Math.min(1, rms / FULL) * lane);
      const spoken = rhythm.mine.some((one) => at >= one.at && at <= (one.until ?? now));
      pen.fillStyle = spoken ? soft : bar;
      pen.fillRect(x(at) - 1, mine - size / 2, 2, size);
    }
    for (const { at, what } of rhythm.decisions) {
      if (x(at) < DOT) continue;
      pen.beginPath();
      pen.arc(x(at), middle, what === "speak" ? DOT : DOT - 0.75, 0, 2 * Math.PI);
      pen.fillStyle = live;
      pen.strokeStyle = soft;
      pen.lineWidth = 1.5;
      if (what === "speak") pen.fill();
      else pen.stroke();
    }
    pen.fillStyle = live;
    for (const one of rhythm.voice) {
      const [from, to] = [Math.max(0, x(one.at)), x(one.until ?? now)];
      if (to < 0) continue;
      pen.beginPath();
      pen.roundRect(from, voice - 3, Math.max(2, to - from), 6, 3);
      pen.fill();
    }
    pen.fillStyle = warn;
    for (const { at } of rhythm.marks) if (x(at) > 0) pen.fillRect(x(at) - 0.75, middle - 8, 1.5, height - middle + 8);
  }
}
