// The head of the page: the server pill, the rehearsal banner, the card with cause and cure. Asked by plain GET, so it works whatever
// happens to the queue, and recovers by itself.
//
//   GET server → {state, model, wire, round_trip_ms, rehearsal, loading, percent, fault: {zh|en: {cause, cure}} | null}   (ui/pill.py)

import { language, t, texts } from "./language.js";
import omni from "./omni.js";

const EVERY_MS = 2000; // fresh enough that a death is seen before the next question, one small GET each
const PATIENCE_MS = 5000; // the app itself waits 2 s for the server; more than twice that, and it is the app that is not there

let shown = null;

const get = (url) => fetch(url, { signal: AbortSignal.timeout(PATIENCE_MS), cache: "no-store" });

async function ask() {
  try {
    let answer = await get("server");
    if (answer.status === 403) {
      await get("./"); // the app was started anew, and our session is of the one before: its page brings a new one
      answer = await get("server");
    }
    if (!answer.ok) throw new Error(String(answer.status));
    return await answer.json();
  } catch {
    return { state: "lost", fault: { [language()]: { cause: t("pill.lost_cause"), cure: t("pill.lost_cure") } } };
  }
}

// A sentence of the catalogue: `code` in it is set as code, everything as text.
function prose(sentence) {
  return sentence.split("`").map((piece, i) => {
    if (i % 2 === 0) return piece;
    const code = document.createElement("code");
    code.textContent = piece;
    return code;
  });
}

function draw() {
  const pill = document.getElementById("omni-pill");
  if (!pill || !shown) return;
  const { state, model, wire, round_trip_ms, rehearsal, loading, percent, fault } = shown;
  pill.dataset.state = state;
  pill.querySelector("b").textContent = t(`pill.${state}`);
  const rest = [
    loading ? t("pill.loading", { what: loading }) : model,
    percent === null || percent === undefined ? null : `${percent} %`,
    wire,
    round_trip_ms === null || round_trip_ms === undefined ? null : t("pill.round_trip", { ms: Math.max(1, Math.round(round_trip_ms)) }),
  ];
  pill.querySelector("span:last-child").textContent = rest.filter(Boolean).join(" · ");
  const words = fault?.[language()] ?? Object.values(fault ?? {})[0];
  const card = document.getElementById("omni-server-card");
  card.hidden = !words;
  if (words) {
    const cause = document.createElement("b");
    cause.append(...prose(words.cause));
    card.replaceChildren(cause, " ", ...prose(words.cure));
  }
  if (state !== "lost") document.getElementById("omni-rehearsal").hidden = !rehearsal;
}

async function poll() {
  if (!document.hidden || !shown) {
    shown = await ask();
    draw();
  }
  setTimeout(poll, EVERY_MS);
}

// A stage's "again" presses its tab's Run by itself; a fault's own button presses the hidden one of its tab.
addEventListener("omni:action", (event) => {
  event.target.closest(".omni-main")?.querySelector(".omni-drop")?.click();
});
addEventListener("omni:language", draw);

// In one column the answer is below the fold: whoever asks is taken to it.
addEventListener("click", ({ target }) => {
  if (!target.closest?.(".omni-run, .omni-sample") || innerWidth > 720) return;
  const behavior = matchMedia("(prefers-reduced-motion: reduce)").matches ? "auto" : "smooth";
  target.closest(".omni-main").querySelector(".omni-stage-box").scrollIntoView({ behavior });
});

// A stage is mounted with what it shows in the page's language: its own texts, and of each value (ui/tabs/actions.py) the sentences in it.
const { mount } = omni;
omni.mount = (element, id, props, watch) => {
  const inLanguage = {
    get value() {
      return { ...props.value, ...props.value?.told?.[language()] };
    },
    set value(view) {
      props.value = view;
    },
    get texts() {
      return texts("stage");
    },
  };
  mount(element, id, inLanguage, (name, then) => {
    watch(name, then);
    addEventListener("omni:language", () => {
      const silent = name === "value" && !props.value?.fault && !props.value?.notices?.length;
      if (!silent) then();
    });
  });
};

poll();
