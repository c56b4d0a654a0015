"""What each open page is asking: at most one question at a time, from the press of Run on, media preparation included."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable

from ui.turn.request import Request
from ui.turn.turn import Turn
from ui.turn.turns import Turns


class Withdrawn(Exception):
    """The question was taken back (Stop, Clear, another Run, page closed) before it was sent."""


class Desk:
    """Belongs to one event loop. A page is known by Gradio's session hash, a person by the guard's ``owner``.

    A new question ends the page's earlier one. ``stop`` ends it too, wherever it stands: while media are prepared nothing will be sent.
    ``leave`` also forgets the page.
    """

    def __init__(self, turns: Turns) -> None:
        self._turns = turns
        self._preparing: dict[str, asyncio.Future[Request]] = {}
        self._asked: dict[str, Turn] = {}

    def turn(self, page: str) -> Turn | None:
        """What the page asked last."""
        return self._asked.get(page)

    async def ask(self, page: str, owner: str, what: str, preparing: Awaitable[Request]) -> Turn:
        """Prepare the request and start its turn. Raises what ``preparing`` raises, and ``Withdrawn``."""
        await self.stop(page)
        self._asked.pop(page, None)
        future = asyncio.ensure_future(preparing)
        self._preparing[page] = future
        try:
            request = await asyncio.shield(future)
        except asyncio.CancelledError:
            if future.cancelled():
                raise Withdrawn from None
            future.cancel()
            raise
        finally:
            if self._preparing.get(page) is future:
                del self._preparing[page]
        turn = await self._start(request, owner, what)
        self._asked[page] = turn
        return turn

    async def stop(self, page: str) -> None:
        """End what the page is asking; nothing happens when it asks nothing."""
        if preparing := self._preparing.get(page):
            preparing.cancel()
        if turn := self._asked.get(page):
            await turn.stop()

    async def clear(self, page: str) -> None:
        """End it and forget it: no late word of it appears."""
        asked = self._asked.pop(page, None)
        await self.stop(page)
        if asked is not None:
            await asked.stop()

    # A page that has gone has nothing left to show.
    leave = clear

    async def _start(self, request: Request, owner: str, what: str) -> Turn:
        turn = self._turns.start(request, owner, what)
        if turn.request is not request:
            # The same person runs this tab in another window: one voice at a time, and the newest question counts.
            await turn.stop()
            turn = self._turns.start(request, owner, what)
        return turn
