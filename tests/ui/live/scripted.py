"""A live session that says what a test tells it to, and the app's routes around it on a real socket."""

from __future__ import annotations

import asyncio
import json
from collections.abc import AsyncIterator, Callable, Mapping
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any, Literal, Self

import httpx
import uvicorn
import websockets
from fastapi import FastAPI

from launch.errors import ServerGone
from launch.rehearsal.wire.serve import listen
from ui.guard import Guard
from ui.live.conversation import Conversation
from ui.live.lounge import Lounge
from ui.live.moments import Closed, Interrupted, Moment, Opened, Speech
from ui.live.neighbour import Neighbour
from ui.live.page_wire import HEADER, MICROPHONE
from ui.live.reception import router
from ui.live.relay import Limits
from ui.live.seams import OpenSession
from ui.live.setup import Setup
from ui.live.visit import Patience

OPENED = Opened(0.1, "duplex-1", "0.30", True, True, 300.0, {"supports_barge_in": True})
QUICK = Patience(away=5.0, asleep=5.0, muted=5.0, tick=0.05, close=1.0)


class ScriptedSession:
    """Opens at once; ``say`` is the server's mouth. ``slow`` keeps it from closing until the event is set."""

    def __init__(self, setup: Setup, log: Callable[[Mapping[str, Any]], None] | None) -> None:
        self.setup = setup
        self.log = log
        self.dropped_frames = 0
        self.opened: Opened | None = None
        self.idle_left_s: float | None = 300.0
        self.heard: list[tuple[bytes, bytes | None]] = []
        self.acks: list[tuple[int, float]] = []
        self.interrupts: list[str] = []
        self.state: Literal["new", "live", "closed"] = "new"
        self._moments: asyncio.Queue[Moment | None] = asyncio.Queue()

    async def __aenter__(self) -> Self:
        self.state = "live"
        self.say(OPENED)
        return self

    async def __aexit__(self, *_: object) -> None:
        await self.close()

    def say(self, *moments: Moment) -> None:
        for moment in moments:
            if isinstance(moment, Opened):
                self.opened = moment
            self._moments.put_nowait(moment)

    async def moments(self) -> AsyncIterator[Moment]:
        while (moment := await self._moments.get()) is not None:
            yield moment
            if isinstance(moment, Closed):
                return

    def append(self, pcm: bytes, jpeg: bytes | None = None) -> bool:
        self.heard.append((pcm, jpeg))
        return True

    def played(self, response: int, ms: float) -> None:
        self.acks.append((response, ms))

    async def interrupt(self, by: Literal["stop", "voice"]) -> None:
        self.interrupts.append(by)
        self.say(Interrupted(1.0, 1, by))

    async def close(self) -> None:
        if self.state == "live":
            self.state = "closed"
            self.say(Closed(2.0, "closed"))


class ModelClient:
    """What the routes ask of the server's client."""

    def __init__(self) -> None:
        self.gone = False

    async def model(self) -> str:
        if self.gone:
            raise ServerGone("server-not-up")
        return "scripted"


class House:
    """The routes at ``url``; a visitor is known by the token that ``guard`` gave."""

    def __init__(self, url: str, guard: Guard, lounge: Lounge, client: ModelClient, sessions: list[ScriptedSession]):
        self.url = url
        self.guard = guard
        self.lounge = lounge
        self.client = client
        self.sessions = sessions
        self.mine, self.theirs = guard.issue(), guard.issue()

    def headers(self, token: str | None, origin: str | None = None) -> dict[str, str]:
        headers = {"origin": origin or self.url}
        return headers | ({"cookie": f"{self.guard.cookie}={token}"} if token else {})

    def http(self, token: str | None = "", origin: str | None = None) -> httpx.AsyncClient:
        headers = self.headers(self.mine if token == "" else token, origin)
        return httpx.AsyncClient(base_url=self.url, headers=headers, trust_env=False, timeout=20)

    async def open(self, token: str = "", **wishes: Any) -> str:
        """A conversation's id."""
        async with self.http(token) as http:
            answer = await http.post("/live", json=wishes)
        assert answer.status_code == 200, answer.text
        return answer.json()["id"]

    def socket(self, id: str, after: int | None = None, token: str | None = "", origin: str | None = None, **more: str):
        query = "&".join(
            f"{key}={value}" for key, value in ({"after": after} if after is not None else {} | more).items()
        )
        url = f"{self.url.replace('http', 'ws')}/live/{id}/socket?{query}"
        headers = self.headers(self.mine if token == "" else token, origin)
        return websockets.connect(url, additional_headers=headers, proxy=None, max_size=None)

    async def _raw(
        self, request: str, head: dict[str, str], limit: int
    ) -> tuple[asyncio.StreamReader, asyncio.StreamWriter]:
        host = self.url.removeprefix("http://")
        reader, writer = await asyncio.open_connection(*host.split(":"), limit=limit)
        lines = "".join(
            f"{name}: {value}\r\n" for name, value in ({"host": host} | head | self.headers(self.mine)).items()
        )
        writer.write(f"{request} HTTP/1.1\r\n{lines}\r\n".encode())
        return reader, writer

    async def announce(self, path: str, length: int) -> tuple[int, Any]:
        """The status and JSON that a POST of ``length`` bytes gets of which none is sent."""
        reader, writer = await self._raw(
            f"POST {path}", {"content-length": str(length), "connection": "close"}, limit=65_536
        )
        async with asyncio.timeout(5):
            answer = await reader.read()
        writer.close()
        head, _, body = answer.partition(b"\r\n\r\n")
        return int(head.split()[1]), json.loads(body)

    @asynccontextmanager
    async def deaf_socket(self, id: str) -> AsyncIterator[None]:
        """A page that says hello and never reads a byte more."""
        head = {"upgrade": "websocket", "connection": "Upgrade", "sec-websocket-version": "13"}
        head |= {"sec-websocket-key": "AAAAAAAAAAAAAAAAAAAAAA=="}
        reader, writer = await self._raw(f"GET /live/{id}/socket", head, limit=1024)
        assert b"101" in await reader.readline()
        try:
            yield
        finally:
            writer.transport.abort()

    def conversation(self, id: str) -> Conversation:
        return self.lounge._conversations[id]

    async def quiet(self) -> None:
        """Waits until nobody talks any more."""
        async with asyncio.timeout(5):
            while self.lounge._lives:  # noqa: ASYNC110
                await asyncio.sleep(0.005)

    async def session(self, number: int = 1) -> ScriptedSession:
        """The ``number``-th session, once it is open."""
        async with asyncio.timeout(5):
            while len(self.sessions) < number or self.sessions[number - 1].opened is None:  # noqa: ASYNC110
                await asyncio.sleep(0.005)
        return self.sessions[number - 1]


