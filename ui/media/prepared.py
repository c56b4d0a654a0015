"""What an upload became: the parts the model takes, what the file is, and what the user should know about it."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Literal

from launch.errors import MediaError
from launch.faults import Explanation, explain
from ui.turn.parts import Audio, Image, Video

Kind = Literal["image", "audio", "video"]
Medium = Image | Audio | Video

SHOWN_NAME = 80  # characters of an upload's name that are shown: one line of the page


@dataclass(frozen=True)
class Notice:
    """The upload was taken, but not just as it was. ``key``: id in deploy/faults.yaml; ``facts``: values for its sentences."""

    key: str
    facts: Mapping[str, Any] = field(default_factory=dict)

    def told(self, language: str) -> Explanation:
        """Its sentences in "zh" or "en"."""
        return explain(MediaError(self.key, **self.facts), language)


@dataclass(frozen=True)
class Prepared:
    """An upload as parts, and facts about the file.

    ``width``, ``height``: pixels of the upright picture before any bounding (a video's as stored, before its pixel aspect);
    ``duration_s``: of the whole presentation; ``frames_1fps``: its started seconds; ``seconds``: for interleaved parts, which
    second each (picture, sound) pair shows. ``None`` where a kind has no such fact.
    """

    kind: Kind
    parts: tuple[Medium, ...]
    name: str = ""
    width: int | None = None
    height: int | None = None
    duration_s: float | None = None
    frames_1fps: int | None = None
    has_audio: bool | None = None
    notices: tuple[Notice, ...] = ()
    seconds: tuple[int, ...] = ()


def shown_name(path: Path, name: str | None) -> str:
    """A name to be shown, and for nothing else: the last part of what the client claimed, one line, at most 80 characters.

    Files written to disk are never named after it.
    """
    last = re.split(r"[/\\]", name or path.name)[-1]
    clean = "".join(letter for letter in last if letter.isprintable()).strip()
    if len(clean) <= SHOWN_NAME:
        return clean
    tail = 12  # keeps an extension
    return f"{clean[: SHOWN_NAME - tail - 1]}…{clean[-tail:]}"
