// The page's language. The server renders English; every text that is one of ours becomes Chinese here, and back, without the server and without a reload.
//
//   <html data-language="zh|en">        what the page speaks now (set by the first script of the page, before the bundle)
//   window "omni:language"               fired after a switch; detail = {language}
//   t(key, values)                       a sentence of assets/texts in the page's language
//   texts(room)                         all sentences whose key begins with "room."
//   setLanguage(language)                the switch; remembered in a cookie, which the server reads for its own sentences
//
// A text node (or a placeholder, a label, a tooltip) is ours when the whole of it stands in the table. What people and the model write is never touched:
// it lives in fields, or under [data-verbatim].

const { zh, en, pairs } = JSON.parse(document.getElementById("omni-texts").textContent);
const ATTRIBUTES = ["placeholder", "aria-label", "title", "alt"];
const VERBATIM = "[data-verbatim], .omni-stage, script, style, textarea";
const fromEnglish = new Map(pairs);
// Sentences of Gradio's with something of the moment in them: "{size}" stands for any words.
const places = /\\\{(\w+)\\\}/g;
const literal = (text) => text.replace(/[.*+?^${}()|[\]\\]/g, "\\$&");
const patterns = pairs
  .filter(([source]) => /\{\w+\}/.test(source))
  .map(([source, target]) => [new RegExp(`^${literal(source).replace(places, "(?<$1>.+)")}$`, "s"), target]);
const english = new WeakMap(); // text node, or element → attribute → the English it was rendered with

const html = document.documentElement;
export const language = () => html.dataset.language;

// Gradio writes its own locale there; screen readers must read ours.
const keep = () => html.lang !== language() && (html.lang = language());
new MutationObserver(keep).observe(html, { attributes: true, attributeFilter: ["lang"] });
keep();

export function t(key, values = {}) {
  const sentence = (language() === "zh" ? zh : en)[key] ?? key;
  return sentence.replace(/\{(\w+)\}/g, (whole, name) => (name in values ? String(values[name]) : whole));
}

// The sentences under one key, by the rest of the key.
export function texts(room) {
  const table = language() === "zh" ? zh : en;
  const start = `${room}.`;
  return Object.fromEntries(Object.entries(table).filter(([key]) => key.startsWith(start)));
}

export function setLanguage(next) {
  if (next === language()) return;
  html.dataset.language = next;
  keep();
  document.cookie = `omni_lang=${next};path=/;max-age=31536000;samesite=lax`;
  translate(document.body);
  window.dispatchEvent(new CustomEvent("omni:language", { detail: { language: next } }));
}

function filled(words) {
  for (const [pattern, target] of patterns) {
    const found = words.match(pattern);
    if (found) return target.replace(/\{(\w+)\}/g, (_, name) => found.groups[name]);
  }
}

function spoken(source) {
  const words = source.trim();
  const target = fromEnglish.get(words) ?? filled(words);
  if (target === undefined) return null;
  return language() === "zh" ? source.replace(words, () => target) : source;
}

// `known` is what we wrote last: anything else in the node was put there since, and is the new English.
function turn(remembered, current, write) {
  const source = remembered && current === remembered.written ? remembered.source : current;
  const target = spoken(source);
  if (target === null) return null;
  if (target !== current) write(target);
  return { source, written: target };
}

function translateText(node) {
  if (!node.data.trim() || node.parentElement?.closest(VERBATIM)) return;
  const memory = turn(english.get(node), node.data, (text) => (node.data = text));
  if (memory) english.set(node, memory);
}

function translateAttributes(element) {
  if (element.closest("[data-verbatim], .omni-stage")) return;
  for (const name of ATTRIBUTES) {
    const current = element.getAttribute(name);
    if (!current) continue;
    const memories = english.get(element) ?? {};
    const memory = turn(memories[name], current, (text) => element.setAttribute(name, text));
    if (memory) english.set(element, { ...memories, [name]: memory });
  }
}

function translate(root) {
  if (root.nodeType === Node.TEXT_NODE) return translateText(root);
  if (root.nodeType !== Node.ELEMENT_NODE) return;
  const walker = document.createTreeWalker(root, NodeFilter.SHOW_ELEMENT | NodeFilter.SHOW_TEXT);
  for (let node = root; node; node = walker.nextNode()) {
    if (node.nodeType === Node.TEXT_NODE) translateText(node);
    else translateAttributes(node);
  }
}

new MutationObserver((changes) => {
  for (const { type, target, addedNodes } of changes) {
    if (type === "childList") addedNodes.forEach(translate);
    else if (type === "characterData") translateText(target);
    else translateAttributes(target);
  }
}).observe(html, {
  subtree: true,
  childList: true,
  characterData: true,
  attributes: true,
  attributeFilter: ATTRIBUTES,
});
translate(document.body);

document.addEventListener("click", (event) => {
  const choice = event.target.closest?.("[data-language]");
  if (choice) setLanguage(choice.dataset.language);
});
