"""A stream's generator is closed by the stream, not by the garbage collector."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncGenerator, MutableMapping
from typing import Any

from launch.rehearsal.wire.connection import EventStream

Message = MutableMapping[str, Any]


async def test_a_stream_closes_its_events_before_it_returns() -> None:
    ended = []

    async def events() -> AsyncGenerator[str, None]:
        try:
            while True:
                yield "data: x\n\n"
        finally:
            ended.append(True)

    gone, blocked = asyncio.Event(), asyncio.Event()

    async def receive() -> Message:
        await gone.wait()
        return {"type": "http.disconnect"}

    async def send(message: Message) -> None:
        if message["type"] == "http.response.body":
            gone.set()
            await blocked.wait()  # a reader that reads no more: the generator stands at its yield

    held = events()  # this reference keeps the collector away
    await asyncio.wait_for(EventStream(held)({"type": "http"}, receive, send), 5)
    assert ended
