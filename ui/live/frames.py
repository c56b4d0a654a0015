"""A frame of the server → a JSON object that everything of ours can hold, log and pass on."""

from __future__ import annotations

import json
import math
import re
from typing import Any

_DEEPEST = 64  # levels; an answer's events have eight, and what walks through one (the log) must come to an end
_SHOWN = 200  # characters of what is no JSON
_HALF = re.compile(r"\\u[dD][89a-fA-F]")


def decode(frame: str | bytes) -> dict[str, Any]:
    """A frame as a JSON object; what is none, or is nested beyond all sense, comes back as ``{"type": "", "text": its
    beginning}``. Raises nothing: NaN and its kin become None, halves of a character (no UTF-8 can hold them) "?"."""
    try:
        text = frame if isinstance(frame, str) else frame.decode()
        event = json.loads(text, parse_constant=_number, parse_float=_number)
        if _HALF.search(text):
            event = json.loads(json.dumps(event, ensure_ascii=False).encode(errors="replace"))
    except (ValueError, RecursionError):
        event = None
    return event if isinstance(event, dict) and _shallow(event) else {"type": "", "text": repr(frame[:_SHOWN])}


def _number(text: str) -> float | None:
    return number if math.isfinite(number := float(text)) else None


def _shallow(value: Any) -> bool:
    level, depth = [value], 0
    while level := [each for each in level if isinstance(each, dict | list)]:
        depth += 1
        if depth > _DEEPEST:
            return False
        level = [child for each in level for child in (each.values() if isinstance(each, dict) else each)]
    return True
