"""A hostile TCP proxy between a session and its server: it knows WebSocket frames, and misbehaves after a chosen one.

``Trouble(kind, way, after)``: after ``after`` text frames have gone ``way`` on a connection,

- ``cut``: both sides are reset;
- ``half-close``: the receiver of that way sees the end of the stream, the other way goes on;
- ``freeze``: nothing passes any more, either way, and nobody is told;
- ``stall``: nothing passes for ``seconds``, then all of it;
- ``delay``: every further frame of that way comes ``seconds`` late.

The first trouble is the first connection's, and so on; later ones pass unharmed.
"""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager, suppress
from dataclasses import dataclass
from typing import Literal
from urllib.parse import urlsplit

Kind = Literal["cut", "half-close", "freeze", "stall", "delay"]
Way = Literal["up", "down"]
_TEXT = 1


@dataclass(frozen=True)
class Trouble:
    kind: Kind
    way: Way
    after: int
    seconds: float = 0.0


class Proxy:
    """``struck``: the troubles that were met. ``open``: connections now."""

    def __init__(self, upstream: str, troubles: tuple[Trouble, ...]) -> None:
        parts = urlsplit(upstream)
        self._to = (parts.hostname or "", parts.port or 80)
        self._troubles = troubles
        self.url = ""
        self.struck: list[Trouble] = []
        self.met = asyncio.Event()
        self.connections = 0
        self.open = 0
        self._none = asyncio.Event()
        self._none.set()

    async def handle(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        self.connections += 1
        self.open += 1
        self._none.clear()
        trouble = self._troubles[self.connections - 1] if self.connections <= len(self._troubles) else None
        try:
            far_reader, far_writer = await asyncio.open_connection(*self._to)
        except OSError:
            writer.transport.abort()
            self._left()
            return
        line = _Line(self, writer, far_writer, trouble)
        tasks = [
            asyncio.create_task(line.carry(reader, far_writer, "up")),
            asyncio.create_task(line.carry(far_reader, writer, "down")),
        ]
        try:
            await asyncio.wait(tasks)
        finally:
            for task in tasks:
                task.cancel()
            for end in (writer, far_writer):
                end.transport.abort()
            self._left()

    def _left(self) -> None:
        self.open -= 1
        if not self.open:
            self._none.set()

    async def quiet(self) -> None:
        """Until no connection is left."""
        await self._none.wait()


class _Line:
    """One connection through the proxy."""

    def __init__(
        self, proxy: Proxy, near: asyncio.StreamWriter, far: asyncio.StreamWriter, trouble: Trouble | None
    ) -> None:
        self._proxy = proxy
        self._ends = (near, far)
        self._trouble = trouble
        self._passed = 0
        self._flowing = asyncio.Event()
        self._flowing.set()
        self._late: dict[Way, float] = {"up": 0.0, "down": 0.0}
        self._deaf: set[Way] = set()

    async def carry(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter, way: Way) -> None:
        with suppress(asyncio.IncompleteReadError, ConnectionError):
            await self._pass(await reader.readuntil(b"\r\n\r\n"), writer, way)
            while True:
                head = await reader.readexactly(2)
                length, masked, opcode = head[1] & 127, head[1] & 128, head[0] & 15
                if length > 125:
                    more = await reader.readexactly(2 if length == 126 else 8)
                    head, length = head + more, int.from_bytes(more, "big")
                body = await reader.readexactly(length + (4 if masked else 0))
                if self._trouble and opcode == _TEXT and way == self._trouble.way:
                    self._passed += 1
                    if self._passed == self._trouble.after + 1:
                        self._strike(writer, way, self._trouble)
                await self._pass(head + body, writer, way)
        if self._deaf:  # whoever has given up on a broken line gives up the whole of it
            for end in self._ends:
                end.transport.abort()
        elif self._flowing.is_set():
            with suppress(OSError):
                writer.write_eof()

    async def _pass(self, data: bytes, writer: asyncio.StreamWriter, way: Way) -> None:
        await self._flowing.wait()
        if self._late[way]:
            await asyncio.sleep(self._late[way])
        if way not in self._deaf:
            writer.write(data)
            await writer.drain()

    def _strike(self, writer: asyncio.StreamWriter, way: Way, trouble: Trouble) -> None:
        self._proxy.struck.append(trouble)
        self._proxy.met.set()
        match trouble.kind:
            case "cut":
                for end in self._ends:
                    end.transport.abort()
                raise ConnectionError
            case "half-close":
                writer.write_eof()
                self._deaf.add(way)
            case "freeze":
                self._deaf |= {"up", "down"}
            case "stall":
                self._flowing.clear()
                asyncio.get_running_loop().call_later(trouble.seconds, self._flowing.set)
            case "delay":
                self._late[way] = trouble.seconds


@asynccontextmanager
async def proxy(upstream: str, *troubles: Trouble) -> AsyncIterator[Proxy]:
    """A proxy to ``upstream`` (http://host:port)."""
    here = Proxy(upstream, troubles)
    server = await asyncio.start_server(here.handle, "127.0.0.1", 0)
    here.url = f"http://127.0.0.1:{server.sockets[0].getsockname()[1]}"
    async with server:
        yield here
