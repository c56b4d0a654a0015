"""A session on a socket that is up: read, spoken on and watched until it is over or the socket breaks."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from dataclasses import dataclass, field

from websockets.exceptions import ConnectionClosed

from launch.errors import OmniError, ServerError, ServerGone, ServerSilent
from ui.live import refusals
from ui.live.acknowledgements import Acknowledgements
from ui.live.answers import Answers
from ui.live.attachment import Attachment
from ui.live.events import (
    AudioDelta,
    ErrorEvent,
    Known,
    OverlapDecision,
    ResponseCancel,
    ResponseCreated,
    ResponseDone,
    ResponseListen,
    ResyncRequired,
    SessionClose,
    SessionClosed,
    SessionExpired,
    SessionHeartbeat,
    SessionReplaced,
    SpeechStarted,
    SpeechStopped,
    TranscriptDelta,
    UnknownEvent,
)
from ui.live.link import Link, bare
from ui.live.moments import APPEND_S, HeardYou, Moment, Noticed, Unknown
from ui.live.outgoing import Outgoing
from ui.live.setup import Waits


@dataclass(frozen=True)
class Over:
    """A session has ended. ``left``: on the server too."""

    reason: str
    error: OmniError | None = None
    left: bool = False


@dataclass
class Desk:
    """What a session keeps across its sockets."""

    tell: Callable[[Moment], None]
    now: Callable[[], float]
    outgoing: Outgoing
    acknowledgements: Acknowledgements
    answers: Answers
    closing: asyncio.Event = field(default_factory=asyncio.Event)
    user_stopped_at: float | None = None
    """The server's own word for it, where it listens for it (server_vad)."""
    told: set[str] = field(default_factory=set)
    """What was noticed already: a fault that comes with every append is told once."""

    def notice(self, error: OmniError) -> None:
        word = f"{error.key} {error.facts.get('code', '')}"
        if word not in self.told:
            self.told.add(word)
            self.tell(Noticed(self.now(), error))


class Exchange:
    """One socket's share of a session. ``run`` once."""

    def __init__(self, link: Link, attachment: Attachment, desk: Desk, waits: Waits) -> None:
        self._link = link
        self._attachment = attachment
        self._desk = desk
        self._waits = waits
        self._heard_at = desk.now()
        self._asked_at: float | None = None
        self._decided = desk.outgoing.sent
        """Pieces sent when the model last decided something."""

    async def run(self) -> Over:
        """Until the session is over; asked to close, closes it. Raises ``ConnectionClosed`` when the socket broke."""
        if id := self._desk.answers.cancelling():
            self._desk.outgoing.say(ResponseCancel(response_id=id))
        reading = asyncio.create_task(self._read(), name="live: read")
        others = [
            asyncio.create_task(self._write(), name="live: write"),
            asyncio.create_task(self._keep(), name="live: keep"),
            asyncio.create_task(self._desk.closing.wait(), name="live: closing"),
        ]
        try:
            running = {reading, *others}
            while not reading.done() and not self._desk.closing.is_set():
                done, running = await asyncio.wait(running, return_when=asyncio.FIRST_COMPLETED)
                for task in done - {reading}:
                    task.result()
            if reading.done():
                return reading.result()
            return await self._close(reading)
        finally:
            for task in (reading, *others):
                task.cancel()
            await asyncio.wait([reading, *others])

    async def _close(self, reading: asyncio.Task[Over]) -> Over:
        self._desk.outgoing.say(SessionClose())
        await asyncio.wait([reading], timeout=self._waits.close)
        left = reading.done() and reading.exception() is None and reading.result().left
        return Over("closed", left=left)

    async def _write(self) -> None:
        while True:
            event = await self._desk.outgoing.next()
            try:
                await self._link.send(event)
            except ConnectionClosed:
                return  # the reader sees it too, after it has read what had come

    async def _read(self) -> Over:
        while True:
            event = await self._link.receive()
            self._heard_at, self._asked_at = self._desk.now(), None
            if self._attachment.takes(event) and (over := self._take(event)):
                return over

    def _take(self, event: Known | UnknownEvent) -> Over | None:
        desk, answers = self._desk, self._desk.answers
        if self._attachment.missed:
            desk.notice(ServerGone("live-events-missed", count=self._attachment.missed))
        if isinstance(event, ResponseListen | ResponseCreated | AudioDelta):
            self._decided = desk.outgoing.sent
        match event:
            case AudioDelta():
                answers.sound(event)
            case TranscriptDelta():
                answers.words(event)
            case ResponseListen():
                answers.listened(event)
            case ResponseCreated():
                answers.created(event.response_id)
            case ResponseDone():
                answers.done(event)
            case OverlapDecision(action="barge_in"):
                answers.yielded()
            case SpeechStarted():
                desk.user_stopped_at = None
                desk.tell(HeardYou(desk.now(), True))
            case SpeechStopped():
                desk.user_stopped_at = desk.now()
                desk.tell(HeardYou(desk.now(), False))
            case ResyncRequired():
                self._attachment.resumable = False
                desk.notice(ServerGone("live-resume-off", detail=event.reason or ""))
            case ErrorEvent():
                return self._refused(event)
            case SessionReplaced():
                return Over("replaced", ServerGone("live-replaced"), left=True)
            case SessionExpired():
                return Over("expired", ServerGone("live-expired", detail=event.reason or ""), left=True)
            case SessionClosed():
                return self._closed(event)
            case UnknownEvent():
                desk.tell(Unknown(desk.now(), bare(event.received)))
        return None

    def _refused(self, event: ErrorEvent) -> Over | None:
        if refusals.silent(event):
            return None
        error = refusals.told(event)
        if refusals.fatal(event):
            return Over(event.name, error)
        if event.name == "input_backpressure":
            self._desk.outgoing.dropped += 1
        self._desk.notice(error)
        return None

    def _closed(self, event: SessionClosed) -> Over:
        why = event.why
        if self._desk.closing.is_set():
            return Over("closed", left=True)
        key = "live-expired" if why in ("timeout", "idle_ttl_expired") else "live-ended"
        error: ServerError = ServerGone(key, detail=why, reason=why or "—")
        return Over(why or "closed by the server", error, left=True)

    async def _keep(self) -> None:
        """Whatever must be said by the clock; and an answer, or a server, that has gone quiet or does not end."""
        desk, waits = self._desk, self._waits
        event_acked_at = desk.now()
        while True:
            await asyncio.sleep(waits.ack)
            now = desk.now()
            for ack in desk.acknowledgements.due():
                desk.outgoing.say(ack)
            if now - desk.outgoing.renewed_at >= waits.heartbeat:
                desk.outgoing.say(SessionHeartbeat())
            if now - event_acked_at >= waits.event_ack and (told := self._attachment.event_ack()):
                event_acked_at = now
                desk.outgoing.say(told)
            if overdue := desk.answers.overdue(waits.answer):
                desk.outgoing.say(ResponseCancel(response_id=overdue))
                desk.notice(ServerSilent("live-no-answer-end", seconds=f"{waits.answer:g}"))
            desk.answers.abandon(waits.close)
            if (desk.outgoing.sent - self._decided) * APPEND_S >= waits.undecided and not desk.answers.active:
                desk.notice(ServerSilent("live-no-decision", seconds=f"{waits.undecided:g}"))
            self._mind_silence(now)

    def _mind_silence(self, now: float) -> None:
        if self._asked_at is None:
            if now - self._heard_at >= self._waits.silent:
                self._asked_at = now
                self._desk.outgoing.say(SessionHeartbeat())
        elif now - self._asked_at >= self._waits.silent:
            self._link.cut()
