"""A text in the pieces a stream sends, and the limit on how many of them an answer may have."""

from __future__ import annotations

import re
from collections.abc import Callable

from launch.rehearsal.brain.brain import Token

_PIECE = re.compile(r"\s*[\u3000-\u9fff\uff00-\uffef]|\s*[^\s\u3000-\u9fff\uff00-\uffef]+|\s+$")


def tokens(text: str) -> list[str]:
    """Pieces that join to the text again, about those of a tokenizer: a word with the space before it, or one Chinese
    character."""
    return _PIECE.findall(text)


class Writer:
    """Sends an answer's tokens, at most ``limit`` of them."""

    def __init__(self, send: Callable[[Token], None], limit: int | None) -> None:
        self._send = send
        self.left = limit

    @property
    def is_full(self) -> bool:
        return self.left is not None and self.left <= 0

    def write(self, text: str) -> None:
        """A text as its pieces."""
        for piece in tokens(text):
            self.token(piece)

    def token(self, piece: str) -> None:
        """A piece that is one token already; nothing when the limit is reached."""
        if not self.is_full:
            self._send(Token(piece))
            self.left = None if self.left is None else self.left - 1
