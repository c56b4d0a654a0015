"""What of the model's answers was really heard, and when: from the sound received and the player's marks."""

from __future__ import annotations

from dataclasses import dataclass, field

import numpy as np

from ui.live.moments import SPEECH_RATE

PER_MS = SPEECH_RATE // 1000
"""Samples a millisecond."""
_HELD_S = 300
"""Seconds of sound not heard yet that are kept: a model which is faster than speech is ahead by less in an answer of
minutes, and without a limit a page that never plays would fill the memory."""
_WHOLE_S = 0.04
"""An interval between two marks that lacks less than this was sound all through: marks come by timers, which wander."""


@dataclass(frozen=True)
class Piece:
    """``samples`` (int16) of an answer, from its sample ``first`` on, had been heard by ``at`` (seconds)."""

    at: float
    response: int
    first: int
    samples: np.ndarray


@dataclass
class _Answer:
    pcm: bytearray = field(default_factory=bytearray)
    """Sound from sample ``taken`` on."""
    taken: int = 0
    at: float | None = None
    """Time of the last mark."""
    sounding: bool = False
    """Whether it was playing at the last mark, as far as marks can tell."""


class Heard:
    """Marks are cumulative within an answer and come every 250 ms while it plays, when it goes on after a stall, and at
    its end (the page's deck: that last one a device's delay before the ear, some 10 ms).

    The rule: the new sound of a mark lies between the mark before and this one. Where it fills that time there is
    nothing to decide. Where it does not, it came first if the answer was sounding at the mark before (it went on, then
    stalled), else last (it was at rest, then went on). So beginning, end, and each stall and resumption in intervals of
    their own are exact; only sound that stops *and* goes on between two marks is misplaced, by the length of that stop,
    which is less than the interval: 250 ms with the page's marks.
    """

    def __init__(self) -> None:
        self._answers: dict[int, _Answer] = {}

    def speech(self, response: int, pcm: bytes) -> None:
        """Sound of an answer has come (s16le mono 24 kHz)."""
        self._answers.setdefault(response, _Answer()).pcm += pcm
        over = sum(len(one.pcm) for one in self._answers.values()) // 2 - _HELD_S * SPEECH_RATE
        for one in self._answers.values():
            if over > 0:
                lost = min(over, len(one.pcm) // 2)
                del one.pcm[: lost * 2]
                one.taken += lost
                over -= lost

    def mark(self, at: float, response: int, ms: float) -> Piece | None:
        """The player has played ``ms`` of an answer by ``at``; what that adds. Answers before it are over: forgotten."""
        for earlier in [number for number in self._answers if number < response]:
            del self._answers[earlier]
        answer = self._answers.get(response)
        if answer is None:
            return None
        count = min(round(ms * PER_MS) - answer.taken, len(answer.pcm) // 2)
        before, answer.at = answer.at, at
        if count <= 0:
            answer.sounding = False
            return None
        seconds = count / SPEECH_RATE
        end = at
        if answer.sounding and before is not None:
            end = min(at, before + seconds)
            answer.sounding = at - end < _WHOLE_S
        else:
            answer.sounding = True
        piece = Piece(end, response, answer.taken, np.frombuffer(bytes(answer.pcm[: count * 2]), "<i2"))
        del answer.pcm[: count * 2]
        answer.taken += count
        return piece
