"""Faults on request, so that a client can be seen to survive them: ``--fault KIND[:VALUE][:N]``.

A fault is made for one order. It may refuse the order before its answer starts, or change the pieces on their way out.
"""

from __future__ import annotations

import asyncio
import math
from collections.abc import Callable, Sequence
from contextlib import aclosing
from dataclasses import dataclass, replace

from launch.rehearsal.brain.brain import SAMPLE_RATE
from launch.rehearsal.wire.answer import Piece, Pieces, Sound, Words
from launch.rehearsal.wire.dialect import LIMITS, Dialect
from launch.rehearsal.wire.errors import WireError, no_such_model, too_many
from launch.rehearsal.wire.order import MODEL, Order


class Dropped(Exception):
    """The connection is to end here, without an answer."""


@dataclass(frozen=True)
class Scene:
    """What a fault may know and touch. ``die`` ends the engine without a goodbye."""

    order: Order
    dialect: Dialect
    die: Callable[[], None]


class Fault:
    """``value``: the number that some kinds take. The docstrings below are the text of ``--help``."""

    unit = ""

    def __init__(self, scene: Scene, value: float) -> None:
        self.scene = scene
        self.value = value

    def refuse(self) -> None:
        """Raises ``WireError`` or ``Dropped`` to answer the order with that."""

    async def before(self, piece: Piece) -> Sequence[Piece]:
        """What to send instead of ``piece``."""
        return (piece,)

    async def after(self, piece: Piece) -> None:
        """``piece`` was sent."""


class Refuse(Fault):
    """the connection is closed without an answer"""

    def refuse(self) -> None:
        raise Dropped


class OverLimit(Fault):
    """too many images: status 400, on the 0.30 wire 500"""

    def refuse(self) -> None:
        raise too_many(self.scene.dialect, "image", LIMITS["image"])


class NoModel(Fault):
    """the model does not exist: status 404"""

    def refuse(self) -> None:
        raise no_such_model(MODEL)


class ErrorInStream(Fault):
    """an error object after the first piece, then [DONE]; status 500 when not streaming"""

    async def after(self, piece: Piece) -> None:
        raise WireError(500, "EngineCore encountered an issue. See stack trace (above) for the root cause.")


class SilenceAfterText(Fault):
    """the text (its first token when only text is asked), then nothing more on an open connection"""

    async def after(self, piece: Piece) -> None:
        await asyncio.Event().wait()


class EmptyChunk(Fault):
    """a sound chunk with empty content before the first real one"""

    spoken = False

    async def before(self, piece: Piece) -> Sequence[Piece]:
        if self.spoken or isinstance(piece, Words):
            return (piece,)
        self.spoken = True
        return (Sound(b""), piece)


class RawPcm(Fault):
    """sound is bare PCM, though a container was asked for"""

    async def before(self, piece: Piece) -> Sequence[Piece]:
        return (replace(piece, bare=True) if isinstance(piece, Sound) else piece,)


class HeaderOnce(Fault):
    """only the first sound chunk has its WAV header"""

    spoken = False

    async def before(self, piece: Piece) -> Sequence[Piece]:
        if isinstance(piece, Words):
            return (piece,)
        spoken, self.spoken = self.spoken, True
        return (replace(piece, bare=spoken),)


class StopChunk(Fault):
    """no content chunk is marked as the last; a stop chunk without modality follows"""

    async def before(self, piece: Piece) -> Sequence[Piece]:
        return (replace(piece, last=False) if isinstance(piece, Sound) else replace(piece, finish=None),)


class SilentSpeech(Fault):
    """all sound is zeros"""

    async def before(self, piece: Piece) -> Sequence[Piece]:
        return (replace(piece, pcm=bytes(len(piece.pcm))) if isinstance(piece, Sound) else piece,)


