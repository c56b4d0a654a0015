"""What a conversation has for its page: numbered frames, kept until the page surely has them."""

from __future__ import annotations

import asyncio
import time
from collections.abc import Callable
from dataclasses import dataclass

from ui.live.page_wire import HEADER, SPEECH, SPEECH_MOST, AppWord

_KEEP_S = 60.0  # a page notices a dead line after 15 s and may stay away for 20; the rest is room for a stuck tunnel
_KEEP_BYTES = 8 << 20  # 2.9 minutes of speech, for a server that makes a whole long answer at once
_UNSENT_BYTES = 16 << 20  # 5.8 minutes of speech nobody has fetched: longer than any answer, so nothing is read on


@dataclass(slots=True)
class Frame:
    """``data``: as it goes over the socket. ``response``: of a speech frame, else 0. ``at``: when it was first sent."""

    data: bytes | str
    response: int
    at: float = 0.0


class Outbox:
    """Frames 1, 2, 3, ... in order. One page at a time reads them; a page that comes back reads on after any it has had.

    Nothing unsent is ever dropped. What was sent stays for ``keep_s`` seconds or ``keep_bytes`` bytes, whichever is
    less: a socket that broke may have swallowed it.
    """

    def __init__(
        self,
        *,
        clock: Callable[[], float] = time.monotonic,
        keep_s: float = _KEEP_S,
        keep_bytes: int = _KEEP_BYTES,
        unsent_bytes: int = _UNSENT_BYTES,
    ) -> None:
        self._clock = clock
        self._keep_s = keep_s
        self._keep_bytes = keep_bytes
        self._unsent_bytes = unsent_bytes
        self._frames: list[Frame] = []
        self._gone = 0  # frames before _frames[0]
        self._bytes = 0  # of all kept frames
        self._unsent = 0  # of those never sent
        self._news = asyncio.Event()
        self._room = asyncio.Event()
        self._room.set()
        self.sent = 0
        """Number of the last frame that any socket took."""

    @property
    def last(self) -> int:
        """Number of the newest frame."""
        return self._gone + len(self._frames)

    def say(self, word: AppWord) -> None:
        self._put(Frame(word.numbered(self.last + 1), 0))

    def speak(self, response: int, pcm: bytes) -> None:
        """Sound of an answer (s16le, 24 kHz), cut into frames; each byte is copied once."""
        head = HEADER.pack(SPEECH, response)
        sound = memoryview(pcm)
        for start in range(0, len(sound), SPEECH_MOST):
            self._put(Frame(b"".join((head, sound[start : start + SPEECH_MOST])), response))

    def flush(self, response: int) -> None:
        """What is kept of an answer's sound will not be heard any more: its frames keep their numbers, but are empty."""
        empty = HEADER.pack(SPEECH, response)
        for number, frame in enumerate(self._frames, self._gone + 1):
            if frame.response == response:
                self._count(number, len(empty) - len(frame.data))
                frame.data = empty
        self._gauge()

    def holds(self, after: int) -> bool:
        """Whether everything after frame ``after`` is still here."""
        return after >= self._gone

    def next(self, after: int) -> tuple[int, Frame] | None:
        """The frame after number ``after`` (the oldest one kept, when that is gone) with its number; ``None``: not yet."""
        place = max(after - self._gone, 0)
        return (self._gone + place + 1, self._frames[place]) if place < len(self._frames) else None

    def took(self, number: int) -> None:
        """A socket has taken frame ``number``."""
        if number > self.sent:  # what was never sent was never forgotten, so it is here
            frame = self._frames[number - self._gone - 1]
            self.sent = number
            frame.at = self._clock()
            self._unsent -= len(frame.data)
            self._gauge()
            self._forget()

    def keep_last(self) -> None:
        """Drops everything but the newest frame: it is over, and whoever comes now is told only that."""
        self._gone, self._frames = max(self.last - 1, 0), self._frames[-1:]
        self.sent = max(self.sent, self._gone)
        self._bytes = sum(len(frame.data) for frame in self._frames)
        self._unsent = self._bytes if self.sent < self.last else 0

    async def more(self, after: int) -> None:
        """Waits for a frame after number ``after``."""
        while self.last <= after:
            self._news.clear()
            await self._news.wait()

    async def room(self) -> None:
        """Waits while more is unsent than any page should have to catch up with."""
        await self._room.wait()

    def _put(self, frame: Frame) -> None:
        self._frames.append(frame)
        self._count(self.last, len(frame.data))
        self._gauge()
        self._news.set()

    def _count(self, number: int, size: int) -> None:
        self._bytes += size
        if number > self.sent:
            self._unsent += size

    def _gauge(self) -> None:
        if self._unsent < self._unsent_bytes:
            self._room.set()
        else:
            self._room.clear()

    def _forget(self) -> None:
        """Drops what was sent long ago, or what is too much."""
        old = self._clock() - self._keep_s
        count = 0
        while self._gone + count < self.sent:
            frame = self._frames[count]
            if frame.at >= old and self._bytes - self._unsent <= self._keep_bytes:
                break
            self._bytes -= len(frame.data)
            count += 1
        if count:
            del self._frames[:count]
            self._gone += count
