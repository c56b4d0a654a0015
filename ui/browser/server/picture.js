// @ts-check
/** A layout as a picture: its cards, and the stages on them. */
import { make } from "../texts.js";
import { word } from "./labels.js";

const UNLIMITED = 999;

/** @param {any} layout a row of `python -m launch layouts --json` */
export function picture(layout) {
  const boxes = Array.from({ length: layout.cards }, (_, number) => {
    const on = layout.stages.filter((/** @type {any} */ stage) => stage.cards.includes(number));
    const stages = on.map((/** @type {any} */ stage) => {
      const chip = make("span", "omni-server-stage", [word(`stage.s${stage.stage}`)]);
      chip.dataset.stage = String(stage.stage);
      return chip;
    });
    return make("div", "omni-server-box", [make("span", "omni-server-small", [word("picture.card", { number })]), ...stages]);
  });
  const row = boxes.length ? boxes : [make("p", "omni-server-small", [word("picture.none")])];
  const count = (/** @type {number} */ number) => (number >= UNLIMITED ? word("picture.unlimited") : number);
  const { images, audios, sessions } = layout.limits;
  const facts = [
    layout.session_mode === "duplex" ? word("picture.duplex", { sessions }) : word("picture.turn"),
    word("picture.images", { count: count(images) }),
    word("picture.audios", { count: count(audios) }),
  ];
  const box = make("div", "omni-server-picture", [make("div", "omni-server-row-of-cards", row), make("p", "omni-server-small", [facts.join(" · ")])]);
  if (layout.missing) box.append(make("p", "omni-server-small omni-server-warn", [word("picture.missing", { file: layout.missing })]));
  return box;
}
