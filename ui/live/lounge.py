"""Who talks, who waits, and for how long the ended ones are remembered."""

from __future__ import annotations

import asyncio
import secrets
import time
from collections.abc import Callable
from dataclasses import dataclass
from functools import partial

from launch.errors import ServerRefused
from ui.live.conversation import Conversation
from ui.live.moments import Opened
from ui.live.seams import OpenSession, Recorder
from ui.live.setup import Setup
from ui.live.visit import Patience

LIMIT = 2
"""Conversations at once where nobody says otherwise: the bundled duplex deploy file of 0.26 admits two."""
_QUEUE = 32  # more than ever stand before one stand; whoever comes then is told to come later
_KEEP = 16  # ended conversations whose recording can still be fetched; the files stay on disk

_GOODBYE_S = 0.7  # of the 2 s in which Ctrl-C ends the app; a server that answers closes a session in milliseconds


@dataclass(frozen=True)
class Wishes:
    """What a conversation is opened with. ``record``: its sound, events and transcript are kept."""

    setup: Setup
    record: bool = False


@dataclass(frozen=True)
class Crowd:
    """``limit``: conversations at once; ``queued``: those that wait; ``mine``: id of the asking owner's conversation."""

    limit: int
    running: int
    queued: int
    mine: str | None

    @property
    def free(self) -> int:
        return max(0, self.limit - self.running)


class Lounge:
    """Owns every conversation's task. Belongs to one event loop; ``close`` ends all of them.

    At most ``limit`` run at once, so that the server never has to refuse one of ours; ``None``: what the server says
    of itself once it has opened one, else what is known of it (``expected``), else ``LIMIT``. Others wait in the order
    they came. An owner has one conversation: a new one ends the old, and takes its place or its position. ``record``
    makes a recording.
    """

    def __init__(
        self,
        open_session: OpenSession,
        *,
        limit: int | None = None,
        record: Callable[[Setup], Recorder] | None = None,
        clock: Callable[[], float] = time.monotonic,
        patience: Patience | None = None,
    ) -> None:
        self._open_session = open_session
        self._given = limit
        self._record = record
        self._clock = clock
        self._patience = patience or Patience()
        self._conversations: dict[str, Conversation] = {}  # as opened; of the ended ones the newest few
        self._waiting: list[tuple[Conversation, asyncio.Future[None]]] = []
        self._running: set[Conversation] = set()
        self._lives: set[asyncio.Task[None]] = set()
        self._closed = False
        self.server: Opened | None = None
        """The session opened last: what the server can, as far as it is known."""
        self.expected: int | None = None
        """How many sessions the server was started for, where somebody knows."""

    @property
    def limit(self) -> int:
        if self._given is not None:
            return self._given
        said = self.server.capabilities.get("max_sessions") if self.server is not None else None
        return said if isinstance(said, int) and said > 0 else self.expected or LIMIT

    def open(self, owner: str, wishes: Wishes) -> Conversation:
        """A conversation for ``owner``, running or queued. Their earlier one ends. Raises ``ServerRefused`` (live-queue-full)
        when too many wait, ``RuntimeError`` once closed."""
        if self._closed:
            raise RuntimeError("the lounge is closed")
        if len(self._waiting) >= _QUEUE:
            raise ServerRefused("live-queue-full", waiting=len(self._waiting))
        conversation = Conversation(
            secrets.token_urlsafe(12),
            owner,
            wishes.setup,
            self._open_session,
            record=partial(self._record, wishes.setup) if wishes.record and self._record is not None else None,
            opens=self._learn,
            clock=self._clock,
            patience=self._patience,
        )
        place = self._place_of(owner)
        self._conversations[conversation.id] = conversation
        future = asyncio.get_running_loop().create_future()
        self._waiting.insert(place, (conversation, future))
        life = asyncio.create_task(self._live(conversation, future), name=f"conversation {conversation.id[:6]}")
        self._lives.add(life)
        life.add_done_callback(self._lives.discard)
        self._admit()
        return conversation

    def get(self, id: str, owner: str) -> Conversation | None:
        """The conversation, if it is still kept and belongs to ``owner``."""
        conversation = self._conversations.get(id)
        return conversation if conversation is not None and conversation.owner == owner else None

    def crowd(self, owner: str) -> Crowd:
        """How full it is, for ``owner``."""
        mine = next((it.id for it in self._conversations.values() if it.owner == owner and it.ended is None), None)
        return Crowd(self.limit, len(self._running), len(self._waiting), mine)

    async def close(self) -> None:
        """Ends every conversation, and waits for as long as Ctrl-C has patience."""
        self._closed = True
        for conversation in self._conversations.values():
            conversation.leave("app-closing")
        if self._lives:
            await asyncio.wait(self._lives, timeout=_GOODBYE_S)
        if hanging := set(self._lives):
            for life in hanging:
                life.cancel()
            await asyncio.wait(hanging, timeout=_GOODBYE_S)

    def _place_of(self, owner: str) -> int:
        """Where in the queue a new conversation of ``owner`` stands; whatever they had before is told to end."""
        place = len(self._waiting)
        for position, (conversation, _) in enumerate(self._waiting):
            if conversation.owner == owner and conversation.ended is None:
                place = position
        for conversation in self._conversations.values():
            if conversation.owner == owner and conversation.ended is None:
                place = 0 if conversation in self._running else place
                conversation.leave("taken-over")
        return place

    async def _live(self, conversation: Conversation, place: asyncio.Future[None]) -> None:
        leaving = asyncio.create_task(conversation.left(), name=f"queue {conversation.id[:6]}")
        try:
            await asyncio.wait({place, leaving}, return_when=asyncio.FIRST_COMPLETED)
            if place.done() and not leaving.done():
                await conversation.run()
            else:
                await conversation.finish(None)
        finally:
            leaving.cancel()
            self._waiting = [waiting for waiting in self._waiting if waiting[0] is not conversation]
            self._running.discard(conversation)
            self._forget()
            self._admit()

    def _admit(self) -> None:
        """Whoever is first takes what is free; the others are told where they stand."""
        while self._waiting and len(self._running) < self.limit:
            conversation, place = self._waiting.pop(0)
            self._running.add(conversation)
            place.set_result(None)
        for position, (conversation, _) in enumerate(self._waiting, 1):
            conversation.queued(position)

    def _learn(self, opened: Opened) -> None:
        self.server = opened
        self._admit()

    def _forget(self) -> None:
        ended = [it.id for it in self._conversations.values() if it.ended is not None]
        for id in ended[:-_KEEP]:
            del self._conversations[id]
