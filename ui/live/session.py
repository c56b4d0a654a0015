"""One live conversation with a server of either version, as an asynchronous object. No Gradio, no page, no file."""

from __future__ import annotations

import asyncio
import time
from collections.abc import AsyncIterator, Callable, Coroutine
from types import TracebackType
from typing import Any, Literal, Self, TypeVar

from websockets.asyncio.client import connect as connect_socket
from websockets.exceptions import ConnectionClosed

from launch.errors import OmniError, ServerGone, ServerRefused
from ui.live.acknowledgements import Acknowledgements
from ui.live.answers import Answers
from ui.live.attachment import Attachment
from ui.live.events import ResponseCancel, SessionCreated, SessionHeartbeat
from ui.live.exchange import Desk, Exchange, Over
from ui.live.link import Link, Wire, bare
from ui.live.moments import Back, Closed, Lost, Moment, Opened, Waiting
from ui.live.opening import Full, Gone, Opening, hearing_over, opened
from ui.live.outgoing import Outgoing
from ui.live.setup import Setup, Waits

__all__ = ["LiveSession", "Setup", "Waits", "Wire"]

T = TypeVar("T")
_WAITS = Waits()


class _Closing(Exception):
    """We were asked to close."""


class LiveSession:
    """A session of ``/v1/realtime?duplex=1``: opened, talked with, resumed when the socket breaks, closed.

    ``url``: http(s):// or ws(s):// base of the server, without /v1. ``connect``: the seam of tests, called like
    ``websockets.asyncio.client.connect``. ``log`` sees every event both ways. Use::

        async with LiveSession(url, setup) as live:
            async for moment in live.moments(): ...     # and, from Opened on, live.append(pcm)

    Entering starts it and does not wait: ``moments()`` says what became of it (``Opened``, ``Waiting``, ``Closed``).
    Leaving closes it: afterwards there is no task, no socket and no session on the server.
    """

    def __init__(
        self,
        url: str,
        setup: Setup,
        *,
        api_key: str | None = None,
        connect: Callable[..., Any] = connect_socket,
        clock: Callable[[], float] = time.monotonic,
        waits: Waits = _WAITS,
        log: Callable[[Wire], None] | None = None,
    ) -> None:
        self.opened: Opened | None = None
        self._clock = clock
        self._began = clock()
        self._setup = setup
        self._waits = waits
        self._log = log
        self._opening = Opening(
            url, setup, connect, api_key=api_key, waits=waits, log=self._logged if log is not None else None
        )
        # Unbounded on purpose: speech is never dropped, and it comes no faster than the server makes it. Whoever reads
        # it slowly (a page) has bounds of its own.
        self._moments: asyncio.Queue[Moment] = asyncio.Queue()
        self._outgoing = Outgoing(self._now)
        acknowledgements = Acknowledgements()
        answers = Answers(self._moments.put_nowait, self._now, acknowledgements, self._user_stopped)
        self._desk = Desk(self._moments.put_nowait, self._now, self._outgoing, acknowledgements, answers)
        self._attachment: Attachment | None = None
        self._hears_over = setup.server_vad
        self._task: asyncio.Task[None] | None = None

    async def __aenter__(self) -> Self:
        self._task = asyncio.create_task(self._run(), name="live session")
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        await self.close()

    @property
    def dropped_frames(self) -> int:
        """Microphone pieces of 200 ms that the server never got: the queue was full, or there was no open session."""
        return self._outgoing.dropped

    @property
    def idle_left_s(self) -> float | None:
        """Seconds until the server would end the session if nothing more were sent; None: not open."""
        if self.opened is None or not self._outgoing.is_open:
            return None
        return max(0.0, self.opened.idle_s - (self._now() - self._outgoing.renewed_at))

    async def moments(self) -> AsyncIterator[Moment]:
        """What happens, in order, for one consumer; ends after ``Closed``."""
        while True:
            moment = await self._moments.get()
            yield moment
            if isinstance(moment, Closed):
                return

    def append(self, pcm: bytes, jpeg: bytes | None = None) -> bool:
        """Queues microphone sound, s16le mono at 16 kHz, any length; never blocks. It leaves in pieces of 200 ms, the
        last incomplete one with the next call. ``jpeg``: a camera picture, sent with the next piece where the server
        takes one. False when pieces had to be dropped: the oldest when the queue is full, all while no session is open
        (``dropped_frames`` counts both)."""
        return self._outgoing.append(pcm, jpeg)

    async def drained(self) -> None:
        """Until everything appended has been handed to the socket, or dropped: for whoever sends faster than speech."""
        await self._outgoing.drained()

    def played(self, response: int, ms: float) -> None:
        """``ms`` of answer ``response`` have been heard so far; told to the server, never more than it made."""
        self._desk.acknowledgements.heard(response, ms)

    async def interrupt(self, by: Literal["stop", "voice"]) -> None:
        """Ends the answer that is being spoken or still heard: ``Interrupted`` at once, then the server is told. The
        microphone goes on. Without an answer, nothing."""
        if (id := self._desk.answers.interrupt(by)) is not None:
            for ack in self._desk.acknowledgements.due():  # first: the server cuts its transcript at what was heard
                self._outgoing.say(ack)
            self._outgoing.say(ResponseCancel(response_id=id))

    async def hear_over(self, on: bool) -> None:
        """Switches the server's own ear for the user talking over an answer; only where ``opened.barge_in``."""
        self._hears_over = on
        if self.opened and self.opened.barge_in:
            self._outgoing.say(hearing_over(on))

    async def heartbeat(self) -> None:
        """Renews the server's leases; a session without microphone does it by itself."""
        self._outgoing.say(SessionHeartbeat())

    async def close(self) -> None:
        """Ends the session on the server and here; waits until it is done: ``Waits.close`` and a second at most, once more
        where it is just being resumed. Twice is no error. Cancelled, it still waits, so that nothing is left behind."""
        self._desk.closing.set()
        if self._task is None:
            return
        cancelled: asyncio.CancelledError | None = None
        while not self._task.done():
            try:
                await asyncio.wait([self._task])
            except asyncio.CancelledError as error:
                cancelled = error
        self._task.result()
        if cancelled:
            raise cancelled

    async def _run(self) -> None:
        over = Over("failed")
        try:
            over = await self._life()
        finally:
            self._outgoing.shut()
            self._desk.answers.end(over.reason, status="cancelled" if over.error is None else "failed")
            self._moments.put_nowait(Closed(self._now(), over.reason, over.error))

    async def _life(self) -> Over:
        try:
            link = await self._unless_closing(self._fresh())
        except _Closing:
            return Over("closed")
        except OmniError as error:
            return Over("full" if error.key == "live-full" else "refused", error)
        while True:
            assert self._attachment is not None
            lost_at, dropped = self._now(), self._outgoing.dropped
            try:
                over = await Exchange(link, self._attachment, self._desk, self._waits).run()
                await self._part(link, over)
                return over
            except ConnectionClosed:
                lost_at, dropped = self._now(), self._outgoing.dropped
            finally:
                self._outgoing.shut()
            try:
                link = await self._unless_closing(self._back(lost_at, dropped))
            except _Closing:
                await self._goodbye()
                return Over("closed")
            except OmniError as error:
                return Over("lost", error)

    async def _fresh(self) -> Link:
        """A new session, waiting for a place. Raises ``OmniError``."""
        began, attempt, retry = self._now(), 0, self._waits.full_first
        while True:
            try:
                link, created = await self._opening.fresh()
                self._begin(created)
                return link
            except Full as full:
                attempt += 1
                if self._now() - began + retry > self._waits.full_limit:
                    raise full.error from full
            self._moments.put_nowait(Waiting(self._now(), attempt, retry))
            await asyncio.sleep(retry)
            retry = min(retry * 2, self._waits.full_most)

    def _begin(self, created: SessionCreated) -> None:
        self._attachment = Attachment.of(created)
        self.opened = opened(created, self._now(), self._setup)
        self._desk.acknowledgements.forget()
        self._desk.answers.opened()
        self._outgoing.camera = self.opened.camera
        self._outgoing.open(anew=True)
        if self._hears_over and self.opened.barge_in:
            self._outgoing.say(hearing_over(True))
        self._moments.put_nowait(self.opened)

    async def _back(self, lost_at: float, dropped: int) -> Link:
        """The session again, or a fresh one, whose ``Opened`` comes before the ``Back``. Raises ``OmniError``."""
        self._moments.put_nowait(Lost(lost_at))
        link = await self._resumed(lost_at)
        resumed = link is not None
        if link is None:
            self._desk.answers.end("lost", flush=True)
            link = await self._fresh()
        gap, missed = self._now() - lost_at, self._outgoing.dropped - dropped
        self._moments.put_nowait(Back(self._now(), resumed, gap, missed))
        return link

    async def _resumed(self, lost_at: float) -> Link | None:
        """The session on a new socket; None when it cannot be had any more. Raises ``OmniError``."""
        assert self._attachment is not None
        retry = self._waits.retry_first
        while self._attachment.resumable:
            try:
                link = await self._opening.resume(self._attachment)
                self._outgoing.open(anew=False)
                return link
            except Gone:
                return None
            except OmniError as error:
                if isinstance(error, ServerRefused) and error.key != "live-no-resume":
                    raise
                if self._now() - lost_at + retry > self._waits.grace:
                    raise ServerGone("live-lost", detail=str(error), seconds=f"{self._waits.grace:g}") from error
            await asyncio.sleep(retry)
            retry = min(retry * 2, self._waits.retry_most)
        return None

    async def _part(self, link: Link, over: Over) -> None:
        if over.left:
            await link.close()
        elif self._desk.closing.is_set():
            link.cut()  # it did not answer our goodbye
        else:
            await link.leave()

    async def _goodbye(self) -> None:
        """The session waits on the server for us to come back; it is told not to."""
        if self._attachment is None or not self._attachment.resumable:
            return
        try:
            async with asyncio.timeout(self._waits.close):
                await (await self._opening.resume(self._attachment)).leave()
        except (Gone, OmniError, TimeoutError):
            return  # it is gone, or will be when its grace is over

    async def _unless_closing(self, step: Coroutine[Any, Any, T]) -> T:
        """``step``, cancelled when we are asked to close. Raises ``_Closing``."""
        task = asyncio.create_task(step, name="live: connect")
        closing = asyncio.create_task(self._desk.closing.wait(), name="live: closing")
        try:
            await asyncio.wait([task, closing], return_when=asyncio.FIRST_COMPLETED)
            if task.done():
                return task.result()
            raise _Closing
        finally:
            for each in (task, closing):
                each.cancel()
            await asyncio.wait([task, closing])

    def _now(self) -> float:
        return self._clock() - self._began

    def _user_stopped(self) -> float | None:
        return self._desk.user_stopped_at or self._outgoing.speech.ended_at

    def _logged(self, way: str, event: dict[str, Any]) -> None:
        assert self._log is not None
        self._log({"at": round(self._now(), 4), "way": way, "event": bare(event)})
