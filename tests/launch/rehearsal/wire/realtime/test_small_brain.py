"""Spoken questions through the realtime side, with the fetched models: heard by voice, answered aloud in their language."""

from __future__ import annotations

import asyncio
import time
from collections.abc import Iterator
from pathlib import Path

import numpy as np
import pytest

from launch.rehearsal.brain.clauses import is_chinese
from launch.rehearsal.brain.sound import EAR_RATE, decode, to_pcm
from tests.engine import engine_thread
from tests.launch.rehearsal.wire.realtime.client import Client, opened, quiet

pytestmark = pytest.mark.weights
SAMPLES = Path(__file__).resolve().parents[5] / "assets" / "samples"
LOADING_S = 120.0  # of every model, on a machine with other work to do
FAN = 0.004  # of full scale, RMS: what a room with a fan leaves in a microphone


@pytest.fixture(scope="module")
def engine() -> Iterator[str]:
    from launch.rehearsal.brain.small_brain import SmallBrain

    with engine_thread(SmallBrain(), wire="0.30", deadline_s=LOADING_S) as url:
        yield url


def question(language: str) -> bytes:
    return to_pcm(decode((SAMPLES / f"question-{language}.flac").read_bytes(), "audio"))


async def ask(client: Client, pcm: bytes) -> float:
    """At the pace of a microphone; silence until the first sound of the answer. Seconds from the end of ``pcm`` to it."""
    for at in range(0, len(pcm), 6400):
        await client.append(pcm[at : at + 6400])
        await asyncio.sleep(0.2)
    ended = time.monotonic()
    while "response.output_audio.delta" not in client.types:
        await client.append(quiet(0.2))
        await asyncio.sleep(0.2)
    return time.monotonic() - ended


@pytest.mark.parametrize("language", ["en", "zh"])
async def test_a_spoken_question_is_answered_aloud_in_its_language(engine: str, language: str) -> None:
    async with opened(engine) as client:
        await client.append(np.random.default_rng(1).normal(0, FAN * 32767, 2 * EAR_RATE).astype("<i2").tobytes())
        await client.until(lambda _: client.types.count("response.listen") == 2)
        async with asyncio.timeout(60):
            reply_s = await ask(client, question(language))
        begun = client.types.index("response.created")
        assert "response.created" not in client.types[: client.types.index("response.listen") + 1]
        done = await client.until("response.done", begun)
        content = done["response"]["output"][0]["content"][0]
    assert content["transcript"]
    assert is_chinese(content["transcript"]) == (language == "zh")
    assert np.abs(np.frombuffer(client.pcm, "<i2").astype(np.int32)).max() > 1000
    assert content["audio_duration_ms"] == len(client.pcm) // 48
    print(f"{language}: {reply_s:.1f} s, {content['transcript']!r}")
