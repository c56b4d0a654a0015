"""A live session at a real server: a microphone that never stops, and sockets that can be cut and looked into."""

from __future__ import annotations

import asyncio
import json
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any, TypeVar

import av
import numpy as np
from websockets.asyncio.client import ClientConnection, connect

from tests.ui.turn.asking import wav
from ui.live.moments import APPEND_S, MIC_RATE, Listening, Moment
from ui.live.session import LiveSession, Wire
from ui.live.setup import Setup

SAMPLES = Path(__file__).parents[2] / "assets" / "samples"
PIECE = int(MIC_RATE * APPEND_S) * 2
TONE = (np.sin(2 * np.pi * 220 * np.arange(MIC_RATE) / MIC_RATE) * 6000).astype("<i2").tobytes()
"""A second of speech, as far as the scripted model goes, and the reference voice."""
M = TypeVar("M", bound=Moment)


def question() -> bytes:
    """A spoken question, s16le mono at 16 kHz: the server's voice detection does not take a tone for one."""
    with av.open(str(SAMPLES / "question-en.flac")) as box:
        resample = av.AudioResampler("s16", "mono", MIC_RATE)
        frames = [out for frame in box.decode(audio=0) for out in resample.resample(frame)]
    return b"".join(frame.to_ndarray().tobytes() for frame in frames)


class Sockets:
    """The seam of a session: remembers its sockets and the answer each began with."""

    def __init__(self) -> None:
        self.all: list[ClientConnection] = []
        self.attached: dict[str, Any] = {}

    def __call__(self, url: str, **options: Any) -> Any:
        sockets = self

        class Kept(ClientConnection):
            def __init__(self, *given: Any, **named: Any) -> None:
                super().__init__(*given, **named)
                sockets.all.append(self)

            async def recv(self, decode: bool | None = None) -> Any:
                frame = await super().recv(decode)
                event = json.loads(frame)
                if event["type"] in ("session.created", "session.resumed"):
                    sockets.attached |= event
                return frame

        return connect(url, create_connection=Kept, **options)

    def cut(self) -> None:
        self.all[-1].transport.abort()


class Talk:
    """A session and its microphone. ``saying``: what is left to say; silence after it."""

    def __init__(self, live: LiveSession, sockets: Sockets, log: list[str]) -> None:
        self.live = live
        self.sockets = sockets
        self.log = log
        self.seen: list[Moment] = []
        self.saying = b""
        self._moments = live.moments()

    async def until(self, kind: type[M], seconds: float = 30) -> M:
        async with asyncio.timeout(seconds):
            async for moment in self._moments:
                self.seen.append(moment)
                if isinstance(moment, kind):
                    return moment
        raise AssertionError(f"no {kind.__name__} in {self.seen}")

    def of(self, kind: type[M]) -> list[M]:
        return [each for each in self.seen if isinstance(each, kind)]

    async def answered(self, type: str, times: int) -> None:
        """Until the server has sent so many events of ``type``."""
        async with asyncio.timeout(5):
            while self.log.count(type) < times:
                await self.until(Listening)

    async def _speak(self) -> None:
        while True:
            piece, self.saying = self.saying[:PIECE], self.saying[PIECE:]
            self.live.append(piece.ljust(PIECE, b"\0"))
            await asyncio.sleep(APPEND_S)


@asynccontextmanager
async def talk(url: str, *, server_vad: bool = False, mic: bool = True) -> AsyncIterator[Talk]:
    setup = Setup(
        model="openbmb/MiniCPM-o-4_5",
        instructions="Streaming Omni Conversation.",
        reference=wav(TONE, MIC_RATE),
        server_vad=server_vad,
    )
    log: list[str] = []  # the types of what the server sent

    def note(wire: Wire) -> None:
        if wire["way"] == "in":
            log.append(wire["event"]["type"])

    sockets = Sockets()
    async with LiveSession(url, setup, connect=sockets, log=note) as live:
        here = Talk(live, sockets, log)
        speaking = asyncio.create_task(here._speak()) if mic else None
        try:
            yield here
        finally:
            if speaking:
                speaking.cancel()
                await asyncio.wait([speaking])
