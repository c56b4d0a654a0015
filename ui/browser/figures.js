// @ts-check
/** The row of figures: each a number, its unit, its name, and on hover what it means. Unknown is an em dash, never 0. */
import { make, say, write } from "./texts.js";

/** @typedef {Record<string, number | null>} Figures in ms, except rtf */

const ROW = /** @type {const} */ (["ttft", "ttfp", "first_sound", "rtf", "stall"]);

/** @param {number | null | undefined} ms @returns {[string, string]} */
function time(ms) {
  if (ms === null || ms === undefined) return ["—", ""];
  return ms < 1000 ? [String(Math.round(ms)), "ms"] : [(ms / 1000).toFixed(2), "s"];
}

export class FigureRow {
  constructor() {
    this.box = make("dl", "omni-figs");
    this.cells = ROW.map((name) => {
      const value = make("b");
      const unit = make("i");
      const label = make("dt");
      const cell = make("div", "", [label, make("dd", "", [value, unit])]);
      cell.dataset.figure = name;
      this.box.append(cell);
      return { name, cell, label, value, unit };
    });
  }

  /** @param {import("./texts.js").Texts} texts */
  label(texts) {
    for (const { name, cell, label } of this.cells) {
      write(label, say(texts, `stage.fig.${name}`));
      cell.title = say(texts, `stage.fig.${name}.help`);
    }
  }

  /** @param {Figures} figures */
  show(figures) {
    for (const { name, value, unit } of this.cells) {
      const [number, measure] = name === "rtf" ? [figures.rtf?.toFixed(2) ?? "—", ""] : time(figures[`${name}_ms`]);
      write(value, number);
      write(unit, measure);
    }
  }
}
