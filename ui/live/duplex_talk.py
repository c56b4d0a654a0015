"""A conversation held from the command line: one side a source of sound, the other a session, from opening to its end."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from typing import Protocol

from launch.errors import OmniError
from ui.live.chunks import Chunks
from ui.live.moments import Caption, Interrupted, Listening, Moment, Opened, Speaking, Speech, Spoken
from ui.live.recording import Recording
from ui.live.seams import Session
from ui.live.source import Source

_TICK_S = 0.25
"""Between two playback marks, as the page sends them."""
_QUIET = 3
"""Decisions to listen in a row, one a second, after which the model has nothing more to say: it answers with the first
or the second unit after the end of a question."""


class Listener(Protocol):
    """Where answers are heard: an ``Ear``, or a loudspeaker."""

    @property
    def idle(self) -> bool: ...
    def speech(self, moment: Speech) -> None: ...
    def over(self, at: float, response: int) -> None: ...
    def flush(self, at: float, response: int) -> None: ...
    def advance(self, at: float) -> None: ...


class Talk:
    """``now``: seconds since the session was asked for. ``show`` is told every moment. ``failures``: what was found wrong
    here, besides what the session says itself.

    It ends when the input has been said and the model has listened for ``_QUIET`` decisions without anything left to
    hear; when nothing at all comes for ``timeout_s``; when ``stop`` is set; when the session ends.
    """

    def __init__(
        self,
        session: Session,
        source: Source,
        recording: Recording,
        chunks: Chunks,
        *,
        listener: Callable[[Callable[[float, int, float], None]], Listener],
        show: Callable[[Moment], None],
        now: Callable[[], float],
        timeout_s: float,
        require_audio: bool,
    ) -> None:
        self.failures: list[OmniError] = []
        self._session = session
        self._source = source
        self._recording = recording
        self._chunks: Chunks | None = chunks
        self._listener = listener(self._heard)
        self._show = show
        self._now = now
        self._timeout_s = timeout_s
        self._require_audio = require_audio
        self._opened = asyncio.Event()
        self._speaking: set[int] = set()
        self._news = 0.0
        self._decisions = self._listens = 0
        self._spoke = False

    async def hold(self, stop: asyncio.Event) -> None:
        """The conversation. The session must have been entered; it is closed afterwards."""
        async with asyncio.TaskGroup() as group:
            others = [group.create_task(self._feed()), group.create_task(self._watch(stop))]
            async for moment in self._session.moments():
                await self._happened(moment)
            for task in others:
                task.cancel()
        self._listener.advance(self._now())

    async def _feed(self) -> None:
        await self._opened.wait()
        async for piece in self._source.pieces():
            self._session.append(piece)
            self._recording.microphone(self._now(), piece)

    async def _watch(self, stop: asyncio.Event) -> None:
        while not (stop.is_set() or self._done()):
            self._listener.advance(self._now())
            try:
                await asyncio.wait_for(stop.wait(), _TICK_S)
            except TimeoutError:
                continue
        await self._session.close()

    def _done(self) -> bool:
        now = self._now()
        if not (self._source.ended and self._opened.is_set()):
            self._news = now
            return False
        if not self._listener.idle:
            self._news = now
        waited = now - self._news > self._timeout_s
        if self._require_audio and not self._spoke:
            if waited:
                self._fail(OmniError("duplex-no-sound", seconds=f"{self._timeout_s:g}"))
            return waited
        if waited:
            self._fail(OmniError("duplex-no-decision", seconds=f"{self._timeout_s:g}"))
        # A decision a second of input: without pacing, those about the end of it come long after it was given.
        decided = self._listens >= _QUIET and self._decisions >= int(self._source.seconds) + _QUIET
        return waited or (decided and self._listener.idle and not self._speaking)

    async def _happened(self, moment: Moment) -> None:
        self._recording.moment(moment)
        self._show(moment)
        match moment:
            case Opened():
                self._opened.set()
            case Listening():
                self._listens += 1
                self._decided()
            case Speaking():
                self._speaking.add(moment.response)
                self._listens = 0
                self._decided()
            case Speech():
                self._spoke = True
                self._decided()
                self._listener.speech(moment)
                await self._keep(moment.pcm)
            case Caption():
                self._news = self._now()
            case Spoken():
                self._speaking.discard(moment.response)
                self._news = self._now()
                self._listener.over(self._now(), moment.response)
            case Interrupted():
                self._listener.flush(self._now(), moment.response)

    def _decided(self) -> None:
        self._decisions += 1
        if not self._require_audio or self._spoke:  # else only sound is news
            self._news = self._now()

    async def _keep(self, pcm: bytes) -> None:
        if self._chunks is None:
            return
        try:
            await asyncio.to_thread(self._chunks.add, pcm)
        except OSError as refused:
            self._chunks = None
            self._fail(OmniError("live-recording-lost", reason=refused.strerror or str(refused), folder=""))

    def _heard(self, at: float, response: int, ms: float) -> None:
        self._session.played(response, ms)
        self._recording.played(at, response, ms)

    def _fail(self, error: OmniError) -> None:
        self.failures.append(error)
        self._recording.failed(error)
