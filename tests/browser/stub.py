"""A server that does what the prompt says, in a process of its own: `python -m tests.browser.stub` prints its address.

The prompt is the JSON of a ``Script``; the answer goes over the 0.26 wire (protocol §2.5: the text in one delta, then
a WAV file a chunk). ``GET /sent`` tells when the first byte of the last answer's sound left, as ``time.time()``, and
how many requests came.
"""

from __future__ import annotations

import asyncio
import base64
import io
import json
import time
import wave
from collections.abc import AsyncIterator
from dataclasses import asdict, dataclass, field
from functools import cache
from typing import Any

import numpy as np
import uvicorn
from starlette.applications import Starlette
from starlette.requests import Request
from starlette.responses import JSONResponse, StreamingResponse
from starlette.routing import Route

RATE = 24_000
MODEL = "stub"


@dataclass(frozen=True)
class Script:
    """How to answer. ``chunks``: for each packet its time in seconds after the request, and its seconds of sound.

    ``text_s``: seconds until its first word; ``words_s``: pause between the words of a text-only answer.
    ``break_after``: packets after which the server reports an error.
    """

    text: str = "Hello from the stub."
    chunks: list[tuple[float, float]] = field(default_factory=lambda: [(0.2, 1.0), (0.3, 1.0)])
    words_s: float = 0.05
    text_s: float = 0.0
    break_after: int | None = None

    def prompt(self) -> str:
        return json.dumps(asdict(self), ensure_ascii=False)

    @property
    def seconds(self) -> float:
        return sum(seconds for _, seconds in self.chunks)


def steady(seconds: int, rtf: float, first: float = 0.2, late: list[float] | None = None) -> list[tuple[float, float]]:
    """One second of sound every ``rtf`` seconds; ``late``: how much later (or earlier) than that each packet comes."""
    return [(first + at * rtf + (late[at] if late else 0.0), 1.0) for at in range(seconds)]


@cache
def signal(seconds: float) -> bytes:
    """A sound of which no two places are alike, loud from its first sample on: a rising tone in a hum; s16le mono at
    24 kHz."""
    at = np.arange(round(seconds * RATE)) / RATE
    voice = 0.35 * np.cos(2 * np.pi * (220 * at + 4.1 * at**2)) + 0.2 * np.cos(2 * np.pi * 97.3 * at + at)
    return (voice * 32_767).astype("<i2").tobytes()


def _chunk(modality: str, content: str, finish: str | None = None) -> str:
    choice = {"index": 0, "delta": {"content": content}, "finish_reason": finish}
    body: dict[str, Any] = {"id": "chatcmpl-1", "object": "chat.completion.chunk", "created": 0, "model": MODEL}
    return f"data: {json.dumps(body | {'choices': [choice], 'modality': modality}, ensure_ascii=False)}\n\n"


def _wav(pcm: bytes) -> str:
    out = io.BytesIO()
    with wave.open(out, "wb") as file:
        file.setparams((1, 2, RATE, 0, "NONE", ""))
        file.writeframes(pcm)
    return base64.b64encode(out.getvalue()).decode()


class Stub:
    """Counts requests, and remembers when sound left."""

    def __init__(self) -> None:
        self.requests = 0
        self.open = 0
        self.first_byte: float | None = None

    async def chat(self, request: Request) -> StreamingResponse:
        self.requests += 1
        body = await request.json()
        content = body["messages"][-1]["content"]
        prompt = content if isinstance(content, str) else "".join(part.get("text", "") for part in content)
        script = Script(**json.loads(prompt))
        return StreamingResponse(self.answer(script, "audio" in body["modalities"]), media_type="text/event-stream")

    async def answer(self, script: Script, spoken: bool) -> AsyncIterator[str]:
        self.open += 1
        try:
            async for event in self._events(script, spoken):
                yield event
            yield "data: [DONE]\n\n"
        finally:
            self.open -= 1

    async def _events(self, script: Script, spoken: bool) -> AsyncIterator[str]:
        began = time.monotonic()
        self.first_byte = None
        await asyncio.sleep(script.text_s)
        if not spoken:
            for word in script.text.split(" "):
                yield _chunk("text", word + " ")
                await asyncio.sleep(script.words_s)
            yield _chunk("text", "", "stop")
            return
        yield _chunk("text", script.text)
        pcm, at = signal(script.seconds), 0
        for number, (when, seconds) in enumerate(script.chunks):
            if number == script.break_after:
                error = {"message": "engine died", "type": "server_error", "code": 500}
                yield f"data: {json.dumps({'error': error})}\n\n"
                return
            size = round(seconds * RATE) * 2
            last = number + 1 == len(script.chunks)
            event = _chunk("audio", _wav(pcm[at : at + size]), "stop" if last else None)
            await asyncio.sleep(max(0.0, began + when - time.monotonic()))
            self.first_byte = self.first_byte or time.time()
            yield event
            at += size

    async def models(self, request: Request) -> JSONResponse:
        return JSONResponse({"object": "list", "data": [{"id": MODEL, "object": "model"}]})

    async def health(self, request: Request) -> JSONResponse:
        return JSONResponse({})

    async def sent(self, request: Request) -> JSONResponse:
        return JSONResponse({"first_byte": self.first_byte, "requests": self.requests, "open": self.open})

    def app(self) -> Starlette:
        return Starlette(
            routes=[
                Route("/v1/chat/completions", self.chat, methods=["POST"]),
                Route("/v1/models", self.models),
                Route("/health", self.health),
                Route("/sent", self.sent),
            ]
        )


def serve(app: Any) -> None:
    """Serves ``app`` on a free port of loopback and prints its address in one line."""
    import socket

    sock = socket.create_server(("127.0.0.1", 0))
    print(f"http://127.0.0.1:{sock.getsockname()[1]}", flush=True)
    # A browser keeps its sockets; a test run need not wait for them.
    uvicorn.Server(uvicorn.Config(app, log_level="warning", timeout_graceful_shutdown=1)).run(sockets=[sock])


if __name__ == "__main__":
    serve(Stub().app())
