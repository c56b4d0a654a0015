"""What the tests of a session share: a setup, short waits, and reading moments."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from dataclasses import replace
from typing import TypeVar

from ui.live.moments import Closed, Moment, Noticed
from ui.live.setup import Setup, Waits

SETUP = Setup(model="m", instructions="Be kind.", reference=b"RIFFvoice")
QUICK = replace(
    Waits(),
    connect=2,
    open=2,
    close=0.5,
    ack=0.01,
    grace=1.0,
    retry_first=0.01,
    retry_most=0.05,
    full_first=0.01,
    full_most=0.05,
    full_limit=0.5,
)
WIRES = ("0.26", "0.30")
PIECE = b"\x00\x10" * 3200
"""200 ms of microphone."""

M = TypeVar("M", bound=Moment)


async def until(moments: AsyncIterator[Moment], kind: type[M], seen: list[Moment] | None = None) -> M:
    """The next moment of ``kind``; it and all before it go to ``seen``."""
    async with asyncio.timeout(5):
        async for moment in moments:
            if seen is not None:
                seen.append(moment)
            if isinstance(moment, kind):
                return moment
    raise AssertionError(f"no {kind.__name__} in {seen}")


async def rest(moments: AsyncIterator[Moment]) -> list[Moment]:
    """All that still come."""
    async with asyncio.timeout(5):
        return [moment async for moment in moments]


def of(kind: type[M], seen: list[Moment]) -> list[M]:
    return [each for each in seen if isinstance(each, kind)]


def notices(seen: list[Moment]) -> list[str]:
    return [each.notice.key for each in of(Noticed, seen)]


def ended(seen: list[Moment]) -> tuple[str, str | None]:
    """The reason and the key of its end."""
    (closed,) = of(Closed, seen)
    assert closed is seen[-1]
    return closed.reason, closed.error.key if closed.error else None
