"""The player channel on a real socket, over turns whose server is the test itself."""

from __future__ import annotations

import asyncio
import time
from collections.abc import AsyncIterator
from typing import Any

import httpx
import pytest_asyncio
import uvicorn
import websockets
from fastapi import FastAPI

from launch.rehearsal.wire.serve import listen
from ui.guard import Guard
from ui.live.speech import router
from ui.turn.events import TurnEvent
from ui.turn.parts import Message, Settings, Text
from ui.turn.request import Request
from ui.turn.turn import Turn
from ui.turn.turns import Turns


class ScriptedClient:
    """Says what the test puts into ``events``; ``None`` ends the stream."""

    clock = staticmethod(time.perf_counter)
    served = ("scripted", "0.26")

    def __init__(self) -> None:
        self.events: asyncio.Queue[TurnEvent | None] = asyncio.Queue()

    async def stream(self, request: Request) -> AsyncIterator[TurnEvent]:
        while (event := await self.events.get()) is not None:
            yield event

    async def check(self) -> Any:
        raise AssertionError("no test here stops long enough to look")


class Channel:
    """The routes at ``url``, and two visitors."""

    def __init__(self, url: str, guard: Guard, turns: Turns, client: ScriptedClient) -> None:
        self.url = url
        self.guard = guard
        self.turns = turns
        self.client = client
        self.mine, self.theirs = guard.issue(), guard.issue()

    def turn(self) -> Turn:
        """A turn that waits for ``say``."""
        owner = self.guard.owner_of({self.guard.cookie: self.mine})
        assert owner is not None
        return self.turns.start(Request((Message("user", (Text("hi"),)),), Settings(speech=True)), owner)

    def say(self, *events: TurnEvent | None) -> None:
        for event in events:
            self.client.events.put_nowait(event)

    def headers(self, token: str | None, origin: str | None = None) -> dict[str, str]:
        headers = {"origin": origin or self.url}
        return headers | ({"cookie": f"{self.guard.cookie}={token}"} if token else {})

    def http(self, token: str | None, **more: str) -> httpx.AsyncClient:
        return httpx.AsyncClient(base_url=self.url, headers=self.headers(token) | more, trust_env=False)

    def socket(self, turn: Turn, start: int = 0, token: str | None = None, origin: str | None = None) -> Any:
        url = f"{self.url.replace('http', 'ws')}/turns/{turn.id}/speech?start={start}"
        headers = self.headers(self.mine if token is None else token, origin)
        return websockets.connect(url, additional_headers=headers, proxy=None)


@pytest_asyncio.fixture
async def channel() -> AsyncIterator[Channel]:
    client, guard = ScriptedClient(), Guard()
    turns = Turns(client, None)  # type: ignore[arg-type]  # the seam: whatever streams
    app = FastAPI()
    app.include_router(router(turns, guard, "http://127.0.0.1:8091", key=True))
    sock = listen("127.0.0.1", 0)
    server = uvicorn.Server(uvicorn.Config(app, log_level="warning", timeout_graceful_shutdown=1))
    serving = asyncio.create_task(server.serve(sockets=[sock]))
    for _ in range(1_000):
        if server.started:
            break
        await asyncio.sleep(0.01)
    yield Channel(f"http://127.0.0.1:{sock.getsockname()[1]}", guard, turns, client)
    await turns.close()
    server.should_exit = True
    await serving
