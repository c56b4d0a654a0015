"""A text in the pieces a stream sends: about what a tokenizer would make of it."""

from __future__ import annotations

import re

_PIECE = re.compile(r"\s*[\u3000-\u9fff\uff00-\uffef]|\s*[^\s\u3000-\u9fff\uff00-\uffef]+|\s+$")


def tokens(text: str) -> list[str]:
    """Pieces that join to the text again: a word with the space before it, or one Chinese character."""
    return _PIECE.findall(text)
