"""A page that visits its conversation, and what is borne with it."""

from __future__ import annotations

import asyncio
from dataclasses import dataclass

TAKEN_OVER, STOPPED_READING = 4409, 4408


@dataclass(frozen=True)
class Patience:
    """Seconds. ``away``: a page may be without its socket. ``asleep``: it may be silent though it is not muted; it sends
    five frames a second, so a minute of nothing is a frozen tab that holds somebody's place. ``muted``: so long, and it
    was forgotten. ``tick``: the session's clock on the page. ``close``: the session's own goodbye takes 5 s at most.
    """

    away: float = 20.0
    asleep: float = 60.0
    muted: float = 600.0
    tick: float = 1.0
    close: float = 8.0


class Page:
    """One socket of the page. ``left`` gets the close code with which it must go."""

    def __init__(self, heard_at: float) -> None:
        self.left: asyncio.Future[int] = asyncio.get_running_loop().create_future()
        self.heard_at = heard_at

    def leave(self, code: int) -> None:
        if not self.left.done():
            self.left.set_result(code)
