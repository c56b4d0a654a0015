"""A brain that tells what was asked of it and whether its work was ended, and answers read back from the wire."""

from __future__ import annotations

import asyncio
import base64
import io
import json
from collections.abc import AsyncIterator, Sequence
from typing import Any

import httpx
import soundfile

from launch.rehearsal.brain.brain import Progress, Said, Sampling, Token
from launch.rehearsal.brain.canned import tone
from launch.rehearsal.brain.loudness import LoudnessDetector

CHAT = "/v1/chat/completions"


class ProbeBrain:
    """Thinks "one two three", speaks two seconds, and waits for ever where it is told to: "think" or "speak"."""

    def __init__(self, waits_in: str = "") -> None:
        self.waits_in = waits_in
        self.asked: list[tuple[tuple[Said, ...], Sampling, bool]] = []
        self.spoken: list[str] = []
        self.waiting = asyncio.Event()
        self.ended: list[str] = []
        self.closed = False

    async def load(self, progress: Progress) -> None:
        progress("probe", 1.0)

    async def think(self, conversation: Sequence[Said], sampling: Sampling, *, spoken: bool) -> AsyncIterator[Token]:
        self.asked.append((tuple(conversation), sampling, spoken))
        try:
            for word in ("one", " two", " three"):
                yield Token(word)
                await self._maybe_wait("think")
        finally:
            self.ended.append("think")

    async def speak(self, text: str) -> AsyncIterator[bytes]:
        self.spoken.append(text)
        try:
            for second in range(2):
                yield tone(second, 1)
                await self._maybe_wait("speak")
        finally:
            self.ended.append("speak")

    def detector(self) -> LoudnessDetector:
        return LoudnessDetector()

    async def close(self) -> None:
        self.closed = True

    async def _maybe_wait(self, where: str) -> None:
        if where == self.waits_in:
            self.waiting.set()
            await asyncio.Event().wait()


def ask(**more: Any) -> dict[str, Any]:
    """The body of a small request."""
    return {"messages": [{"role": "user", "content": "hello"}], **more}


def ask_with(*parts: dict[str, Any], **more: Any) -> dict[str, Any]:
    """The body of a request with media, answered in text."""
    content = [*parts, {"type": "text", "text": "what is this?"}]
    return {"messages": [{"role": "user", "content": content}], "modalities": ["text"], **more}


def media(kind: str, data: bytes, mime: str) -> dict[str, Any]:
    """A content part with a data URL. ``kind``: "image", "audio" or "video"."""
    return {"type": f"{kind}_url", f"{kind}_url": {"url": f"data:{mime};base64,{base64.b64encode(data).decode()}"}}


def chunks(response: httpx.Response) -> list[dict[str, Any]]:
    """The objects of a stream; it must end with [DONE]."""
    events = [line.removeprefix("data: ") for line in response.text.splitlines() if line]
    assert events[-1] == "[DONE]"
    return [json.loads(event) for event in events[:-1]]


def sounds(stream: list[dict[str, Any]]) -> list[bytes]:
    """The files in the sound chunks of a stream."""
    return [
        base64.b64decode(chunk["choices"][0]["delta"]["content"])
        for chunk in stream
        if chunk.get("modality") == "audio"
    ]


def text(stream: list[dict[str, Any]]) -> str:
    return "".join(chunk["choices"][0]["delta"]["content"] for chunk in stream if chunk.get("modality") == "text")


def pcm(file: bytes) -> bytes:
    """The samples of a sound file, which must be mono at 24 kHz."""
    samples, rate = soundfile.read(io.BytesIO(file), dtype="int16")
    assert (rate, samples.ndim) == (24_000, 1)
    return samples.tobytes()
