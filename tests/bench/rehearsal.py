"""How soon the rehearsal engine speaks, and what it weighs: real weights, a process of its own, asked over its wire."""

from __future__ import annotations

import asyncio
import secrets
import statistics
import tempfile
from dataclasses import replace
from pathlib import Path
from typing import Any

import psutil

from launch.engine import RehearsalEngine
from tests.bench import inputs
from ui.media import audio, image, video
from ui.turn.client import ServerClient
from ui.turn.events import Failed
from ui.turn.parts import Message, Part, Settings, Text
from ui.turn.request import Request
from ui.turn.timing import Timing

ROUNDS = 5  # of each kind, after one warm-up: an odd number, so that the median is a run that happened
RSS_TURNS = 20  # the figure: after twenty turns
PROMPTS = {
    "zh": "我在想第{n}件事：周末去爬山，该带些什么？",
    "en": "Here is thought number {n}: what should I pack for a mountain trip?",
}
"""The number makes every prompt one that was not seen before, so that no prompt cache answers for the engine."""


async def first_audio_s(client: ServerClient, *parts: Part) -> float:
    """Seconds from the request's send to its first audio packet. Raises the turn's failure."""
    timing = Timing()
    async for event in client.stream(Request((Message("user", parts),), Settings(), None)):
        if isinstance(event, Failed):
            raise event.error
        timing.watch(event)
    ttfp_ms = timing.figures().ttfp_ms
    assert ttfp_ms is not None, "the engine did not speak"
    return ttfp_ms / 1000


def unseen(part: Part) -> Part:
    """The same medium with other bytes: the engine remembers what it perceived by content, and a repeat costs it nothing."""
    return part if isinstance(part, Text) else replace(part, data=part.data + secrets.token_bytes(8))


async def ready(client: ServerClient) -> None:
    while (await client.check()).state not in ("ready", "busy"):  # noqa: ASYNC110 - another process, asked by HTTP
        await asyncio.sleep(0.3)


async def ask_all(url: str, folder: Path) -> dict[str, Any]:
    client = ServerClient(url)
    try:
        await ready(client)
        typed: dict[str, list[float]] = {}
        turns = 0
        for language, prompt in PROMPTS.items():
            runs = [await first_audio_s(client, Text(prompt.format(n=n))) for n in range(ROUNDS + 1)]
            typed[language] = runs[1:]
            turns += len(runs)
        media = {
            "image": image.prepare(inputs.picture(folder)).parts,
            "question": audio.prepare(inputs.question(folder)).parts,
            "clip": video.interleaved(inputs.clip(folder)).parts,
        }
        medians: dict[str, float] = {}
        for kind, parts in media.items():
            asked = parts if kind == "question" else (*parts, Text("What is there?"))
            runs = [await first_audio_s(client, *map(unseen, asked)) for _ in range(3)]
            medians[kind] = statistics.median(runs)
            turns += 3
        while turns < RSS_TURNS:
            await first_audio_s(client, Text(PROMPTS["zh"].format(n=100 + turns)))
            turns += 1
    finally:
        await client.close()
    return {
        "rehearsal_first_audio_s": {language: statistics.median(runs) for language, runs in typed.items()},
        "rehearsal_first_audio_spread_s": {
            language: f"{min(runs):.2f}-{max(runs):.2f}" for language, runs in typed.items()
        },
        "rehearsal_media_first_audio_s": max(medians.values()),
        "rehearsal_media_first_audio_by_kind_s": medians,
        "rehearsal_turns": turns,
    }


def measure() -> dict[str, Any]:
    """Seconds to the first audio packet (medians) and megabytes of the engine after its turns."""
    engine = RehearsalEngine()
    engine.start()
    try:
        with tempfile.TemporaryDirectory() as folder:
            figures = asyncio.run(ask_all(engine.url, Path(folder)))
        assert engine.pid is not None
        figures["rehearsal_rss_mb"] = round(psutil.Process(engine.pid).memory_info().rss / 2**20)
    finally:
        engine.stop()
    return figures
