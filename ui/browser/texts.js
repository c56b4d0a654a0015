// @ts-check
/** Sentences of the page, and how they are put on it: always as text, never as HTML. */

/** @typedef {Record<string, string>} Texts */

/**
 * @param {Texts} texts
 * @param {string} key
 * @param {Record<string, string | number>} [facts] for `{name}` places
 */
export function say(texts, key, facts = {}) {
  return (texts[key] ?? key).replace(/\{(\w+)\}/g, (place, name) => String(facts[name] ?? place));
}

/**
 * @template {keyof HTMLElementTagNameMap} K
 * @param {K} tag
 * @param {string} [name] class
 * @param {(Node | string)[]} [inside]
 * @returns {HTMLElementTagNameMap[K]}
 */
export function make(tag, name = "", inside = []) {
  const element = document.createElement(tag);
  if (name) element.className = name;
  element.append(...inside);
  return element;
}

/**
 * A sentence with `code` in it.
 * @param {string} text
 * @returns {(Node | string)[]}
 */
export function prose(text) {
  return text.split("`").map((piece, i) => (i % 2 ? make("code", "", [piece]) : piece));
}

/** Shows or hides. @param {HTMLElement} element @param {boolean} shown */
export function show(element, shown) {
  if (element.hidden === shown) element.hidden = !shown;
}

/** Sets text only when it differs: a live region speaks up, and a selection is lost, at every write. @param {Node} node @param {string} text */
export function write(node, text) {
  if (node.textContent !== text) node.textContent = text;
}
