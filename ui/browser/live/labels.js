// @ts-check
/** Sentences under `duplex.` on what the page built, and on it again when the language changes. */
import { language, t } from "../language.js";
import { prose } from "../texts.js";

/** @type {[Element, string, string][]} */
const labelled = [];

/** @returns {"zh" | "en"} */
export const speaking = () => /** @type {any} */ (language());

/** @param {string} key @param {Record<string, string | number>} [facts] @returns {string} */
export const word = (key, facts = {}) => t(`duplex.${key}`, facts);

/**
 * `element` says `key` from now on, in whatever language.
 * @template {Element} E
 * @param {E} element
 * @param {string} key
 * @param {"text" | "title" | "aria-label" | "placeholder"} [where]
 */
export function label(element, key, where = "text") {
  const at = labelled.findIndex(([one, , place]) => one === element && place === where);
  if (at >= 0 && labelled[at][1] === key) return element;
  if (at >= 0) labelled[at][1] = key;
  else labelled.push([element, key, where]);
  put(element, key, where);
  return element;
}

/** @param {Element} element @param {string} key @param {string} where */
function put(element, key, where) {
  if (where === "text") element.replaceChildren(...prose(word(key)));
  else element.setAttribute(where, word(key));
}

addEventListener("omni:language", () => labelled.forEach((one) => put(...one)));
