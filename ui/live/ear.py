"""A listener without a loudspeaker: hears answers at the pace at which they would be played, and says how far it is."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from ui.live.moments import Speech


@dataclass
class _Answer:
    response: int
    received_ms: float = 0.0
    heard_ms: float = 0.0
    over: bool = False


class Ear:
    """Answers one after the other, each from the moment its sound is there. ``heard(at, response, ms)`` is called with
    every step of the clock while it hears or waits inside an answer, and at the very end of each answer.

    An interruption forgets what of an answer was not heard yet. It has no task: whoever owns it calls ``advance``.
    """

    def __init__(self, heard: Callable[[float, int, float], None]) -> None:
        self._heard = heard
        self._now = 0.0
        self._answers: list[_Answer] = []

    @property
    def idle(self) -> bool:
        """Nothing left to hear."""
        return not self._answers

    def speech(self, moment: Speech) -> None:
        """Sound of an answer has come."""
        self.advance(moment.at)
        if not self._answers or self._answers[-1].response != moment.response:
            for earlier in self._answers:
                earlier.over = True
            self._answers.append(_Answer(moment.response))
        self._answers[-1].received_ms = moment.until_ms

    def over(self, at: float, response: int) -> None:
        """No more sound of this answer will come."""
        for answer in self._answers:
            answer.over = answer.over or answer.response == response
        self.advance(at)

    def flush(self, at: float, response: int) -> None:
        """What of this answer still waits is not heard any more."""
        self.advance(at)
        for answer in self._answers:
            if answer.response == response:
                answer.received_ms = answer.heard_ms
                answer.over = True
        self.advance(at)

    def advance(self, at: float) -> None:
        """The clock has come to ``at`` (seconds)."""
        while self._answers:
            answer = self._answers[0]
            left_ms = answer.received_ms - answer.heard_ms
            if self._now + left_ms / 1000 > at:
                answer.heard_ms += (at - self._now) * 1000
                break
            self._now += left_ms / 1000
            answer.heard_ms = answer.received_ms
            if not answer.over:
                break  # it waits for more
            self._heard(self._now, answer.response, answer.heard_ms)
            del self._answers[0]
        self._now = at
        if self._answers:
            self._heard(at, self._answers[0].response, self._answers[0].heard_ms)
