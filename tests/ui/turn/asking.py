"""Short ways to ask, for the tests of this room."""

from __future__ import annotations

import struct
from collections.abc import Iterable

from ui.turn.client import ServerClient, Timeouts
from ui.turn.events import TurnEvent
from ui.turn.parts import Message, Part, Settings, Text, Voice
from ui.turn.request import Request
from ui.turn.turn import Turn

SHORT = Timeouts(connect_s=5, first_event_s=20, between_events_s=20)  # a test that waits longer has failed


def question(*parts: Part | str, speech: bool = True, voice: Voice | None = None, **settings: object) -> Request:
    said = tuple(Text(part) if isinstance(part, str) else part for part in parts or ("hello",))
    return Request((Message("user", said),), Settings(speech=speech, **settings), voice)  # type: ignore[arg-type]


async def ask(base_url: str, request: Request | None = None, timeouts: Timeouts = SHORT) -> list[TurnEvent]:
    """All events of one answer."""
    client = ServerClient(base_url, timeouts=timeouts)
    try:
        return [event async for event in client.stream(request or question())]
    finally:
        await client.close()


async def take(base_url: str, request: Request | None = None, timeouts: Timeouts = SHORT) -> Turn:
    """A whole turn."""
    client = ServerClient(base_url, timeouts=timeouts)
    try:
        turn = Turn(request or question(), "me")
        await turn.run(client)
        return turn
    finally:
        await client.close()


def wav(
    samples: bytes, rate: int = 24_000, channels: int = 1, bits: int = 16, tag: int = 1, claim: int | None = None
) -> bytes:
    """A RIFF file; ``claim``: what its header says about the length, if not the truth."""
    frame = channels * bits // 8
    size = len(samples) if claim is None else claim
    form = struct.pack("<4sIHHIIHH", b"fmt ", 16, tag, channels, rate, rate * frame, frame, bits)
    return (
        b"RIFF"
        + struct.pack("<I", min(36 + size, 0xFFFFFFFF))
        + b"WAVE"
        + form
        + struct.pack("<4sI", b"data", size)
        + samples
    )


def pieces(data: bytes, sizes: Iterable[int]) -> list[bytes]:
    """``data`` cut into pieces of the given sizes, and the rest."""
    out, at = [], 0
    for size in sizes:
        out.append(data[at : at + size])
        at += size
    return [*out, data[at:]]
