"""What stands in the page's ``<head>`` before Gradio's bundle: the language, the texts, the style, our modules."""

from __future__ import annotations

import json
from typing import Literal

from ui.reader import COOKIE
from ui.samples import samples
from ui.texts import Texts
from ui.turn.parts import Language

# The first script: the language, before anything is drawn (the same rule as ``ui/reader.py``). Gradio's own words follow the navigator's
# language and cannot be switched, so it is told English, and ``language.js`` turns them like all others.
_FIRST = """<script>(() => {
  const first = %s, chosen = document.cookie.match(/(?:^|; )%s=(zh|en)/)?.[1];
  const browser = navigator.language.toLowerCase().startsWith("zh") ? "zh" : "en";
  document.documentElement.dataset.language = chosen ?? (first === "auto" ? browser : first);
  Object.defineProperty(navigator, "language", { get: () => "en" });
  Object.defineProperty(navigator, "languages", { get: () => ["en"] });
})()</script>"""


def head(t: Texts, first: Literal["auto", "zh", "en"]) -> str:
    """The HTML. ``first``: the page's language for a reader who has not chosen one."""
    words = {"zh": _page(t, "zh"), "en": _page(t, "en"), "pairs": list(pairs(t).items())}
    # "<" is the only letter with which JSON could end its own script element.
    data = json.dumps(words, ensure_ascii=False, separators=(",", ":")).replace("<", "\\u003c")
    return (
        _FIRST % (json.dumps(first), COOKIE)
        + f'<script type="application/json" id="omni-texts">{data}</script>'
        + '<link rel="icon" href="./omni/icon.svg" type="image/svg+xml">'
        + '<link rel="stylesheet" href="./omni/page.css">'
        + "".join(f'<script type="module" src="./omni/{name}.js"></script>' for name in ("language", "omni", "page"))
    )


def _page(t: Texts, language: Language) -> dict[str, str]:
    """What scripts say by key. The terminal's and the endpoints' sentences are no business of the page."""
    return {
        key: text
        for key, text in t.table(language).items()
        if key.startswith(("pill.", "stage.", "duplex.", "server."))
    }


def pairs(t: Texts) -> dict[str, str]:
    """English → Chinese for every text that is shown as it stands, and for Gradio's sentences with ``{places}``.

    Raises ``ValueError`` when one English text has two Chinese ones.
    """
    found: dict[str, str] = {}
    shown = [key for key in t.table("en") if key.startswith("gradio.") or not (_elsewhere(key) or "{" in t(key))]
    both = [(t(key), t(key, "zh"), key) for key in shown]
    for sample in samples().values():
        both += [(words["en"], words["zh"], sample.id) for words in (sample.title, sample.note)]
    for english, chinese, key in both:
        if found.setdefault(english, chinese) != chinese:
            raise ValueError(f"{key}: {english!r} is {found[english]!r} elsewhere, {chinese!r} here")
    return found


def _elsewhere(key: str) -> bool:
    """Said by key (the stage, the duplex tab), or not on the page at all (the terminal, the endpoints)."""
    return key.startswith(("stage.", "duplex.", "server.", "launch.", "console.", "api."))