@asynccontextmanager
async def house(
    *,
    limit: int | None = None,
    patience: Patience = QUICK,
    record: Callable[[Setup], Any] | None = None,
    public_url: str | None = None,
    neighbour: Neighbour | None = None,
    limits: Limits | None = None,
    open_session: OpenSession | None = None,
) -> AsyncIterator[House]:
    """``open_session``: another session than the scripted one."""
    sessions: list[ScriptedSession] = []

    def scripted(setup: Setup, log: Callable[[Mapping[str, Any]], None] | None) -> ScriptedSession:
        sessions.append(ScriptedSession(setup, log))
        return sessions[-1]

    lounge = Lounge(open_session or scripted, limit=limit, patience=patience, record=record)
    client, guard = ModelClient(), Guard()
    app = FastAPI()
    neighbour = neighbour or Neighbour("http://127.0.0.1:1", Path("nowhere"))
    routes = router(lounge, client, guard, neighbour, public_url, limits=limits)  # type: ignore[arg-type]
    app.include_router(routes)
    sock = listen("127.0.0.1", 0)
    config = uvicorn.Config(
        app, log_level="warning", timeout_graceful_shutdown=1, ws_per_message_deflate=False, ws_max_size=2 << 20
    )
    server = uvicorn.Server(config)
    serving = asyncio.create_task(server.serve(sockets=[sock]))
    async with asyncio.timeout(5):
        while not server.started:  # noqa: ASYNC110 - uvicorn has no event for it
            await asyncio.sleep(0.005)
    try:
        yield House(f"http://127.0.0.1:{sock.getsockname()[1]}", guard, lounge, client, sessions)
    finally:
        await lounge.close()
        server.should_exit = True
        await serving


def mic(number: int, pcm: bytes = bytes(6400)) -> bytes:
    return HEADER.pack(MICROPHONE, number) + pcm


def speech(response: int, pcm: bytes, at: float = 1.0) -> Speech:
    return Speech(at, response, pcm, 0.0)


class Reader:
    """What a page makes of its socket: numbers, words, and the sound of each answer."""

    def __init__(self) -> None:
        self.last = 0
        self.words: list[dict[str, Any]] = []
        self.sound: dict[int, bytearray] = {}

    def take(self, frame: str | bytes) -> dict[str, Any] | None:
        if isinstance(frame, bytes):
            kind, response = HEADER.unpack_from(frame)
            assert kind == 3
            assert frame[1:4] == b"\0\0\0"
            assert len(frame) <= 8 + 9600
            self.last += 1
            self.sound.setdefault(response, bytearray()).extend(frame[8:])
            return None
        word = json.loads(frame)
        assert word["seq"] > self.last, "said twice"
        self.last = word["seq"]
        self.words.append(word)
        return word

    async def until(self, socket: websockets.ClientConnection, type: str, **facts: Any) -> dict[str, Any]:
        """Reads on until a word of this type comes, with these facts."""
        async with asyncio.timeout(5):
            while True:
                word = self.take(await socket.recv())
                if word is not None and word["type"] == type and facts.items() <= word.items():
                    return word

    def of(self, type: str) -> list[dict[str, Any]]:
        return [word for word in self.words if word["type"] == type]
