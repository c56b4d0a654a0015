"""A server that does what a test writes: one script per socket, on loopback."""

from __future__ import annotations

import asyncio
import base64
import json
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager
from typing import Any

from websockets.asyncio.server import ServerConnection, serve

from ui.live.moments import SPEECH_RATE


class Peer:
    """One socket of a session as the script sees it."""

    def __init__(self, socket: ServerConnection, seq: list[int], wire: str) -> None:
        self.socket = socket
        self.wire = wire
        self.got: list[dict[str, Any]] = []
        self._seq = seq

    async def receive(self, *types: str) -> dict[str, Any]:
        """The client's next event (of one of ``types``)."""
        while True:
            event = json.loads(await self.socket.recv())
            self.got.append(event)
            if not types or event["type"] in types:
                return event

    async def send(self, type: str, **fields: Any) -> None:
        """An event with the session's next number."""
        self._seq[0] += 1
        await self.bare(type, server_event_seq=self._seq[0], **fields)

    async def bare(self, type: str, **fields: Any) -> None:
        """An event without a number."""
        await self.socket.send(json.dumps({"type": type, "event_id": "event_1", **fields}))

    async def open(self, token: str = "token-1", **capabilities: Any) -> dict[str, Any]:
        """Takes session.update and opens; returns what was asked."""
        asked = await self.receive("session.update")
        session = {"id": "duplex-1", "idle_timeout_s": 300.0, "capabilities": capabilities}
        old = {"incarnation": 0} if self.wire == "0.26" else {}
        await self.bare("session.created", session=session, resume_token=token, attachment_generation=1, **old)
        await self.send("session.updated", session=session)
        return asked["session"]

    async def resumed(self, token: str = "token-2") -> dict[str, Any]:
        """Takes session.resume and grants it."""
        asked = await self.receive("session.resume")
        await self.bare("session.resumed", session_id="duplex-1", resume_token=token, attachment_generation=2)
        return asked

    async def begin(self, id: str) -> None:
        await self.send("response.created", response_id=id, response={"id": id, "status": "in_progress"})

    async def say(self, id: str, text: str, ms: float, until_ms: float) -> None:
        old = self.wire == "0.26"
        pcm = b"\x01\x00" * int(SPEECH_RATE * ms / 1000)
        await self.send(
            "response.audio.delta" if old else "response.output_audio.delta",
            response_id=id,
            delta=base64.b64encode(pcm).decode(),
            format="pcm16",
            metadata={"audio_duration_ms": until_ms},
        )
        await self.send(
            "response.audio_transcript.delta" if old else "response.output_audio_transcript.delta",
            response_id=id,
            delta=text,
        )

    async def done(self, id: str, status: str = "completed", reason: str = "stop") -> None:
        details = {"type": status, "reason": reason}
        await self.send(
            "response.done", response_id=id, response={"id": id, "status": status, "status_details": details}
        )

    async def listen(self, reason: str = "model_listen") -> None:
        await self.send("response.listen", response={"status": "listening", "metadata": {"reason": reason}})

    async def error(self, code: str, message: str = "no") -> None:
        await self.bare("error", error={"type": "invalid_request_error", "code": code, "message": message})

    async def closing(self) -> None:
        """Takes everything up to session.close and ends as 0.26 does, without a close frame, or as 0.30 does."""
        await self.receive("session.close")
        await self.send("session.closed", event={"type": "session.closed"})
        if self.wire == "0.26":
            self.cut()
        else:
            await self.socket.close(1000, "client_close")

    def cut(self) -> None:
        """The socket breaks."""
        self.socket.transport.abort()


Script = Callable[[Peer], Awaitable[None]]


class FakeServer:
    """``peers``: the sockets so far. ``open``: how many are up."""

    def __init__(self, scripts: tuple[Script, ...], wire: str) -> None:
        self.peers: list[Peer] = []
        self.open = 0
        self.url = ""
        self.wire = wire
        self._scripts = scripts
        self._seq = [0]
        self._none = asyncio.Event()

    async def handle(self, socket: ServerConnection) -> None:
        script = self._scripts[min(len(self.peers), len(self._scripts) - 1)]
        peer = Peer(socket, self._seq, self.wire)
        self.peers.append(peer)
        self.open += 1
        self._none.clear()
        try:
            await script(peer)
            await socket.wait_closed()
        finally:
            self.open -= 1
            if not self.open:
                self._none.set()

    async def quiet(self) -> None:
        """Until no socket is up."""
        async with asyncio.timeout(5):
            await self._none.wait()


@asynccontextmanager
async def fake_server(*scripts: Script, wire: str = "0.26") -> AsyncIterator[FakeServer]:
    """The first socket gets the first script, and so on; the last serves all further ones."""
    server = FakeServer(scripts, wire)
    async with serve(server.handle, "127.0.0.1", 0, max_size=1 << 24, ping_interval=None) as listening:
        port = next(iter(listening.sockets)).getsockname()[1]
        server.url = f"http://127.0.0.1:{port}"
        yield server
