"""A client's message → an event, or nothing: what no JSON reader should hand on never reaches a session."""

from __future__ import annotations

import json
import math
import re
from typing import Any

DEEPEST = (
    32  # levels; the deepest event of the protocol has five, and Python's own limit ends in the middle of an answer
)
_ESCAPED_HALF = re.compile(r"\\u[dD][89a-fA-F]")
Event = dict[str, Any]


def event_of(text: str) -> Event | None:
    """The event; ``None`` when it is JSON, but no object.

    Raises ``ValueError`` for anything else, and for what some readers take for JSON: NaN and its kin, numbers beyond a
    float, halves of a character (no UTF-8 can hold them), nesting beyond ``DEEPEST``.
    """
    try:
        event = json.loads(text, parse_constant=_finite, parse_float=_finite)
    except RecursionError as error:
        raise ValueError("nested too deep") from error
    _shallow(event)
    if _ESCAPED_HALF.search(text):
        json.dumps(event, ensure_ascii=False).encode()
    return event if isinstance(event, dict) else None


def _finite(text: str) -> float:
    if not math.isfinite(number := float(text)):
        raise ValueError(f"{text} is no number")
    return number


def _shallow(value: Any) -> None:
    level, depth = [value], 0
    while level := [each for each in level if isinstance(each, dict | list)]:
        depth += 1
        if depth > DEEPEST:
            raise ValueError("nested too deep")
        level = [child for each in level for child in (each.values() if isinstance(each, dict) else each)]
