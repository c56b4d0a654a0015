"""A client of the engine's realtime side that says what a test tells it to, and keeps everything it hears."""

from __future__ import annotations

import asyncio
import base64
import json
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from typing import Any

import numpy as np
import websockets
from websockets.asyncio.client import ClientConnection

from launch.rehearsal.wire.sound import wav_header

Event = dict[str, Any]
RATE = 16_000
PATIENCE_S = 20.0  # for what must come; nothing here takes a tenth of it on a free machine
LIVE = "/v1/realtime?duplex=1&autostart=0"
NAMES_30 = {"response.output_audio": "response.audio", "response.output_audio_transcript": "response.audio_transcript"}


def tone(seconds: float, hz: float = 300.0) -> bytes:
    """A voice, to a detector that goes by loudness."""
    at = np.arange(round(seconds * RATE)) / RATE
    return (9000 * np.sin(2 * np.pi * hz * at)).astype("<i2").tobytes()


def quiet(seconds: float) -> bytes:
    return bytes(2 * round(seconds * RATE))


REFERENCE = "data:audio/wav;base64," + base64.b64encode(wav_header(2 * RATE, RATE) + tone(1)).decode()


def wanted(**more: Any) -> Event:
    """The first event of a client that knows its server."""
    extra = {"minicpmo45_native_duplex": True, "auto_response": True, "force_listen_count": 0}
    session = {
        "model": "openbmb/MiniCPM-o-4_5",
        "modalities": ["audio", "text"],
        "input_audio_format": "pcm16",
        "output_audio_format": "pcm16",
        "turn_detection": None,
        "overlap_policy": "listen_only",
        "playback_commit_policy": "ack_only",
        "ref_audio": REFERENCE,
        "extra_body": extra,
    }
    return {"type": "session.update", "session": {**session, **more}}


class Client:
    """``heard``: every event so far."""

    def __init__(self, socket: ClientConnection) -> None:
        self.socket = socket
        self.heard: list[Event] = []
        self._came = asyncio.Event()
        self._reading = asyncio.create_task(self._read())

    async def say(self, kind: str | Event, **fields: Any) -> None:
        event = {"type": kind, **fields} if isinstance(kind, str) else kind
        await self.socket.send(json.dumps(event))

    async def append(self, pcm: bytes, **fields: Any) -> None:
        """In pieces of 200 ms, as fast as they go."""
        for at in range(0, len(pcm), 6400):
            audio = base64.b64encode(pcm[at : at + 6400]).decode()
            await self.say("input_audio_buffer.append", audio=audio, sample_rate_hz=RATE, **fields)

    async def until(self, wanted: str | Callable[[Event], bool], after: int = 0) -> Event:
        """The first event of a type, or that fits, from number ``after`` on."""
        fits = (lambda event: event["type"] == wanted) if isinstance(wanted, str) else wanted
        async with asyncio.timeout(PATIENCE_S):
            while True:
                for event in self.heard[after:]:
                    if fits(event):
                        return event
                assert not self._reading.done(), f"{wanted} never came: {self.types[-12:]}"
                self._came.clear()
                await self._came.wait()

    async def ended(self) -> tuple[int, str]:
        """Close code and reason, once the connection is over."""
        async with asyncio.timeout(PATIENCE_S):
            await asyncio.wait([self._reading])
        assert self.socket.close_code is not None
        return self.socket.close_code, self.socket.close_reason or ""

    @property
    def types(self) -> list[str]:
        return [event["type"] for event in self.heard]

    @property
    def pcm(self) -> bytes:
        deltas = (
            event for event in self.heard if event["type"] in ("response.audio.delta", "response.output_audio.delta")
        )
        return b"".join(base64.b64decode(event["delta"]) for event in deltas)

    async def _read(self) -> None:
        try:
            async for text in self.socket:
                self.heard.append(json.loads(text))
                self._came.set()
        except websockets.ConnectionClosed:
            pass  # ``ended`` tells how
        finally:
            self._came.set()


@asynccontextmanager
async def connected(url: str, path: str = LIVE) -> AsyncIterator[Client]:
    """A socket to the engine at ``url``, with nothing said yet."""
    address = url.replace("http", "ws", 1) + path
    async with websockets.connect(address, max_size=1 << 26, proxy=None, close_timeout=1) as socket:
        client = Client(socket)
        yield client
        await socket.close()
        await client.ended()


@asynccontextmanager
async def opened(url: str, **more: Any) -> AsyncIterator[Client]:
    """A session at ``url``; closed politely at the end, so that its place is free."""
    async with connected(url) as client:
        await client.say(wanted(**more))
        await client.until("session.updated")
        yield client
        if not client._reading.done():
            await client.say("session.close")
            await client.ended()


def block(types: list[str]) -> list[str]:
    """The events of the first answer, in 0.26's names, its pairs of sound and words counted once."""
    start = types.index("response.created")
    end = types.index("rate_limits.updated", start)
    names = []
    for name in types[start : end + 1]:
        stem, _, last = name.rpartition(".")
        name = f"{NAMES_30.get(stem, stem)}.{last}"
        if names[-2:].count(name) == 0 or not name.endswith(".delta"):
            names.append(name)
    return names
