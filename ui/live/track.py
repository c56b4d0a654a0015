"""One channel of a recording: pieces of sound that were reported late, each put where it was."""

from __future__ import annotations

from collections import deque
from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np

SLACK_S = 0.04
"""A piece up to this much later than the one before ended simply follows it: clocks of sound cards wander by some
hundred ppm and no ear hears 40 ms of silence more or less between two voices, but a cut inside a word is heard."""
_BLANK_S = 1.0  # silence is made in blocks of this length, so that an hour of it is never held


@dataclass(frozen=True)
class Placed:
    """``samples`` (int16 mono) belong at ``start`` (in samples from the beginning). ``name``: of the piece; ``None`` is silence."""

    start: int
    samples: np.ndarray
    name: object = None


class Track:
    """Takes pieces in their order, each with the time at which it had *ended*, and gives the channel without holes.

    A report may be late (a network stalls, then everything comes at once) but never early. So a piece ended no later
    than its own report says, and no later than any later piece allows that ended by its own report. It is put at the
    latest such place, or directly after the one before when that is less than ``SLACK_S`` away. Whoever calls
    ``until`` some seconds late (what is waiting is then known) gets every piece to the sample; a report that is later
    than that moves its own piece back by as much, and no other.
    """

    def __init__(self, rate: int) -> None:
        self.rate = rate
        self.length = 0
        """Samples given so far."""
        self._waiting: deque[tuple[int, np.ndarray, object]] = deque()

    def put(self, at: float, samples: np.ndarray, name: object = None) -> None:
        """``samples`` (int16 mono) had ended at ``at`` (seconds)."""
        if len(samples):
            self._waiting.append((round(at * self.rate), samples, name))

    def until(self, time: float) -> Iterator[Placed]:
        """All that belongs before ``time`` (seconds), silence included. A piece that begins before it comes whole."""
        goal = round(time * self.rate)
        while self._waiting and (start := self._start()) < goal:
            yield from self._blank(start)
            _, samples, name = self._waiting.popleft()
            yield self._give(samples, name)
        yield from self._blank(goal)

    def rest(self) -> Iterator[Placed]:
        """Whatever is still waiting."""
        while self._waiting:
            yield from self.until((self._start() + 1) / self.rate)

    def _start(self) -> int:
        """Where the first of the waiting pieces begins: as late as it and all that follow it allow."""
        latest, before = None, 0
        for end, samples, _ in self._waiting:
            before += len(samples)
            latest = end - before if latest is None else min(latest, end - before)
        assert latest is not None
        return latest if latest - self.length > SLACK_S * self.rate else self.length

    def _blank(self, end: int) -> Iterator[Placed]:
        while self.length < end:
            yield self._give(np.zeros(min(end - self.length, round(_BLANK_S * self.rate)), np.int16), None)

    def _give(self, samples: np.ndarray, name: object) -> Placed:
        placed = Placed(self.length, samples, name)
        self.length += len(samples)
        return placed