class ShortSpeech(Fault):
    """the sound ends, as if it were whole, with its first chunk: far less than the text would take"""

    spoken = False

    async def before(self, piece: Piece) -> Sequence[Piece]:
        if isinstance(piece, Words):
            return (piece,)
        spoken, self.spoken = self.spoken, True
        return () if spoken else (replace(piece, last=True),)


class Stall(Fault):
    """nothing for SECONDS after the first sound chunk (the first token when only text is asked)"""

    unit = "SECONDS"
    stalled = False

    async def after(self, piece: Piece) -> None:
        if not self.stalled and (isinstance(piece, Sound) or not self.scene.order.speech):
            self.stalled = True
            await asyncio.sleep(self.value)


class DieAfter(Fault):
    """the engine's process ends without a goodbye when COUNT pieces of an answer were sent"""

    unit = "COUNT"
    sent = 0

    async def before(self, piece: Piece) -> Sequence[Piece]:
        if self.sent >= self.value:
            self.scene.die()
            await asyncio.Event().wait()
        self.sent += 1
        return (piece,)


class Slow(Fault):
    """sound is held back to the real-time factor RTF, counted from the request as the bench does"""

    unit = "RTF"
    frames = 0

    def __init__(self, scene: Scene, value: float) -> None:
        super().__init__(scene, value)
        self.clock = asyncio.get_running_loop().time
        self.started = self.clock()

    async def before(self, piece: Piece) -> Sequence[Piece]:
        if isinstance(piece, Sound):
            self.frames += len(piece.pcm) // 2
            await asyncio.sleep(self.started + self.value * self.frames / SAMPLE_RATE - self.clock())
        return (piece,)


KINDS: dict[str, type[Fault]] = {
    "refuse": Refuse,
    "400-limit": OverLimit,
    "404-model": NoModel,
    "error-in-stream": ErrorInStream,
    "silence-after-text": SilenceAfterText,
    "empty-chunk": EmptyChunk,
    "raw-pcm": RawPcm,
    "header-once": HeaderOnce,
    "stop-chunk-without-modality": StopChunk,
    "silent-speech": SilentSpeech,
    "short-speech": ShortSpeech,
    "stall": Stall,
    "die-after": DieAfter,
    "slow": Slow,
}


class Faults:
    """The faults of one engine, and how many orders each is still good for."""

    def __init__(self, specs: Sequence[str]) -> None:
        """``specs``: "KIND[:VALUE][:N]" each. Raises ``ValueError``."""
        self._left = [_parse(spec) for spec in specs]

    def draw(self, scene: Scene) -> list[Fault]:
        """The faults for one chat order, made fresh; those with an N count down."""
        drawn = [kind(scene, value) for kind, value, left in self._left if left > 0]
        self._left = [(kind, value, left - 1) for kind, value, left in self._left]
        return drawn


async def bent(pieces: Pieces, faults: Sequence[Fault]) -> Pieces:
    """``pieces`` as the faults would have them, the first fault first."""
    async with aclosing(pieces):
        async for piece in pieces:
            out: list[Piece] = [piece]
            for fault in faults:
                out = [changed for one in out for changed in await fault.before(one)]
            for one in out:
                yield one
            for fault in faults:
                await fault.after(piece)


def _parse(spec: str) -> tuple[type[Fault], float, float]:
    """Kind, value, and for how many orders: infinity without an N."""
    name, *numbers = spec.split(":")
    if name not in KINDS:
        raise ValueError(f"{name!r} is no fault; there are: {', '.join(KINDS)}.")
    kind = KINDS[name]
    try:
        value = float(numbers.pop(0)) if kind.unit else 0.0
        left = int(numbers.pop(0)) if numbers else math.inf
    except (IndexError, ValueError):
        numbers = [spec]
    if numbers:
        raise ValueError(f"{spec!r}: write it as {usage(name)}.")
    return kind, value, left


def usage(name: str) -> str:
    """How a kind is written: "stall:SECONDS[:N]"."""
    unit = KINDS[name].unit
    return f"{name}:{unit}[:N]" if unit else f"{name}[:N]"
