"""A page's side of a live conversation, without a browser: what talks to the app in the bench and in the soak."""

from __future__ import annotations

import asyncio
import json
import time
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from dataclasses import dataclass
from typing import Any, Self

import httpx
import websockets

from tests.bench.live_stub import STAMP
from ui.live.page_wire import HEADER, MIC_MOST, MICROPHONE

APPEND_S = 0.2
PLAYED_S = 0.25  # between two reports of what was heard, as the page sends them


@dataclass(frozen=True)
class Visitor:
    """One browser with a conversation of its own. ``path``: of its socket."""

    url: str
    path: str
    cookie: str

    @classmethod
    async def arrive(cls, url: str, **wishes: Any) -> Self:
        """Opens the page, then a conversation."""
        async with httpx.AsyncClient(base_url=url, trust_env=False, timeout=30, headers={"origin": url}) as http:
            await http.get("/")
            opened = (await http.post("/live", json=wishes)).raise_for_status().json()
            return cls(url, opened["socket"], "; ".join(f"{name}={value}" for name, value in http.cookies.items()))

    def socket(self, after: int | None = None) -> websockets.connect:
        query = "" if after is None else f"?after={after}"
        headers = {"origin": self.url, "cookie": self.cookie}
        address = f"{self.url.replace('http', 'ws')}/{self.path}{query}"
        return websockets.connect(address, additional_headers=headers, proxy=None, compression=None)

    async def leave(self) -> None:
        """Ends the conversation and waits for its last word."""
        async with self.socket(after=0) as socket:
            await goodbye(socket)


@asynccontextmanager
async def conversation(url: str, **wishes: Any) -> AsyncIterator[websockets.ClientConnection]:
    """The open socket of a visitor's conversation; closed politely at the end."""
    visitor = await Visitor.arrive(url, **wishes)
    async with visitor.socket() as socket:
        yield socket
        await goodbye(socket)


async def goodbye(socket: websockets.ClientConnection) -> None:
    await socket.send('{"type": "close"}')
    async with asyncio.timeout(10):
        async for frame in socket:
            if isinstance(frame, str) and '"ended"' in frame:
                return


async def opened(socket: websockets.ClientConnection) -> None:
    """Reads until the session is open."""
    async with asyncio.timeout(60):
        while True:
            frame = await socket.recv()
            if isinstance(frame, str) and json.loads(frame).get("state") == "open":
                return


async def speak(socket: websockets.ClientConnection, frames: Callable[[int], bytes], *, first: int = 0) -> None:
    """Sends microphone frames in real time, until it is cancelled."""
    number, due = first, time.monotonic()
    while True:
        await socket.send(HEADER.pack(MICROPHONE, number) + frames(number))
        number, due = number + 1, due + APPEND_S
        await asyncio.sleep(max(0.0, due - time.monotonic()))


def stamped(_: int) -> bytes:
    """A microphone frame that says when it was made."""
    return STAMP.pack(time.monotonic_ns()) + bytes(MIC_MOST - STAMP.size)


async def report(socket: websockets.ClientConnection, response: Callable[[], int]) -> None:
    """What the page says while it plays, four times a second, until it is cancelled."""
    ms = 0.0
    while True:
        await asyncio.sleep(PLAYED_S)
        ms += PLAYED_S * 1000
        if response():
            await socket.send(json.dumps({"type": "played", "response": response(), "ms": ms}))
