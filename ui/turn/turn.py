"""One question and its answer, from the press of Run to the last sample."""

from __future__ import annotations

import asyncio
import logging
import secrets
import time
from collections.abc import AsyncIterator, Callable, Sequence
from contextlib import aclosing, suppress
from typing import Any

from launch.errors import OmniError, ServerError
from ui.turn.client import ServerClient
from ui.turn.events import SAMPLE_RATE, Failed, Finished, Noticed, Speech, Stopped, TextDelta, TurnEvent, TurnState
from ui.turn.notices import of_answer
from ui.turn.probe import REHEARSAL_MODEL
from ui.turn.request import Body, Request, Wire
from ui.turn.sound import wav_file
from ui.turn.timing import Figures, Timing

log = logging.getLogger(__name__)

_ENDED = ("done", "stopped", "cut", "failed")
# After a stop: at once, and after the 5 s within which vLLM's watchdog ends a server whose engine died (protocol §3).
_CHECKS_AFTER_STOP_S = (0.5, 2.0, 4.0)


class Turn:
    """A request and what came of it. Belongs to one event loop; any number of readers may follow it.

    Interruptions: ``stop`` keeps what came (state ``stopped``); a failure in mid-answer keeps what came too (``cut``);
    before anything came the turn is ``failed``. Nothing is ever taken back: readers of ``text``, ``pcm`` and ``events``
    only see them grow.
    """

    def __init__(self, request: Request, owner: str, what: str = "text") -> None:
        self.id = secrets.token_urlsafe(16)
        self.owner = owner
        self.what = what
        self.request = request
        self.started_at = time.time()
        self.state: TurnState = "waiting"
        self.text = ""
        self.pcm = bytearray()
        self.error: OmniError | None = None
        self.notices: list[OmniError] = []
        self.events: list[TurnEvent] = []
        self.model: str | None = None
        self.wire: Wire | None = None
        self.played_ms: float | None = None
        self.version = 0
        self._timing = Timing()
        self._pulse = asyncio.Event()
        self._reading: asyncio.Task[None] | None = None
        self._began: float | None = None
        self._clock: Callable[[], float] = time.perf_counter

    @property
    def figures(self) -> Figures:
        return self._timing.figures()

    @property
    def running(self) -> bool:
        return self.state not in _ENDED

    @property
    def rehearsal(self) -> bool:
        """The answer came from the rehearsal engine, not from the model."""
        return self.model == REHEARSAL_MODEL

    @property
    def elapsed_s(self) -> float:
        """Seconds since ``run`` began; of an ended turn, until its last event."""
        if not self.running:
            return self.events[-1].at if self.events else 0.0
        return 0.0 if self._began is None else self._clock() - self._began

    def body(self) -> Body:
        """The request's JSON as it was sent (without a model id before the server is known: it accepts that)."""
        return self.request.body(self.model or "", self.wire)

    def short(self) -> tuple[Body, dict[str, bytes]]:
        """``body`` with its media put aside, and the media by file name."""
        return self.request.short(self.model or "", self.wire)

    async def run(self, client: ServerClient) -> None:
        """Asks ``client`` and keeps everything that comes, until the answer ends. Run once, by ``Turns``.

        Cancelling it ends the turn as ``stopped``.
        """
        if not self.running:  # stopped before it began
            return
        self._clock = client.clock
        self._began = client.clock()
        self._reading = asyncio.create_task(self._read(client), name=f"turn {self.id[:6]} reading")
        try:
            await asyncio.wait([self._reading])
            self._settle()
        finally:
            await self.stop()

    async def stop(self) -> None:
        """Ends the answer now: closes the stream, keeps what came. Returns when the connection is closed."""
        if self._reading is not None and not self._reading.done():
            self._reading.cancel()
            await asyncio.wait([self._reading])
        self._settle()

    async def look_after(self, client: ServerClient, pauses_s: Sequence[float] = _CHECKS_AFTER_STOP_S) -> None:
        """After a stop: some versions die of an aborted request (vllm-omni#2848). A notice says so, or the next
        question would fail without a reason."""
        for pause in pauses_s:
            await asyncio.sleep(pause)
            state = await client.check()
            if state.state == "gone":
                self.notice(ServerError("stop-ended-server", detail=str(state.error)))
                return

    def snapshot(self) -> dict[str, Any]:
        """The turn as JSON, without its sound. ``error`` and ``notices``: ``{key, facts, detail}`` of an OmniError."""
        return {
            "id": self.id,
            "what": self.what,
            "version": self.version,
            "state": self.state,
            "text": self.text,
            "audio_bytes": len(self.pcm),
            "sample_rate": SAMPLE_RATE,
            "elapsed_s": round(self.elapsed_s, 3),
            "played_ms": self.played_ms,
            "figures": self.figures.as_dict(),
            "error": None if self.error is None else told(self.error),
            "notices": [told(notice) for notice in self.notices],
            "model": self.model,
            "wire": self.wire,
            "rehearsal": self.rehearsal,
            "speech": self.request.settings.speech,
            "started_at": self.started_at,
        }

    async def changed(self, since: int, timeout: float) -> int:
        """Waits until the turn has changed after version ``since``, at most ``timeout`` seconds; the version then."""
        if self.version <= since:
            with suppress(TimeoutError):
                await asyncio.wait_for(self._pulse.wait(), timeout)
        return self.version

    async def speech(self, start: int = 0) -> AsyncIterator[bytes]:
        """The PCM from byte ``start`` on, as it comes; ends with the turn. Several readers may read."""
        at = start
        while True:
            version, running = self.version, self.running
            if at < len(self.pcm):
                piece = bytes(self.pcm[at:])
                at += len(piece)
                yield piece
            elif not running:
                return
            else:
                await self.changed(version, 60)  # a bound only so that a lost wake-up could not hang a reader

    def heard(
        self,
        first_sound_ms: float | None = None,
        stall_ms: float | None = None,
        stall_longest_ms: float | None = None,
        played_ms: float | None = None,
    ) -> None:
        """What the player measured so far, in ms; ``None`` leaves the earlier value."""
        self._timing.heard(first_sound_ms, stall_ms, stall_longest_ms)
        if played_ms is not None:
            self.played_ms = played_ms
        self._bump()

    def wav(self) -> bytes:
        """What was spoken so far, as a RIFF/WAV file (24 kHz mono PCM16)."""
        return wav_file(self.pcm)

    def notice(self, error: OmniError) -> None:
        """Something the user should be told, that does not end the turn."""
        self.notices.append(error)
        self._bump()

    async def _read(self, client: ServerClient) -> None:
        async with aclosing(client.stream(self.request)) as events:
            async for event in events:
                if self.model is None:
                    self.model, self.wire = client.served
                self._take(event)

    def _settle(self) -> None:
        """Gives a turn whose reading was interrupted its last event."""
        if not self.running:
            return
        reading = self._reading
        if reading is None or reading.cancelled() or (fault := reading.exception()) is None:
            self._take(Stopped(self.elapsed_s))
        else:
            log.error("turn %s: reading the answer failed", self.id[:6], exc_info=fault)
            self._take(Failed(self.elapsed_s, OmniError("answer-not-read", detail=repr(fault))))

    def _take(self, event: TurnEvent) -> None:
        self.events.append(event)
        self._timing.watch(event)
        match event:
            case TextDelta():
                self.text += event.text
                self.state = "streaming"
            case Speech():
                self.pcm += event.pcm
                self.state = "streaming"
            case Noticed():
                self.notices.append(event.notice)
            case Finished():
                speech = self.request.settings.speech
                self.notices += of_answer(self.text, self.pcm, speech=speech, reason=event.reason)
                self.state = "done"
            case Stopped():
                self.state = "stopped"
            case Failed():
                self.error = event.error
                self.state = "cut" if self.text or self.pcm else "failed"
        self._bump()

    def _bump(self) -> None:
        self.version += 1
        self._pulse.set()
        self._pulse = asyncio.Event()


def told(error: OmniError) -> dict[str, Any]:
    """An error as JSON."""
    facts = {name: str(value) for name, value in error.facts.items()}
    return {"key": error.key, "facts": facts, "detail": error.detail}
