"""What waits to be sent: first what we say, then the microphone in pieces of 200 ms, the oldest dropped when it jams."""

from __future__ import annotations

import asyncio
import base64
from collections import deque
from collections.abc import Callable

from ui.live.events import ClientEvent, InputAudioAppend, SessionHeartbeat
from ui.live.moments import APPEND_S, MIC_RATE
from ui.live.speech_end import SpeechEnd

_PIECE = int(MIC_RATE * APPEND_S) * 2  # bytes
_PIECE_MS = int(APPEND_S * 1000)
_MOST = 10
"""Pieces, 2 s: a stall of the network of that length is caught up with; what is older the model must not hear as if it
were now."""


class Outgoing:
    """The queue between whoever talks and the socket. ``shut`` while there is none: then microphone is dropped."""

    def __init__(self, clock: Callable[[], float]) -> None:
        self.dropped = 0
        self.sent = 0
        """Pieces handed to the socket."""
        self.renewed_at = clock()
        """When the server's leases were last renewed by an append or a heartbeat."""
        self.camera = False
        self.speech = SpeechEnd()
        self._clock = clock
        self._said: deque[ClientEvent] = deque()
        self._pieces: deque[bytes] = deque()
        self._rest = bytearray()
        self._jpeg: bytes | None = None
        self._sent_ms = 0
        self.is_open = False
        self._wake = asyncio.Event()
        self._empty = asyncio.Event()
        self._empty.set()

    def open(self, *, anew: bool) -> None:
        """There is a socket. ``anew``: with a session that has heard nothing yet."""
        self.is_open = True
        self.renewed_at = self._clock()
        if anew:
            self._sent_ms = 0

    def shut(self) -> None:
        """There is none: what waits is dropped, the microphone's counted."""
        self.is_open = False
        self.dropped += len(self._pieces)
        self._pieces.clear()
        self._said.clear()
        self._empty.set()

    def append(self, pcm: bytes, jpeg: bytes | None) -> bool:
        """See ``LiveSession.append``."""
        self._rest += pcm
        if jpeg is not None:
            self._jpeg = jpeg
        before = self.dropped
        while len(self._rest) >= _PIECE:
            piece = bytes(self._rest[:_PIECE])
            del self._rest[:_PIECE]
            self.speech.hear(piece, self._clock())
            self._put(piece)
        return self.dropped == before

    def _put(self, piece: bytes) -> None:
        if not self.is_open:
            self.dropped += 1
            return
        if len(self._pieces) == _MOST:
            self._pieces.popleft()
            self.dropped += 1
        self._pieces.append(piece)
        self._empty.clear()
        self._wake.set()

    def say(self, event: ClientEvent) -> None:
        """Goes out before any microphone; nowhere while there is no socket."""
        if self.is_open:
            self._said.append(event)
            self._empty.clear()
            self._wake.set()

    async def next(self) -> ClientEvent:
        """What goes out next, when there is something."""
        while not self._said and not self._pieces:
            self._empty.set()
            self._wake.clear()
            await self._wake.wait()
        if self._said:
            event = self._said.popleft()
            if isinstance(event, SessionHeartbeat):
                self.renewed_at = self._clock()
            return event
        self.renewed_at = self._clock()
        self.sent += 1
        self._sent_ms += _PIECE_MS
        jpeg, self._jpeg = self._jpeg, None
        return InputAudioAppend(
            audio=base64.b64encode(self._pieces.popleft()).decode("ascii"),
            audio_end_ms=self._sent_ms,
            video_frames=[base64.b64encode(jpeg).decode("ascii")] if jpeg and self.camera else None,
        )

    async def drained(self) -> None:
        """Until everything queued has been handed to the socket, or dropped."""
        await self._empty.wait()
