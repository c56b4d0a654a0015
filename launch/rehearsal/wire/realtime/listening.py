"""When to answer: decided once a second, as the model does (protocol §4.5)."""

from __future__ import annotations

from typing import Literal

from launch.rehearsal.brain.brain import Detector

UNIT = 32_000  # bytes: a second of s16le mono at 16 kHz, what the model decides upon
PAUSE_S = 0.3  # quiet at the end of a unit: whoever paused for less is still talking
LEAST_S = 0.2  # of voice in all: less is a click or a cough
OVER_S = 0.3  # of voice in one unit over an answer: the user wants the floor; "mm-hm" is shorter
LONGEST = 30 * UNIT  # of one utterance; Whisper hears 30 s at once

Decision = Literal["listen", "answer"]


class Listener:
    """Collects what the user says until it is their turn no more."""

    def __init__(self, detector: Detector) -> None:
        self._detector = detector
        self._before = b""
        self._said = bytearray()
        self._voice_s = 0.0

    @property
    def waiting(self) -> bool:
        """Something was said that nobody has answered yet."""
        return bool(self._said)

    def hear(self, unit: bytes, *, last: bool = False) -> Decision:
        """What to do after ``unit``. ``last``: the client says that the user has finished. Takes some 50 ms."""
        heard = self._detector(unit)
        if not self._said and heard.voice_s == 0:
            self._before = unit  # a first syllable is often too soft to be noticed
            return "listen"
        if not self._said:
            self._said += self._before
        self._said += unit
        del self._said[:-LONGEST]
        self._voice_s += heard.voice_s
        if heard.quiet_s < PAUSE_S and not last:
            return "listen"
        if self._voice_s < LEAST_S:
            self._forget()
            return "listen"
        return "answer"

    def hear_over(self, unit: bytes) -> bool:
        """Whether the user talks over the answer: then what they say begins with ``unit``."""
        heard = self._detector(unit)
        if heard.voice_s < OVER_S:
            self._before = unit
            return False
        self._forget()
        self._said += unit
        self._voice_s = heard.voice_s
        return True

    def take(self) -> bytes:
        """What was said, s16le mono at 16 kHz; a new utterance begins."""
        said = bytes(self._said)
        self._forget()
        return said

    def _forget(self) -> None:
        self._said.clear()
        self._voice_s = 0.0
        self._before = b""
