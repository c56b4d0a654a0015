"""A request, checked and decoded: what the brain is asked and how the answer is to be sent."""

from __future__ import annotations

import asyncio
import re
import time
import uuid
from collections import Counter
from dataclasses import dataclass
from typing import Any, Literal

from launch.rehearsal.brain.brain import Part, Said, Sampling
from launch.rehearsal.wire import media
from launch.rehearsal.wire.dialect import CONTEXT, LIMITS, Dialect
from launch.rehearsal.wire.errors import WireError, no_such_model, refused_by_engine, too_many
from launch.rehearsal.wire.protocol import ChatMessage, ChatRequest
from launch.rehearsal.wire.sound import CONTAINERS

MODEL = "rehearsal"
TOKENS_PER_MESSAGE = 5  # <|im_start|>, role, line break, <|im_end|>, line break
ROLES: dict[str, Literal["system", "user", "assistant"]] = {
    "system": "system",
    "developer": "system",
    "assistant": "assistant",
}


@dataclass(frozen=True)
class Order:
    """``prompt_tokens`` is an estimate: the brain's tokenizers are its own. ``container``: the format of the sound."""

    id: str
    created: int
    conversation: tuple[Said, ...]
    sampling: Sampling
    text: bool
    speech: bool
    container: str
    prompt_tokens: int
    stream: bool
    include_usage: bool
    continuous_usage: bool


async def take_order(request: ChatRequest, dialect: Dialect) -> Order:
    """Check in the server's order: model, modalities, media, reference voice, sampling. Raises ``WireError``."""
    if request.model and request.model != MODEL:
        raise no_such_model(request.model)
    modalities = _modalities(request.modalities)
    container = _container(request.audio)
    conversation, tokens = await _conversation(request.messages, dialect)
    if dialect.voices:
        await _check_voice(request, dialect)
    _check_sampling(request, tokens, dialect)
    options = request.stream_options
    return Order(
        id=f"chatcmpl-{request.request_id or uuid.uuid4().hex[:16]}",
        created=int(time.time()),
        conversation=conversation,
        sampling=Sampling(request.max_tokens, request.temperature, request.seed),
        text="text" in modalities,
        speech="audio" in modalities,
        container=container,
        prompt_tokens=tokens,
        stream=bool(request.stream),
        include_usage=bool(options and options.include_usage),
        continuous_usage=bool(options and options.continuous_usage_stats),
    )


def _modalities(asked: Any) -> set[str]:
    """Absent or null means both (protocol §2.1); an empty list passes the server's check and is taken as text."""
    if asked is None:
        return {"text", "audio"}
    if not isinstance(asked, list) or not all(isinstance(item, str) for item in asked):
        raise WireError(400, "'modalities' must be a list of strings.")
    if unknown := sorted(set(asked) - {"text", "audio"}):
        names = ", ".join(unknown)
        raise WireError(400, f"Unsupported output modalities {names} for this model. Supported modalities: audio, text")
    return set(asked) or {"text"}


def _container(audio: Any) -> str:
    asked = (audio.get("format") if isinstance(audio, dict) else None) or "wav"
    if asked not in CONTAINERS:
        raise WireError(400, f"Invalid audio format '{asked}'. Supported formats: {sorted(CONTAINERS)}")
    return CONTAINERS[asked]


async def _conversation(messages: list[ChatMessage], dialect: Dialect) -> tuple[tuple[Said, ...], int]:
    """The decoded conversation and an estimate of its prompt tokens."""
    if not messages:
        raise WireError(400, "list object has no element 0")  # the chat template's complaint
    found = [(message.role, [_part(raw) for raw in _raw_parts(message)]) for message in messages]
    counts = Counter(kind for _, parts in found for kind, _ in parts)
    for kind, limit in LIMITS.items():
        if counts[kind] > limit:
            raise too_many(dialect, kind, limit)
    tokens = TOKENS_PER_MESSAGE * (len(messages) + 1)  # and the head of the answer
    conversation: list[Said] = []
    for role, raw_parts in found:
        parts = []
        for kind, source in raw_parts:
            if kind == "text":
                data = source.encode(errors="replace")  # JSON may hold half a surrogate pair
                tokens += _text_tokens(source)
            else:
                data, weight = await asyncio.to_thread(media.take, kind, source, dialect)
                tokens += weight
            parts.append(Part(kind, data))
        conversation.append(Said(ROLES.get(role, "user"), tuple(parts)))
    return tuple(conversation), tokens


