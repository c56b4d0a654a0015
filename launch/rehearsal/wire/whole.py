"""An answer in one piece (protocol §2.4; captured as chat_*_nonstream.txt)."""

from __future__ import annotations

import asyncio
import base64
import time
import uuid
from contextlib import aclosing
from typing import Any

from launch.rehearsal.brain.brain import SAMPLE_RATE
from launch.rehearsal.wire.answer import Pieces, Words
from launch.rehearsal.wire.dialect import Dialect
from launch.rehearsal.wire.errors import WireError
from launch.rehearsal.wire.order import MODEL, Order
from launch.rehearsal.wire.protocol import AnswerMessage, AudioMetadata, Choice, Completion, SpokenAudio, Usage
from launch.rehearsal.wire.sound import encode

DAY_S = 86_400  # the server says that audio "expires" after a day; nothing is stored


async def completion(pieces: Pieces, order: Order, dialect: Dialect) -> Completion:
    """Collect the answer: two choices, both index 0, on 0.26; one merged choice on 0.30. Raises ``WireError``."""
    text, tokens, finish, pcm, bare = "", 0, "stop", b"", False
    async with aclosing(pieces):
        async for piece in pieces:
            if isinstance(piece, Words):
                text, tokens, finish = text + piece.text, tokens + piece.count, piece.finish or finish
            else:
                pcm, bare = pcm + piece.pcm, bare or piece.bare
    audio = None
    if order.speech:
        if not pcm:
            raise WireError(400, "Audio generation completed but no audio was produced.")
        audio = await _audio(pcm, "pcm" if bare else order.container)
    metadata = AudioMetadata(format=order.container, sample_rate_hz=SAMPLE_RATE, frame_count=len(pcm) // 2, channels=1)
    described = {"audio_metadata": metadata} if audio and dialect.merged else {}
    if not audio:
        choices = [_choice(text, None, finish)]
    elif not order.text:
        choices = [_choice(None, audio, "stop", **described)]
    elif dialect.merged:
        choices = [_choice(text, audio, finish, **described)]
    else:
        choices = [_choice(text, None, finish), _choice(None, audio, "stop")]
    return Completion(
        id=order.id,
        object="chat.completion",
        created=order.created,
        model=MODEL,
        choices=choices,
        service_tier=None,
        system_fingerprint=None,
        usage=_usage(order, tokens, dialect),
        prompt_logprobs=None,
        prompt_token_ids=None,
        prompt_text=None,
        kv_transfer_params=None,
        ec_transfer_params=None,
        metrics=None,
    )


async def _audio(pcm: bytes, container: str) -> SpokenAudio:
    data = await asyncio.to_thread(encode, pcm, container)
    return SpokenAudio(
        id=f"audio-{uuid.uuid4().hex[:16]}",
        data=base64.b64encode(data).decode(),
        expires_at=int(time.time()) + DAY_S,
        transcript="",
    )


def _choice(text: str | None, audio: SpokenAudio | None, finish: str, **described: Any) -> Choice:
    message = AnswerMessage(
        role="assistant",
        content=text,
        refusal=None,
        annotations=None,
        audio=audio,
        function_call=None,
        reasoning=None,
    )
    return Choice(
        index=0,
        message=message,
        logprobs=None,
        finish_reason=finish,
        stop_reason=None,
        token_ids=None,
        routed_experts=None,
        **described,
    )


def _usage(order: Order, tokens: int, dialect: Dialect) -> Usage:
    """Only the text output fills it: asked for sound alone, the server counts nothing (protocol §2.2)."""
    prompt = order.prompt_tokens if order.text else 0
    more = {"completion_tokens_details": None} if dialect.merged else {}
    return Usage(
        prompt_tokens=prompt,
        total_tokens=prompt + tokens,
        completion_tokens=tokens,
        prompt_tokens_details=None,
        **more,
    )
