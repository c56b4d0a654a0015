"""What is known of a turn before anyone phrases it."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True)
class Known:
    """``sentences`` are true, in order. ``answered``: a rule answered the question. ``is_open``: something of it is left."""

    sentences: tuple[str, ...]
    answered: bool
    is_open: bool