def _raw_parts(message: ChatMessage) -> list[dict[str, Any] | str]:
    if isinstance(message.content, list):
        return message.content
    return [message.content] if message.content else []


def _part(raw: dict[str, Any] | str) -> tuple[Literal["text", "image", "audio", "video"], Any]:
    """Kind and text, or kind and URL, of one content part (protocol §2.3)."""
    if isinstance(raw, str):
        return "text", raw
    kind = raw.get("type")
    inside = raw.get(kind) if isinstance(kind, str) else None
    if kind == "text" and isinstance(inside, str):
        return "text", inside
    if kind == "input_audio" and isinstance(inside, dict):
        return "audio", f"data:audio/{inside.get('format')};base64,{inside.get('data')}"
    url = inside.get("url") if isinstance(inside, dict) else inside
    if kind == "image_url":
        return "image", url
    if kind == "audio_url":
        return "audio", url
    if kind == "video_url":
        return "video", url
    raise WireError(400, f"Unknown part type: {kind}")


def _text_tokens(text: str) -> int:
    """About: a token for each CJK character, and one for every four others."""
    wide = len(re.findall(r"[\u3000-\u9fff\uac00-\ud7ff\uff00-\uffef]", text))
    return wide + -(-(len(text) - wide) // 4)


async def _check_voice(request: ChatRequest, dialect: Dialect) -> None:
    """0.30 reads ``ref_audio`` at the root or inside a literal ``extra_body``; the rehearsal keeps its own voice."""
    nested = request.extra_body.get("ref_audio") if isinstance(request.extra_body, dict) else None
    voice = request.ref_audio if request.ref_audio is not None else nested
    if voice is None:
        return
    if not isinstance(voice, str):
        raise WireError(400, "MiniCPM-o 4.5 chat ref_audio must be a URI string")
    await asyncio.to_thread(media.take, "audio", voice, dialect)


def _check_sampling(request: ChatRequest, prompt: int, dialect: Dialect) -> None:
    asked = request.max_tokens
    if asked is not None and asked > CONTEXT:
        raise refused_by_engine(
            dialect,
            f"max_tokens={asked} cannot be greater than max_model_len=max_total_tokens={CONTEXT}."
            f" Please request fewer output tokens. (parameter=max_tokens, value={asked})",
        )
    if asked is not None and asked < 1:
        raise _bad_value(dialect, "max_tokens", f"must be at least 1, got {asked}.", asked)
    heat, share = request.temperature, request.top_p
    if heat is not None and heat < 0:
        raise _bad_value(dialect, "temperature", f"must be non-negative, got {heat}.", heat)
    if share is not None and not 0 < share <= 1:
        raise _bad_value(dialect, "top_p", f"must be in (0, 1], got {share}.", share)
    output = asked or 0
    if prompt + max(output, 1) > CONTEXT:
        raise refused_by_engine(
            dialect,
            f"This model's maximum context length is {CONTEXT} tokens. However, you requested {output} output tokens"
            f" and your prompt contains at least {prompt} input tokens, for a total of at least {prompt + output}"
            " tokens. Please reduce the length of the input prompt or the number of requested output tokens."
            f" (parameter=input_tokens, value={prompt})",
        )


def _bad_value(dialect: Dialect, name: str, rule: str, value: float) -> WireError:
    return refused_by_engine(dialect, f"{name} {rule} (parameter={name}, value={value})", param=name)
