"""Page, app, session and rehearsal engine together: what the engine said is what the page has, whatever breaks between."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import replace

import pytest
import websockets

from launch.rehearsal.brain.canned import tone
from launch.rehearsal.wire.realtime.lobby import LIMITS
from tests.engine import running_engine
from tests.ui.live.asking import QUICK as QUICK_SESSION
from tests.ui.live.asking import WIRES
from tests.ui.live.proxy import Trouble, proxy
from tests.ui.live.scripted import QUICK, House, Reader, house, mic
from ui.live.session import LiveSession

LOUD, SILENT = b"\x00\x20" * 3200, bytes(6400)
WAITS = replace(QUICK_SESSION, open=10, close=2, grace=5)
PACE_S = 0.02  # ten times as fast as a voice
ANSWER = tone(0, 3.0)
"""What the engine without weights says to everything: ten words, three seconds."""


@asynccontextmanager
async def app_before(url: str, *, limit: int | None = None) -> AsyncIterator[House]:
    patience = replace(QUICK, away=10.0, tick=1.0)
    async with house(
        patience=patience, limit=limit, open_session=lambda setup, log: LiveSession(url, setup, waits=WAITS, log=log)
    ) as it:
        yield it


@asynccontextmanager
async def voice(socket: websockets.ClientConnection, *, first: int = 0) -> AsyncIterator[None]:
    """A microphone that says something every eight seconds of its own time."""

    async def speak() -> None:
        number = first
        while True:
            await socket.send(mic(number, LOUD if 5 < number % 40 <= 12 else SILENT))
            number += 1
            await asyncio.sleep(PACE_S)

    speaking = asyncio.create_task(speak())
    try:
        yield
    finally:
        speaking.cancel()
        await asyncio.wait([speaking])


def whole(page: Reader) -> None:
    """Every answer that was spoken to its end has come to its end, once."""
    for spoken in page.of("spoken"):
        assert spoken["status"] == "completed"
        assert page.sound[spoken["response"]] == ANSWER
        assert (
            "".join(it["text"] for it in page.of("caption") if it["response"] == spoken["response"]) == spoken["text"]
        )


@pytest.mark.parametrize("wire", WIRES)
async def test_two_answers(wire: str) -> None:
    async with running_engine(wire=wire) as url, app_before(url) as it:
        id, page = await it.open(), Reader()
        async with it.socket(id) as socket:
            await page.until(socket, "state", state="open", wire=wire)
            async with voice(socket):
                for response in (1, 2):
                    await page.until(socket, "spoken", response=response)
            await socket.send('{"type": "close"}')
            assert (await page.until(socket, "ended"))["reason"] == "stop"
        whole(page)
        assert page.of("listen")
        assert page.of("latency")[0]["ttfp_ms"] >= 0
        assert page.of("notice") == []


@pytest.mark.parametrize("way", ["up", "down"])
@pytest.mark.parametrize("after", [2, 5, 9, 13])
async def test_both_lines_break_in_the_middle_of_an_answer(after: int, way: str) -> None:
    async with (
        running_engine() as url,
        proxy(url, Trouble("cut", way, after if way == "down" else 2 * after + 4)) as between,  # type: ignore[arg-type]
        app_before(between.url) as it,
    ):
        id, page = await it.open(), Reader()
        async with it.socket(id) as socket:
            await page.until(socket, "state", state="open")
            async with voice(socket):
                await page.until(socket, "speaking", response=1)
                while len(page.sound.get(1, b"")) < 20_000:
                    page.take(await socket.recv())
            socket.transport.abort()
        async with it.socket(id, after=page.last) as socket, voice(socket, first=1_000):
            await page.until(socket, "spoken", response=1)
            await page.until(socket, "spoken", response=2)
        assert between.struck
        whole(page)
        assert [it["resumed"] for it in page.of("state") if "resumed" in it] in ([True], [False])


async def test_with_as_many_places_as_the_server_it_never_has_to_refuse() -> None:
    async with running_engine(limits=replace(LIMITS, max_sessions=1)) as url, app_before(url, limit=1) as it:
        tokens = [it.guard.issue() for _ in range(3)]
        ids = [await it.open(token) for token in tokens]
        for id, token in zip(ids, tokens, strict=True):
            page = Reader()
            async with it.socket(id, token=token) as socket:
                await page.until(socket, "state", state="open")
                await socket.send('{"type": "close"}')
                await page.until(socket, "ended")
            assert [it["state"] for it in page.of("state") if it["state"] == "waiting"] == []


async def test_a_server_full_of_others_is_waited_for() -> None:
    async with running_engine(limits=replace(LIMITS, max_sessions=1)) as url, app_before(url) as it:
        first, second = await it.open(), await it.open(it.theirs)
        async with it.socket(first) as one, it.socket(second, token=it.theirs) as other:
            await Reader().until(one, "state", state="open")
            page = Reader()
            await page.until(other, "state", state="waiting", attempt=1)
            await one.send('{"type": "close"}')
            await page.until(other, "state", state="open")
