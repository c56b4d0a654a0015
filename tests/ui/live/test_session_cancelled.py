"""Whoever holds a session is cancelled: no task, no socket and no session of the server's is left."""

from __future__ import annotations

import asyncio
from dataclasses import replace

import pytest

from tests.ui.live.asking import PIECE, QUICK, SETUP, WIRES
from tests.ui.live.journal_server import JournalServer, journal_server
from tests.ui.live.proxy import Trouble, proxy
from ui.live.session import LiveSession

WAITS = replace(QUICK, close=1.0, grace=10)
TURNS = range(0, 160, 2)
"""Turns of the loop after which it is cancelled: the last are in the middle of an answer."""


async def hold(url: str) -> None:
    async with LiveSession(url, SETUP, waits=WAITS) as live:
        speaking = asyncio.create_task(_speak(live))
        try:
            async for _ in live.moments():
                pass
        finally:
            speaking.cancel()


async def _speak(live: LiveSession) -> None:
    while True:
        live.append(PIECE)
        await asyncio.sleep(0.001)


async def _turns(count: int) -> None:
    for _ in range(count):
        await asyncio.sleep(0)


async def nothing_left(server: JournalServer) -> None:
    assert [task.get_name() for task in asyncio.all_tasks() if task.get_name().startswith("live")] == []
    async with asyncio.timeout(1):  # its time of grace is far longer
        await server.quiet()


@pytest.mark.parametrize("wire", WIRES)
@pytest.mark.parametrize("twice", [False, True])
async def test_cancelled_at_any_time(wire: str, twice: bool) -> None:
    opened = 0
    async with journal_server(wire, grace=30) as server:
        for turns in TURNS:
            holding = asyncio.create_task(hold(server.url))
            await _turns(turns)
            holding.cancel()
            if twice:
                await _turns(turns % 7 + 1)
                holding.cancel()
            with pytest.raises(asyncio.CancelledError):
                await holding
            await nothing_left(server)
        opened = server.opened
    assert opened > len(TURNS) / 3  # not only before the server had heard of it


@pytest.mark.parametrize("wire", WIRES)
async def test_cancelled_while_it_is_being_resumed(wire: str) -> None:
    resumed = 0
    for turns in range(0, 60, 3):
        async with journal_server(wire, grace=30) as server, proxy(server.url, Trouble("cut", "down", 4)) as between:
            holding = asyncio.create_task(hold(between.url))
            async with asyncio.timeout(2):
                await between.met.wait()
            await _turns(turns)
            holding.cancel()
            with pytest.raises(asyncio.CancelledError):
                await holding
            await nothing_left(server)
            resumed += server.resumed
    assert resumed >= 20  # each was resumed: to go on, or to say goodbye


async def test_an_exception_of_the_holder_passes_through() -> None:
    async def fail(url: str) -> None:
        async with LiveSession(url, SETUP, waits=WAITS) as live:
            async for _ in live.moments():
                raise ZeroDivisionError

    async with journal_server("0.30", grace=30) as server:
        with pytest.raises(ZeroDivisionError):
            await fail(server.url)
        await nothing_left(server)
