"""Which language a request's reader wants. The page's first script decides by the same rule (``ui/head.py``)."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Literal

from ui.turn.parts import Language

COOKIE = "omni_lang"


def language_of(cookies: Mapping[str, str], accept_language: str, first: Literal["auto", "zh", "en"]) -> Language:
    """The switch on the page (a cookie), else ``--lang``, else the browser's first language; anything but Chinese reads English."""
    chosen = cookies.get(COOKIE)
    if chosen in ("zh", "en"):
        return "zh" if chosen == "zh" else "en"
    if first != "auto":
        return first
    return "zh" if accept_language.strip().lower().startswith("zh") else "en"
