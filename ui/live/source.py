"""Who speaks to the model from the command line: a file at the pace of speech, then silence, as a microphone would give it."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Callable
from typing import Protocol

from ui.live.moments import MIC_RATE

_FAST = 10
"""Times the pace of speech "as fast as possible": a session's queue holds 2 s and empties in milliseconds on loopback,
so nothing is dropped, and a minute of input is there after six seconds."""


class Source(Protocol):
    """A microphone, or something like one."""

    seconds: float
    """Of what will be said, where that is known beforehand."""

    @property
    def ended(self) -> bool:
        """Whether all has been said: from then on it is silence."""
        ...

    def pieces(self) -> AsyncIterator[bytes]:
        """s16le mono at 16 kHz, each when its last sample has been "spoken"; without end."""
        ...


class FileSource:
    """``pcm`` (s16le mono 16 kHz) in pieces of ``chunk_ms``. ``paced`` False: ten times as fast; the silence after it
    keeps the pace of speech. ``clock``: seconds, monotonic."""

    def __init__(self, pcm: bytes, *, chunk_ms: int, paced: bool, clock: Callable[[], float]) -> None:
        self.seconds = len(pcm) / (2 * MIC_RATE)
        self._pcm = pcm
        self._bytes = MIC_RATE * chunk_ms // 1000 * 2
        self._paced = paced
        self._clock = clock
        self._given = 0

    @property
    def ended(self) -> bool:
        return self._given >= len(self._pcm)

    async def pieces(self) -> AsyncIterator[bytes]:
        due = self._clock()
        while True:
            piece = self._pcm[self._given : self._given + self._bytes].ljust(self._bytes, b"\0")
            pace = 1 if self._paced or self.ended else _FAST
            due += self._bytes / (2 * MIC_RATE) / pace
            await asyncio.sleep(max(0.0, due - self._clock()))
            self._given += self._bytes
            yield piece
