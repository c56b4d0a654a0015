"""A gateway that breaks on request: `GET /break?socket=hang&stream=502` says how, until the next such request."""

from __future__ import annotations

import asyncio
from urllib.parse import parse_qsl

from starlette.responses import PlainTextResponse
from starlette.types import ASGIApp, Message, Receive, Scope, Send


class Gateway:
    """``socket``: refuse, hang (the upgrade is swallowed), or a number of messages after which it is cut. ``stream``:
    502 for the stream of sound. Everything else passes."""

    def __init__(self, app: ASGIApp) -> None:
        self._app = app
        self._broken: dict[str, str] = {}

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] == "http" and scope["path"] == "/break":
            self._broken = dict(parse_qsl(scope["query_string"].decode()))
            await PlainTextResponse("broken")(scope, receive, send)
        elif scope["type"] == "websocket" and (how := self._broken.get("socket")):
            await self._socket(how, scope, receive, send)
        elif scope["type"] == "http" and scope["path"].endswith("speech.pcm") and "stream" in self._broken:
            await PlainTextResponse("bad gateway", 502)(scope, receive, send)
        else:
            await self._app(scope, receive, send)

    async def _socket(self, how: str, scope: Scope, receive: Receive, send: Send) -> None:
        if how == "refuse":
            await send({"type": "websocket.close"})
        elif how == "hang":
            await asyncio.sleep(60)
        else:
            left = int(how)

            async def until(message: Message) -> None:
                nonlocal left
                if message["type"] == "websocket.send":
                    left -= 1
                    if left < 0:
                        message = {"type": "websocket.close", "code": 1011}
                if left >= -1:
                    await send(message)

            await self._app(scope, receive, until)
