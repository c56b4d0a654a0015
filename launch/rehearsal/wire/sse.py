"""An answer as server-sent events (protocol §2.5; captured as chat_*_stream.txt)."""

from __future__ import annotations

import asyncio
import base64
from collections.abc import AsyncGenerator
from contextlib import aclosing
from typing import Any

from launch.rehearsal.brain.brain import SAMPLE_RATE
from launch.rehearsal.wire.answer import Pieces, Sound, Words
from launch.rehearsal.wire.dialect import Dialect
from launch.rehearsal.wire.errors import told
from launch.rehearsal.wire.order import MODEL, Order
from launch.rehearsal.wire.protocol import AudioMetadata, Chunk, ChunkChoice, Delta, Usage
from launch.rehearsal.wire.sound import encode

DONE = "data: [DONE]\n\n"


async def events(pieces: Pieces, order: Order, dialect: Dialect) -> AsyncGenerator[str, None]:
    """The stream from the first chunk to ``[DONE]``. An error after the first byte is an event too, then ``[DONE]``."""
    writer = ChunkWriter(order, dialect)
    try:
        async with aclosing(pieces):
            async for piece in pieces:
                if isinstance(piece, Words):
                    for chunk in writer.words(piece):
                        yield _event(chunk)
                else:
                    yield _event(await writer.sound(piece))
    except Exception as error:  # noqa: BLE001 - told() logs what it does not know; the client must hear of it
        yield f"data: {told(error).body.model_dump_json()}\n\n"
    else:
        for chunk in writer.end():
            yield _event(chunk)
    yield DONE


def _event(chunk: Chunk) -> str:
    return f"data: {chunk.model_dump_json(exclude_unset=True)}\n\n"


class ChunkWriter:
    """Turns pieces into chunks and remembers what the rest of the stream depends on."""

    def __init__(self, order: Order, dialect: Dialect) -> None:
        self.order = order
        self.dialect = dialect
        self.begun = False
        self.finished = False
        self.tokens = 0

    def words(self, words: Words) -> list[Chunk]:
        """One chunk, and before the very first one the role, which the server sends together with it."""
        chunks = [] if self.begun else [self._role()]
        self.begun = True
        self.tokens += words.count
        last = words.finish is not None
        # With speech to come, the text is never the end; it comes from the engine's final output, hence the null keys.
        ending = {"finish_reason": None if self.order.speech else words.finish}
        final = {"stop_reason": None} if last else {}
        choice = ChunkChoice(index=0, delta=Delta(content=words.text), logprobs=None, **ending, **final, token_ids=None)
        self.finished |= last and not self.order.speech
        chunks.append(self._chunk([choice], **self._running_usage(), metrics=None if last else {}, modality="text"))
        return chunks

    async def sound(self, sound: Sound) -> Chunk:
        container = "pcm" if sound.bare else self.order.container
        data = await asyncio.to_thread(encode, sound.pcm, container)
        extra: dict[str, Any] = {}
        if self.dialect.merged:
            extra["audio_metadata"] = AudioMetadata(
                format=self.order.container, sample_rate_hz=SAMPLE_RATE, frame_count=len(sound.pcm) // 2, channels=1
            )
        choice = ChunkChoice(
            index=0,
            delta=Delta(role="assistant", content=base64.b64encode(data).decode()),
            logprobs=None,
            finish_reason="stop" if sound.last else None,
            stop_reason=None,
            token_ids=None,
            **extra,
        )
        self.finished |= sound.last
        # The sound's usage counts no answer tokens, and without a text output not even the prompt's.
        prompt = self.order.prompt_tokens if self.order.text else 0
        return self._chunk([choice], usage=_usage(prompt, 0), metrics=None, modality="audio")

    def end(self) -> list[Chunk]:
        """The stop chunk, if nothing said so yet, and the usage, if asked; neither has a ``modality``."""
        chunks = []
        if not self.finished:
            chunks.append(self._chunk([ChunkChoice(index=0, delta=Delta(), finish_reason="stop")]))
        if self.order.include_usage:
            prompt = self.order.prompt_tokens if self.order.text else 0
            chunks.append(self._chunk([], usage=_usage(prompt, self.tokens)))
        return chunks

    def _role(self) -> Chunk:
        choice = ChunkChoice(index=0, delta=Delta(role="assistant", content=""), logprobs=None, finish_reason=None)
        return self._chunk([choice], **self._running_usage(), prompt_token_ids=None, prompt_text=None, modality="text")

    def _running_usage(self) -> dict[str, Usage]:
        return {"usage": _usage(self.order.prompt_tokens, self.tokens)} if self.order.continuous_usage else {}

    def _chunk(self, choices: list[ChunkChoice], **keys: Any) -> Chunk:
        return Chunk(
            id=self.order.id,
            object="chat.completion.chunk",
            created=self.order.created,
            model=MODEL,
            choices=choices,
            **keys,
        )


def _usage(prompt: int, answer: int) -> Usage:
    return Usage(prompt_tokens=prompt, total_tokens=prompt + answer, completion_tokens=answer)
