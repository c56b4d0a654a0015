"""One socket's way out: what is to be sent, in order, and how it ends."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from dataclasses import dataclass

from starlette.websockets import WebSocket, WebSocketDisconnect

from launch.rehearsal.wire.connection import DROP

HANG_UP = "rehearsal.hang-up"
"""Keys in the ASGI scope's ``extensions`` beside ``DROP`` (``serve.py`` puts them there): end the connection without a close
frame once everything is sent, as 0.26 ends every session,"""
FREEZE = "rehearsal.freeze"
"""or read nothing more, pings included."""


@dataclass(frozen=True)
class _End:
    """``code`` None: without a close frame."""

    code: int | None
    reason: str


class Attachment:
    """Writes what ``say`` was given until ``end``. ``trouble``: what befalls it after so many events of answers."""

    def __init__(self, socket: WebSocket, trouble: Callable[[int], str | None] = lambda count: None) -> None:
        self._socket = socket
        self.trouble = trouble
        self._out: asyncio.Queue[str | _End] = asyncio.Queue()
        self._answered = 0
        self.died = asyncio.Event()
        """A stage of the server died (a fault)."""
        self._writing = asyncio.create_task(self._write(), name="realtime out")

    def say(self, text: str) -> None:
        self._out.put_nowait(text)

    def end(self, code: int | None = None, reason: str = "") -> None:
        """Everything that was said is sent, then the connection ends."""
        self._out.put_nowait(_End(code, reason))

    async def close(self, *, at_once: bool) -> None:
        """Waits until the connection has ended; ``at_once``: nobody reads it any more."""
        if at_once:
            self._writing.cancel()
        await asyncio.wait([self._writing])

    async def _write(self) -> None:
        try:
            while isinstance(item := await self._out.get(), str):
                await self._socket.send_text(item)
                if '"response.' in item[:40] and '"response.listen' not in item[:40]:
                    self._answered += 1
                    fault = self.trouble(self._answered)
                    if fault == "stage-death":
                        self.died.set()
                    elif fault is not None:
                        return self._call(DROP if fault == "drop-after" else FREEZE)
            if item.code is None:
                self._call(HANG_UP)
            else:
                await self._socket.close(item.code, item.reason)
        except (WebSocketDisconnect, RuntimeError):
            return  # the client has gone; RuntimeError is Starlette's word for "between two sends"

    def _call(self, name: str) -> None:
        self._socket.scope["extensions"][name]()
