"""A server of a few lines on a real socket: it says what a test tells it to, byte for byte, and tells who hung up."""

from __future__ import annotations

import asyncio
import json
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

CAPTURES = Path(__file__).resolve().parents[2] / "data" / "wire"
MODEL = "openbmb/MiniCPM-o-4_5"


@dataclass
class Call:
    """One request as it came, and the way to answer it."""

    method: str
    path: str
    headers: dict[str, str]
    body: bytes
    reader: asyncio.StreamReader
    writer: asyncio.StreamWriter

    @property
    def json(self) -> Any:
        return json.loads(self.body)

    async def send(self, data: bytes) -> None:
        self.writer.write(data)
        await self.writer.drain()

    async def reply(self, status: int, body: bytes | dict[str, Any], kind: str = "application/json") -> None:
        data = body if isinstance(body, bytes) else json.dumps(body).encode()
        head = f"HTTP/1.1 {status} X\r\ncontent-type: {kind}\r\ncontent-length: {len(data)}\r\n\r\n"
        await self.send(head.encode() + data)

    async def start_stream(self) -> None:
        await self.send(
            b"HTTP/1.1 200 OK\r\ncontent-type: text/event-stream; charset=utf-8\r\ntransfer-encoding: chunked\r\n\r\n"
        )

    async def piece(self, data: bytes) -> None:
        await self.send(f"{len(data):x}\r\n".encode() + data + b"\r\n")

    async def end_stream(self) -> None:
        await self.send(b"0\r\n\r\n")

    async def sse(self, *chunks: dict[str, Any] | str) -> None:
        """``data:`` lines as one answer; a string goes out as it is."""
        await self.start_stream()
        for chunk in chunks:
            await self.piece(event(chunk))
        await self.end_stream()

    async def hung_up(self) -> None:
        """Returns when the client has closed the connection."""
        await self.reader.read()


Chat = Callable[[Call], Awaitable[None]]


@dataclass
class Wire:
    """What a test may look at and change while the server runs. ``open``: connections not yet closed by the client."""

    chat: Chat
    model: str = MODEL
    health: tuple[int, bytes] = (200, b"")
    models: tuple[int, dict[str, Any]] | None = None
    delay_s: float = 0.0
    base_url: str = ""
    open: int = 0
    calls: list[Call] = field(default_factory=list)

    @property
    def chats(self) -> list[Call]:
        return [call for call in self.calls if call.path.endswith("/chat/completions")]

    async def answer(self, call: Call) -> None:
        await asyncio.sleep(self.delay_s)
        if call.path == "/health":
            await call.reply(*self.health)
        elif call.path == "/v1/models":
            await call.reply(
                *(self.models or (200, {"object": "list", "data": [{"id": self.model, "object": "model"}]}))
            )
        elif call.path == "/v1/chat/completions":
            await self.chat(call)
        else:
            await call.reply(404, {"detail": "Not Found"})


def event(chunk: dict[str, Any] | str) -> bytes:
    return chunk.encode() if isinstance(chunk, str) else f"data: {json.dumps(chunk)}\n\n".encode()


DONE = "data: [DONE]\n\n"


def text(content: str, **more: Any) -> dict[str, Any]:
    choice = {"index": 0, "delta": {"content": content}, "finish_reason": None} | more
    return {"id": "x", "object": "chat.completion.chunk", "choices": [choice], "modality": "text"}


def audio(content: Any, **more: Any) -> dict[str, Any]:
    return text(content, **more) | {"modality": "audio"}


def stop(reason: str = "stop") -> dict[str, Any]:
    """The fallback chunk of protocol §2.5 point 5: no modality."""
    return {"id": "x", "choices": [{"index": 0, "delta": {}, "finish_reason": reason}]}


def captured(name: str) -> tuple[int, dict[str, str], bytes]:
    """Status, headers and body of a capture, e.g. ``0.26/chat_text_stream``."""
    raw = (CAPTURES / f"{name}.txt").read_bytes()
    head, _, body = raw.partition(b"\r\n\r\n")
    lines = head.decode().splitlines()[1:]  # the first is a comment: the request
    if lines[0].isdigit():  # captures of requests with media have no headers
        return int(lines[0]), {}, raw.split(b"\n", 2)[2]
    headers = dict(line.split(": ", 1) for line in lines[1:])
    return int(lines[0].split()[1]), headers, body


def replay(name: str) -> Chat:
    """Answers every question with a capture, one network write an event."""
    status, headers, body = captured(name)

    async def chat(call: Call) -> None:
        if headers.get("transfer-encoding") != "chunked":
            await call.reply(status, body.strip())
            return
        await call.start_stream()
        for line in body.split(b"\n\n"):
            if line.strip():
                await call.piece(line.strip() + b"\n\n")
        await call.end_stream()

    return chat


@asynccontextmanager
async def serving(chat: Chat, **settings: Any) -> AsyncIterator[Wire]:
    """A running ``Wire`` on a free port of 127.0.0.1."""
    wire = Wire(chat, **settings)
    lines: set[asyncio.Task[None]] = set()

    def connected(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        lines.add(asyncio.create_task(talk(reader, writer)))

    async def talk(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        wire.open += 1
        try:
            while (call := await _request(reader, writer)) is not None:
                wire.calls.append(call)
                await wire.answer(call)
                if writer.is_closing():
                    break
        except ConnectionError:
            pass  # the client hung up while we were speaking: what the test is about
        finally:
            wire.open -= 1
            writer.close()

    server = await asyncio.start_server(connected, "127.0.0.1", 0)
    wire.base_url = "http://{}:{}".format(*server.sockets[0].getsockname())
    try:
        yield wire
    finally:
        server.close()
        for line in lines:
            line.cancel()
        await asyncio.gather(*lines, return_exceptions=True)


async def _request(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> Call | None:
    try:
        head = (await reader.readuntil(b"\r\n\r\n")).decode()
    except asyncio.IncompleteReadError:
        return None
    first, *lines = head.strip().split("\r\n")
    headers = {name.lower(): value for name, value in (line.split(": ", 1) for line in lines)}
    body = await reader.readexactly(int(headers.get("content-length", 0)))
    method, path, _ = first.split()
    return Call(method, path, headers, body, reader, writer)
