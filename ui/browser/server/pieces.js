// @ts-check
/** What several parts of the tab are made of: buttons, copyable lines, findings, a question before something is done. */
import { make, prose } from "../texts.js";
import { word } from "./labels.js";

/** @param {string} name class @param {string} text @param {() => void} press */
export function button(name, text, press) {
  const it = make("button", name, [text]);
  it.type = "button";
  it.addEventListener("click", press);
  return it;
}

/** A line to copy. @param {string} line */
export function copyable(line) {
  const copy = button("omni-server-copy", word("start.copy"), async () => {
    await navigator.clipboard?.writeText(line).catch(() => {});
    copy.textContent = word("start.copied");
    setTimeout(() => (copy.textContent = word("start.copy")), 1_500);
  });
  const code = make("code", "", [line]);
  code.tabIndex = 0;
  return make("div", "omni-server-line", [code, copy]);
}

/**
 * A finding of the launcher.
 * @param {{severity: string, what?: string, cause: string, cure: string}} told
 */
export function finding({ severity, what, cause, cure }) {
  const box = make("div", "omni-server-finding", [make("b", "", prose(what || cause))]);
  box.dataset.severity = severity;
  if (what) box.append(make("p", "", [make("span", "", [word("doctor.cause")]), " ", ...prose(cause)]));
  box.append(make("p", "", [make("span", "", [word("doctor.cure")]), " ", ...prose(cure)]));
  return box;
}

/**
 * Asks in place, and does it on Yes. @param {HTMLElement} place @param {string} question @param {() => void} act
 */
export function confirm(place, question, act) {
  const leave = () => place.replaceChildren();
  const yes = button("omni-server-button omni-server-yes", word("yes"), () => {
    leave();
    act();
  });
  const no = button("omni-server-button", word("no"), leave);
  const box = make("div", "omni-server-sure", [make("span", "", [question]), yes, no]);
  box.setAttribute("role", "alertdialog");
  place.replaceChildren(box);
  no.focus();
}

/** What the launcher said of an order that failed, else null. @param {any} answer */
export function failure(answer) {
  if (answer?.refused) return finding({ severity: "fatal", cause: word("barred.title"), cure: "" });
  return answer?.error ? finding(answer.error) : null;
}
