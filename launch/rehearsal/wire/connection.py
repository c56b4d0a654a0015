"""Work that ends with its client: a stream or an answer is given up the moment nobody listens any more."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncGenerator, Coroutine
from contextlib import aclosing
from typing import Any, TypeVar

from starlette.responses import Response
from starlette.types import Receive, Scope, Send

DROP = "rehearsal.drop"
"""Key in the ASGI scope's ``extensions``: a callable that cuts the connection (``serve.py`` puts it there)."""


T = TypeVar("T")


async def while_connected(receive: Receive, work: Coroutine[Any, Any, T]) -> T | None:
    """The result of ``work``, or ``None`` when the client left first; ``work`` is then cancelled and awaited."""
    working = asyncio.ensure_future(work)
    leaving = asyncio.ensure_future(_disconnected(receive))
    try:
        await asyncio.wait({working, leaving}, return_when=asyncio.FIRST_COMPLETED)
        return working.result() if working.done() else None
    finally:
        working.cancel()
        leaving.cancel()
        await asyncio.gather(working, leaving, return_exceptions=True)


async def _disconnected(receive: Receive) -> None:
    while (await receive())["type"] != "http.disconnect":
        pass


class EventStream(Response):
    """Server-sent events. Starlette's own streaming response leaves a generator that waits in ``yield`` to the garbage
    collector when the client goes; this one closes it there and then."""

    media_type = "text/event-stream"

    def __init__(self, events: AsyncGenerator[str, None]) -> None:
        self.events = events
        self.status_code = 200
        self.background = None
        self.body = b""
        self.init_headers()
        del self.headers["content-length"]

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        await while_connected(receive, self._send(send))

    async def _send(self, send: Send) -> None:
        async with aclosing(self.events):
            await send({"type": "http.response.start", "status": self.status_code, "headers": self.raw_headers})
            async for event in self.events:
                await send({"type": "http.response.body", "body": event.encode(), "more_body": True})
        await send({"type": "http.response.body", "body": b"", "more_body": False})
