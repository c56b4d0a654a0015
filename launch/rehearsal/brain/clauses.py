"""A text cut into what a voice says in one breath, and a breath cut by script, so that each voice gets what it can read."""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterator
from dataclasses import dataclass

from launch.rehearsal.brain.zh_numbers import UNITS

HAN = "\u3400-\u9fff\u3007"
PAUSES = {
    "。！？!?.…\n": 0.30,
    "；;：:—": 0.20,
    "，,": 0.12,
    "、": 0.06,
}  # seconds after a mark, near those of a calm reader
MARKS = "".join(PAUSES)
# ASCII marks end a clause only before a space, Chinese text or the end: not in 3.5, 12:30 or a/b.c
CUT = re.compile(rf"[。！？…\n；：—，、]+[”’」』）)\"]*|[.!?;:,]+[\"')]*(?=\s|$|[{HAN}])")
BREATH = 22  # units of text a voice says at once: about 4 s, half a second of work on a free core
FIRST_BREATH = 12  # the first one is cut finer, so that the sound starts early
LETTERS_PER_UNIT = 3  # a Chinese character takes as long as about three letters
NO_MARKUP = re.compile(r"[*_`#>|~]+(?=\S)|(?<=\S)[*_`#|]+|^\s*[-•]\s+", re.M)
SPOKEN_SYMBOLS = "°℃"  # the only symbols of Unicode's class So that are words, and not pictures
_AFTER_NUMBER = "|".join(sorted((unit for unit in UNITS if unit.isascii()), key=len, reverse=True))
# A Latin word with the digits that belong to it (GPT-4), but not a unit after a number, which is read in Chinese (5 km).
LATIN = re.compile(
    rf"(?<![A-Za-zÀ-ÿ])(?:(?<!\d)(?<!\d )|(?!(?:{_AFTER_NUMBER})(?![A-Za-z])))"
    r"[A-Za-zÀ-ÿ][A-Za-zÀ-ÿ0-9'’.+&/@:-]*(?:[ ,]+[A-Za-zÀ-ÿ][A-Za-zÀ-ÿ0-9'’.+&/@:-]*)*"
)


@dataclass(frozen=True)
class Clause:
    """One breath of text. ``pause``: seconds of silence after it."""

    text: str
    pause: float


def is_chinese(text: str) -> bool:
    """Whether a text is to be answered or read in Chinese: it has a Chinese character."""
    return re.search(f"[{HAN}]", text) is not None


def clean(text: str) -> str:
    """The text without markup and pictures, which no one reads aloud."""
    plain = NO_MARKUP.sub("", text)
    return "".join(c for c in plain if c in SPOKEN_SYMBOLS or unicodedata.category(c) not in ("So", "Cs", "Co", "Mn"))


def size(text: str) -> float:
    """How long a text is to say, in Chinese characters."""
    han = len(re.findall(f"[{HAN}0-9]", text))
    return han + (len(text.strip()) - han) / LETTERS_PER_UNIT


def clauses(text: str) -> Iterator[Clause]:
    """The text in breaths: cut at punctuation, short neighbours together, long ones apart; the first is short."""
    breath, limit = "", FIRST_BREATH
    for piece in _pieces(clean(text)):
        if breath and size(breath) + size(piece) > limit:
            yield Clause(breath, _pause(breath))
            breath, limit = "", BREATH
        breath += piece
    if breath.strip():
        yield Clause(breath, _pause(breath))


def _pieces(text: str) -> Iterator[str]:
    start = 0
    for cut in [*(match.end() for match in CUT.finditer(text)), len(text)]:
        piece, start = text[start:cut], cut
        while size(piece) > BREATH and (place := _middle(piece)):
            yield piece[:place]
            piece = piece[place:]
        if re.search(r"\w", piece):
            yield piece


def _middle(piece: str) -> int:
    """Where to cut a piece without punctuation that is too long: at the last space before the limit, else at the limit."""
    end = next(end for end in range(1, len(piece) + 1) if size(piece[:end]) > BREATH or end == len(piece))
    space = piece.rfind(" ", 1, end)
    return space if space > 0 else end - 1


def _pause(text: str) -> float:
    mark = next((character for character in reversed(text) if character in MARKS or character.isalnum()), "")
    return next((seconds for marks, seconds in PAUSES.items() if mark and mark in marks), 0.0)


def runs(text: str, chinese: bool) -> Iterator[tuple[str, str]]:
    """(language, text) in order. ``chinese``: digits and signs without a neighbour are read in Chinese."""
    if not is_chinese(text) and (not chinese or LATIN.search(text)):
        yield "en", text
        return
    start = 0
    for match in LATIN.finditer(text):
        if re.search(r"\w", text[start : match.start()]):
            yield "zh", text[start : match.start()]
        yield "en", match[0]
        start = match.end()
    if re.search(r"\w", text[start:]):
        yield "zh", text[start:]
