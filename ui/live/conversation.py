"""One conversation: a live session on one side, a page on the other, and what must survive when either breaks.

The session resumes by itself (``ui/live/session.py``). The page's socket may break too: for ``Patience.away`` seconds the
session goes on, and the page that comes back reads on where it stopped. What it said meanwhile is lost and counted.
"""

from __future__ import annotations

import asyncio
import time
from collections.abc import Callable

from launch.errors import OmniError
from ui.live import page_wire as say
from ui.live.moments import Back, Closed, Interrupted, Moment, Opened, Speech
from ui.live.outbox import Outbox
from ui.live.seams import OpenSession, Recorder, Session
from ui.live.setup import Setup
from ui.live.telling import told
from ui.live.visit import STOPPED_READING, TAKEN_OVER, Page, Patience

_ENDINGS = {"taken-over": "live-taken-over", "muted": "live-muted-long"}
"""Reasons of ours that the user is told with a cause and a cure."""


class Conversation:
    """Belongs to one event loop. ``run`` is called once, by whoever owns the task (the lounge), when there is a place.

    ``record`` makes the recording that sees everything and is finished with it. ``opens`` is told of the open session.
    """

    def __init__(
        self,
        id: str,
        owner: str,
        setup: Setup,
        open_session: OpenSession,
        *,
        record: Callable[[], Recorder] | None = None,
        opens: Callable[[Opened], None] = lambda _: None,
        clock: Callable[[], float] = time.monotonic,
        patience: Patience | None = None,
    ) -> None:
        self.id = id
        self.owner = owner
        self.recording: Recorder | None = None
        self.outbox = Outbox(clock=clock)
        self.opened: Opened | None = None
        self.ended: say.Ended | None = None
        self.page_dropped = 0
        """Microphone frames that never came from the page: its own drops, and those of its broken sockets."""
        self._dropped = 0
        """Those that the session dropped; it is gone when the recording is finished."""
        self._setup = setup
        self._open_session = open_session
        self._record = record
        self._opens = opens
        self._clock = clock
        self._patience = patience or Patience()
        self._began = clock()
        self._session: Session | None = None
        self._page: Page | None = None
        self._visited = False
        self._away: asyncio.TimerHandle | None = None
        self._state = say.State(state="queued")
        self._leave = asyncio.Event()
        self._reason = ""
        self._errands: set[asyncio.Task[None]] = set()
        self._mic = -1  # number of the last microphone frame
        self._jpeg: bytes | None = None
        self._muted_at: float | None = None
        self._wait_for_page()

    def attach(self, after: int | None) -> tuple[Page, int]:
        """A page's socket is here; an earlier one is told to leave. Returns the page and the number it reads on after.

        ``after``: the last frame it has; ``None``: it has none, and begins with what no page has been sent yet.
        """
        if self._page is not None:
            self._page.leave(TAKEN_OVER)
        box = self.outbox
        number = box.sent if after is None else min(after, box.last)
        if self.ended is not None:
            number = min(number, box.last - 1)  # whoever comes is told that it is over
        else:
            self._forget_away()
            if after and not box.holds(number):
                box.say(say.notice(OmniError("live-page-gap")))
            if after is None and self._visited:
                box.say(self._state)
        if not after:
            self._mic = -1  # a page without a past counts its microphone's frames from 0
        self._visited = True
        self._page = Page(self._clock())
        return self._page, number

    def detach(self, page: Page) -> None:
        """That socket is gone."""
        if self._page is page:
            self._page = None
            if self.ended is None:
                self._wait_for_page()

    def microphone(self, number: int, pcm: bytes) -> None:
        """One frame of the page's microphone. One that came before is passed over, as is one before the session is open:
        then nobody was asked to speak yet."""
        self._hear()
        if number <= self._mic:
            return
        if self._mic >= 0:
            self.page_dropped += number - self._mic - 1
        self._mic = number
        if self._session is None or self.opened is None:
            return
        jpeg, self._jpeg = self._jpeg, None
        self._session.append(pcm, jpeg)
        if self.recording is not None:
            self.recording.microphone(self._at(), pcm)

    def camera(self, jpeg: bytes) -> None:
        """One picture; it goes with the next microphone frame, and the newest counts."""
        self._hear()
        if self.opened is not None and self.opened.camera:
            self._jpeg = jpeg

    def word(self, word: say.PageWord) -> None:
        """A text frame of the page."""
        self._hear()
        if isinstance(word, say.Close):
            self.leave("stop")
        elif isinstance(word, say.Mute):
            self._muted_at = self._clock() if word.on else None
        elif isinstance(word, say.Played) and self._session is not None:
            self._session.played(word.response, word.ms)
            if self.recording is not None:
                self.recording.played(self._at(), word.response, word.ms)
        elif isinstance(word, say.Interrupt) and self._session is not None:
            # Not awaited: a stuck connection to the server must not keep the microphone waiting.
            errand = asyncio.create_task(self._session.interrupt(word.by), name=f"interrupt {self.id[:6]}")
            self._errands.add(errand)
            errand.add_done_callback(self._errands.discard)
        elif isinstance(word, say.Figures) and self.recording is not None:
            self.recording.wire({"at": self._at(), "way": "page", "event": word.model_dump()})

    def queued(self, position: int) -> None:
        """It waits for a place; ``position`` from 1."""
        state = say.State(state="queued", position=position)
        if state != self._state:
            self._tell(state)

    def leave(self, reason: str) -> None:
        """Ends it, politely and soon. ``reason``, for the page: stop, page-gone, taken-over, muted, app-closing."""
        self._reason = self._reason or reason
        self._leave.set()

    async def left(self) -> None:
        """Waits for ``leave``."""
        await self._leave.wait()

    async def run(self) -> None:
        """From the first connection to the last word. Cancelled, it still leaves no session on the server."""
        closed: Closed | None = None
        talking = asyncio.create_task(self._talk(), name=f"talk {self.id[:6]}")
        others = {
            asyncio.create_task(self._tick(), name=f"clock {self.id[:6]}"),
            leaving := asyncio.create_task(self.left(), name=f"leave {self.id[:6]}"),
        }
        try:
            await asyncio.wait({talking, leaving}, return_when=asyncio.FIRST_COMPLETED)
            if not talking.done() and (session := self._session) is not None:
                others.add(asyncio.create_task(session.close(), name=f"close {self.id[:6]}"))
                await asyncio.wait({talking}, timeout=self._patience.close)
            if talking.done():
                closed = talking.result()
        finally:
            for task in (tasks := {talking, *others, *self._errands}):
                task.cancel()
            await asyncio.wait(tasks)
            await self.finish(closed)

    async def finish(self, closed: Closed | None) -> None:
        """The last word, once nothing more can come. ``closed``: how the session ended, if there was one."""
        self._forget_away()
        if self.recording is not None:
            await asyncio.to_thread(self.recording.finish, self._dropped + self.page_dropped)
            if self.recording.error is not None:
                self.outbox.say(say.notice(self.recording.error))
        error = closed.error if closed is not None else None
        reason = self._reason or (closed.reason if closed is not None else "failed")
        if key := _ENDINGS.get(reason) or ("live-app-fault" if reason == "failed" and error is None else None):
            error = OmniError(key)
        self._tell(say.State(state="closed"))
        self.ended = say.Ended(
            reason=reason, fault=say.Told.of(error) if error else None, recording=self.recording is not None
        )
        self.outbox.say(self.ended)
        self._away = asyncio.get_running_loop().call_later(self._patience.away, self.outbox.keep_last)

    async def _talk(self) -> Closed | None:
        self._tell(say.State(state="connecting"))
        if self._record is not None:
            try:
                self.recording = await asyncio.to_thread(self._record)
            except OSError as full:
                reason = full.strerror or str(full)
                self._tell(say.notice(OmniError("live-recording-lost", reason=reason)))
        self._began = self._clock()
        closed = None
        log = self.recording.wire if self.recording is not None else None
        async with self._open_session(self._setup, log) as session:
            self._session = session
            try:
                async for moment in session.moments():
                    self._happened(moment)
                    if isinstance(moment, Closed):
                        closed = moment
                    await self.outbox.room()
            finally:
                self._dropped = session.dropped_frames
                self._session = None
        return closed

    def _happened(self, moment: Moment) -> None:
        if self.recording is not None:
            self.recording.moment(moment)
        if isinstance(moment, Speech):
            self.outbox.speak(moment.response, moment.pcm)
            return
        if isinstance(moment, Opened):
            self.opened = moment
            self._opens(moment)
        elif isinstance(moment, Back) and self._session is not None:
            self.opened = self._session.opened or self.opened
        elif isinstance(moment, Interrupted):
            self.outbox.flush(moment.response)
        if word := told(moment, self.opened):
            self._tell(word)

    async def _tick(self) -> None:
        """The session's clock for a page that is here, and an eye on pages that sleep."""
        while True:
            await asyncio.sleep(self._patience.tick)
            now, page, session = self._clock(), self._page, self._session
            if self._muted_at is not None and now - self._muted_at > self._patience.muted:
                self.leave("muted")
            if page is None or session is None or self.opened is None:
                continue
            if self._muted_at is None and now - page.heard_at > self._patience.asleep:
                page.leave(STOPPED_READING)
            left = session.idle_left_s
            self.outbox.say(
                say.Clock(
                    session_s=round(self._at() - self.opened.at, 1),
                    idle_left_s=None if left is None else round(left, 1),
                    dropped_frames=session.dropped_frames + self.page_dropped,
                )
            )

    def _tell(self, word: say.AppWord) -> None:
        if isinstance(word, say.State):
            self._state = word
        self.outbox.say(word)

    def _at(self) -> float:
        """Seconds since the session was asked for: the clock of its moments."""
        return self._clock() - self._began

    def _hear(self) -> None:
        if self._page is not None:
            self._page.heard_at = self._clock()

    def _wait_for_page(self) -> None:
        self._away = asyncio.get_running_loop().call_later(self._patience.away, self.leave, "page-gone")

    def _forget_away(self) -> None:
        if self._away is not None:
            self._away.cancel()
            self._away = None
