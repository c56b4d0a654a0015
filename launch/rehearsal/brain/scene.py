"""A conversation as it was perceived: what each side typed, said and showed, and in which language to answer."""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import Literal

from launch.rehearsal.brain.clauses import is_chinese
from launch.rehearsal.brain.hear import Heard, Language
from launch.rehearsal.brain.see import Seen
from launch.rehearsal.brain.watch import Watched

Sensed = Heard | Seen | Watched


@dataclass(frozen=True)
class Turn:
    """What one side contributed. ``typed``: its text parts, joined."""

    role: Literal["user", "assistant"]
    typed: str
    sensed: tuple[Sensed, ...] = ()

    @property
    def heard(self) -> tuple[Heard, ...]:
        """The sounds, those of clips too."""
        sounds = (one.heard if isinstance(one, Watched) else one for one in self.sensed)
        return tuple(sound for sound in sounds if isinstance(sound, Heard))

    @property
    def shown(self) -> tuple[Seen | Watched, ...]:
        return tuple(one for one in self.sensed if not isinstance(one, Heard))

    @property
    def spoken(self) -> tuple[str, ...]:
        """What the user said to us: speech of recordings. That of a clip is a part of what it shows, not a question."""
        return tuple(one.text for one in self.sensed if isinstance(one, Heard) and one.text)

    @property
    def questions(self) -> tuple[str, ...]:
        """What may hold the question: the typed words, then the spoken ones."""
        return tuple(words for words in (self.typed.strip(), *self.spoken) if words)


@dataclass(frozen=True)
class Scene:
    """``persona``: the text of the system message. The last turn is the user's."""

    persona: str
    turns: tuple[Turn, ...]

    @property
    def last(self) -> Turn:
        return self.turns[-1]

    @property
    def earlier(self) -> tuple[Turn, ...]:
        return self.turns[:-1]

    @property
    def is_first(self) -> bool:
        """Whether nothing was answered yet."""
        return not any(turn.role == "assistant" for turn in self.turns)

    @property
    def language(self) -> Language:
        """That of the words typed to us, by the user or as the system message; else of the speech heard."""
        if is_chinese(self.last.typed + self.persona):
            return "zh"
        if re.search(r"[A-Za-z]", self.last.typed):
            return "en"
        if spoken := [sound for sound in self.last.heard if sound.text]:
            return spoken[-1].language
        before = " ".join(turn.typed for turn in self.earlier if turn.role == "user")
        return "zh" if is_chinese(before) or not (before or self.persona) else "en"

    def shown(self) -> tuple[Seen | Watched, ...]:
        """The pictures and clips that a question is about: the last turn's, else the latest that were shown."""
        return next((turn.shown for turn in reversed(self.turns) if turn.shown), ())

    def heard(self) -> tuple[Heard, ...]:
        """The same for sounds."""
        return next((turn.heard for turn in reversed(self.turns) if turn.heard), ())
