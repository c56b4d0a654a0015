"""A server that keeps its promises: sessions with a journal, resume and takeover, time of grace, both wires.

It decides once per five pieces: listen, then an answer of three pieces over three decisions, and so on. A decision is made
at once, so that whole conversations take milliseconds.
"""

from __future__ import annotations

import asyncio
import base64
import json
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager, suppress
from typing import Any

from websockets.asyncio.server import ServerConnection, serve
from websockets.exceptions import ConnectionClosed

WORDS = ("Once ", "upon ", "a time.")
PIECE_MS = 100
_PCM = base64.b64encode(b"\x01\x00" * (24 * PIECE_MS)).decode()


class _Session:
    def __init__(self, id: str, old: bool) -> None:
        self.id = id
        self.old = old
        self.journal: list[dict[str, Any]] = []
        self.socket: ServerConnection | None = None
        self.tokens = {"1"}
        self.pieces = 0
        self.said = 0
        self.answers = 0
        self.active: str | None = None
        self.ended: asyncio.TimerHandle | None = None

    async def send(self, type: str, **fields: Any) -> None:
        event = {"type": type, "event_id": "e", "server_event_seq": len(self.journal) + 1, **fields}
        self.journal.append(event)
        if self.socket:
            with suppress(ConnectionClosed):
                await self.socket.send(json.dumps(event))

    async def decide(self) -> None:
        if self.said == 0 and self.active is None and self.answers % 2 == 0:
            self.answers += 1
            await self.send("response.listen", response={"metadata": {"reason": "model_listen"}})
            return
        if self.active is None:
            self.answers += 1
            self.active = f"resp-{self.id}-{self.answers}"
            await self.send("response.created", response_id=self.active)
            await self.send("response.speak", response_id=self.active)
        self.said += 1
        name = "audio" if self.old else "output_audio"
        until = {"audio_duration_ms": self.said * PIECE_MS}
        await self.send(f"response.{name}.delta", response_id=self.active, delta=_PCM, metadata=until)
        await self.send(f"response.{name}_transcript.delta", response_id=self.active, delta=WORDS[self.said - 1])
        if self.said == len(WORDS):
            await self.done("completed", "stop")

    async def done(self, status: str, reason: str) -> None:
        details = {"type": status, "reason": reason}
        id, self.active, self.said = self.active, None, 0
        await self.send("response.done", response_id=id, response={"status": status, "status_details": details})


class JournalServer:
    """``sessions``: those alive. ``opened``, ``resumed``: how many so far."""

    def __init__(self, wire: str, grace: float) -> None:
        self.url = ""
        self.sessions: dict[str, _Session] = {}
        self.opened = 0
        self.resumed = 0
        self._none = asyncio.Event()
        self._none.set()
        self._old = wire == "0.26"
        self._grace = grace

    async def handle(self, socket: ServerConnection) -> None:
        session = None
        try:
            session = await self._attach(socket, json.loads(await socket.recv()))
            while session and session.socket is socket:
                event = json.loads(await socket.recv())
                session.tokens = {max(session.tokens, key=int)}
                if not await self._take(session, event):
                    break
        except ConnectionClosed:
            pass
        finally:
            if session and session.socket is socket:
                session.socket = None
                loop = asyncio.get_running_loop()
                session.ended = loop.call_later(self._grace, self._left, session)
            socket.transport.abort()

    def _left(self, session: _Session) -> None:
        self.sessions.pop(session.id, None)
        if not self.sessions:
            self._none.set()

    async def quiet(self) -> None:
        """Until no session is left."""
        await self._none.wait()

    async def _attach(self, socket: ServerConnection, first: dict[str, Any]) -> _Session | None:
        if first["type"] == "session.update":
            self.opened += 1
            session = self.sessions[f"s{self.opened}"] = _Session(f"s{self.opened}", self._old)
            self._none.clear()
            session.socket = socket
            created: dict[str, Any] = {"session": {"id": session.id, "capabilities": {}}, "resume_token": "1"}
            if self._old:
                created["incarnation"] = 0
            await socket.send(json.dumps({"type": "session.created", **created}))
            await session.send("session.updated", session=created["session"])
            return session
        session = self.sessions.get(first.get("session_id", ""))
        if first["type"] != "session.resume" or session is None or first["resume_token"] not in session.tokens:
            await socket.send(json.dumps({"type": "error", "error": {"code": "session_resume_expired"}}))
            return None
        self.resumed += 1
        if session.ended:
            session.ended.cancel()
        before, session.socket = session.socket, socket
        if before:
            with suppress(ConnectionClosed):
                await before.send(json.dumps({"type": "session.replaced"}))
            before.transport.abort()
        # Until the new token is known to have arrived the old one is good too (protocol §4.10).
        token = str(self.resumed + 1)
        session.tokens = {first["resume_token"], token}
        answer = {"type": "session.resumed", "session_id": session.id, "resume_token": token}
        await socket.send(json.dumps(answer))
        for event in session.journal[first["last_received_server_event_seq"] :]:
            await socket.send(json.dumps(event))
        return session

    async def _take(self, session: _Session, event: dict[str, Any]) -> bool:
        match event["type"]:
            case "input_audio_buffer.append":
                session.pieces += 1
                if session.pieces % 5 == 0:
                    await session.decide()
            case "response.cancel" if session.active:
                await session.done("cancelled", "barge_in")
            case "session.heartbeat":
                await session.send("session.heartbeat_ack")
            case "session.close":
                if session.active:
                    await session.done("cancelled", "session_close")
                await session.send("session.closed", event={})
                self._left(session)
                session.socket = None
                return False
        return True


@asynccontextmanager
async def journal_server(wire: str, grace: float = 1.0) -> AsyncIterator[JournalServer]:
    here = JournalServer(wire, grace)
    async with serve(here.handle, "127.0.0.1", 0, max_size=1 << 24, ping_interval=None) as listening:
        here.url = f"http://127.0.0.1:{next(iter(listening.sockets)).getsockname()[1]}"
        yield here
