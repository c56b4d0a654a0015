"""The brain's work on one order, as the pieces that go over the wire."""

from __future__ import annotations

from collections.abc import AsyncGenerator
from contextlib import aclosing
from dataclasses import dataclass
from typing import cast

from launch.rehearsal.brain.brain import SAMPLE_RATE, Brain, Token
from launch.rehearsal.wire.order import Order

SECOND = 2 * SAMPLE_RATE  # bytes of PCM; the real server sends 25 codec frames, a second, a chunk (protocol §2.5)
KEPT = SECOND // 25  # a codec frame, held back so that the last chunk is known to be the last and can say so


@dataclass(frozen=True)
class Words:
    """``count``: tokens. ``finish``: set on the last one."""

    text: str
    count: int
    finish: str | None = None


@dataclass(frozen=True)
class Sound:
    """At most a second of PCM. ``bare``: sent without a container whatever was asked (only a fault does that)."""

    pcm: bytes
    last: bool = False
    bare: bool = False


Piece = Words | Sound
Pieces = AsyncGenerator[Piece, None]


async def answer(brain: Brain, order: Order) -> Pieces:
    """Text only: a piece a token. With speech: the whole text at once, since the real thinker hands over only when it
    is done, then the sound. Closing it closes the brain's iterators."""
    if not order.speech:
        async with aclosing(_think(brain, order)) as words:
            async for word in words:
                yield word
        return
    text, count, finish = "", 0, "stop"
    async with aclosing(_think(brain, order)) as words:
        async for word in words:
            text, count, finish = text + word.text, count + word.count, word.finish or finish
    if order.text:
        yield Words(text, count, finish)
    if text.strip():
        async with aclosing(_speak(brain, text)) as sounds:
            async for sound in sounds:
                yield sound


async def _think(brain: Brain, order: Order) -> AsyncGenerator[Words, None]:
    limit, count = order.sampling.max_tokens, 0
    thoughts = cast(AsyncGenerator[Token, None], brain.think(order.conversation, order.sampling, spoken=order.speech))
    async with aclosing(thoughts):
        async for token in thoughts:
            count += token.count
            if limit is not None and count >= limit:
                yield Words(token.text, token.count, "length")
                return
            yield Words(token.text, token.count)
    yield Words("", 0, "stop")


async def _speak(brain: Brain, text: str) -> AsyncGenerator[Sound, None]:
    """What the brain has spoken is passed on at once, a second at most in a piece, but for the frame held back."""
    waiting = b""
    speech = cast(AsyncGenerator[bytes, None], brain.speak(text))
    async with aclosing(speech):
        async for pcm in speech:
            waiting += pcm
            while len(waiting) > KEPT:
                size = min(SECOND, len(waiting) - KEPT)
                yield Sound(waiting[:size])
                waiting = waiting[size:]
    if waiting:
        yield Sound(waiting, last=True)
