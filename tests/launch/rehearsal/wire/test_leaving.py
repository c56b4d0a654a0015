"""A client that leaves ends the brain's work at once, and one that waits keeps nobody else from an answer."""

from __future__ import annotations

import asyncio
import json
import time
from collections.abc import Callable

import httpx
import pytest

from launch.rehearsal.brain.canned import CannedBrain
from tests.engine import running_engine
from tests.launch.rehearsal.wire.probes import CHAT, ProbeBrain, ask

AT_ONCE_S = 2.0  # generous for a loaded machine; without the abort it would never come


async def _until(condition: Callable[[], bool]) -> float:
    started = time.monotonic()
    while not condition():
        await asyncio.sleep(0.005)
        assert time.monotonic() - started < 10
    return time.monotonic() - started


@pytest.mark.parametrize("waits_in", ["think", "speak"])
@pytest.mark.parametrize("streamed", [True, False])
async def test_leaving_ends_the_brains_work(waits_in: str, streamed: bool) -> None:
    brain = ProbeBrain(waits_in)
    async with running_engine(brain) as url, httpx.AsyncClient(base_url=url, trust_env=False) as client:
        request = asyncio.create_task(client.post(CHAT, json=ask(stream=streamed)))
        await _until(brain.waiting.is_set)
        assert (await client.get("/load")).json() == {"server_load": 1}
        request.cancel()
        await asyncio.gather(request, return_exceptions=True)
        assert await _until(lambda: waits_in in brain.ended) < AT_ONCE_S
        assert (await client.get("/load")).json() == {"server_load": 0}
        assert 'finished_reason="abort"' in (await client.get("/metrics")).text


async def test_leaving_between_two_pieces_ends_it_too() -> None:
    """The generator is then not waiting for the brain but for the socket: a slow reader that goes away."""
    brain = CannedBrain("word " * 200_000)
    async with running_engine(brain) as url, httpx.AsyncClient(base_url=url, trust_env=False) as client:
        async with client.stream("POST", CHAT, json=ask(modalities=["text"], stream=True)) as answer:
            await anext(answer.aiter_raw())
        started = time.monotonic()
        while (await client.get("/load")).json() != {"server_load": 0}:
            assert time.monotonic() - started < AT_ONCE_S
            await asyncio.sleep(0.01)
        assert 'requests_success_total{finished_reason="abort"' in (await client.get("/metrics")).text


async def test_others_are_answered_while_one_waits() -> None:
    async with (
        running_engine(ProbeBrain("speak")) as url,
        httpx.AsyncClient(base_url=url, trust_env=False, timeout=5) as client,
        client.stream("POST", CHAT, json=ask(stream=True)) as answer,
    ):
        lines = answer.aiter_lines()
        while '"modality":"audio"' not in await anext(lines):
            pass
        assert (await client.get("/health")).status_code == 200
        quiet = await client.post(CHAT, json=ask(modalities=["text"]))
        assert quiet.json()["choices"][0]["message"]["content"] == "one two three"


async def test_chunks_leave_when_they_are_made() -> None:
    """TTFT, TTFP and RTF by the bench's formulas come out as the brain was told to time them."""
    brain = CannedBrain("one two three", audio_s=3, first_token_s=0.2, first_audio_s=0.3, rtf=0.2)
    seen: dict[str, list[float]] = {"text": [], "audio": []}
    async with running_engine(brain) as url, httpx.AsyncClient(base_url=url, trust_env=False) as client:
        started = time.monotonic()
        async with client.stream("POST", CHAT, json=ask(stream=True)) as answer:
            async for line in answer.aiter_lines():
                if line.startswith("data: {"):
                    chunk = json.loads(line.removeprefix("data: "))
                    seen[chunk["modality"]].append(time.monotonic() - started)
    assert 0.2 <= seen["text"][0] < 0.45
    assert 0.5 <= seen["audio"][0] < 0.8
    assert 0.9 <= seen["audio"][-1] < 1.4
