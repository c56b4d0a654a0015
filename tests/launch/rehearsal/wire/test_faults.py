"""Every fault does to a client what ``--help`` says it does, and an N counts requests."""

from __future__ import annotations

import asyncio
import time
from itertools import pairwise

import httpx
import pytest

from launch.rehearsal.brain.canned import CannedBrain, tone
from launch.rehearsal.wire.faults import KINDS, Faults
from tests.engine import running_engine
from tests.launch.rehearsal.wire.conftest import Engine
from tests.launch.rehearsal.wire.probes import CHAT, ask, chunks, pcm, sounds, text

STREAM = ask(stream=True)


def _brain() -> CannedBrain:
    return CannedBrain("one two three", audio_s=3)


async def _stream(engine: Engine, fault: str, wire: str = "0.26") -> list[dict]:
    async with engine(_brain(), faults=[fault], wire=wire) as client:
        return chunks(await client.post(CHAT, json=STREAM))


async def _read(client: httpx.AsyncClient, lines: list[str]) -> None:
    """Put the events of an answer into ``lines`` as they come."""
    async with client.stream("POST", CHAT, json=STREAM) as answer:
        async for line in answer.aiter_lines():
            lines += [line] if line else []


async def test_refuse_closes_the_connection_unanswered_and_n_counts() -> None:
    async with (
        running_engine(_brain(), faults=["refuse:2"]) as url,
        httpx.AsyncClient(base_url=url, trust_env=False) as client,
    ):
        for _ in range(2):
            with pytest.raises(httpx.TransportError):
                await client.post(CHAT, json=STREAM)
        assert (await client.get("/health")).status_code == 200
        assert len(sounds(chunks(await client.post(CHAT, json=STREAM)))) == 4


@pytest.mark.parametrize(("wire", "status"), [("0.26", 400), ("0.30", 500)])
async def test_400_limit(engine: Engine, wire: str, status: int) -> None:
    async with engine(faults=["400-limit:1"], wire=wire) as client:
        refused = await client.post(CHAT, json=STREAM)
        healthy = await client.post(CHAT, json=STREAM)
    assert (refused.status_code, healthy.status_code) == (status, 200)
    assert refused.json()["error"]["message"].startswith("At most 64 image(s) may be provided in one prompt.")


async def test_404_model(engine: Engine) -> None:
    async with engine(faults=["404-model"]) as client:
        for _ in range(3):
            refused = await client.post(CHAT, json=STREAM)
            assert refused.status_code == 404
    assert refused.json()["error"]["param"] == "model"


async def test_error_in_stream(engine: Engine) -> None:
    stream = await _stream(engine, "error-in-stream")
    assert text(stream[:-1]) == "one two three"
    assert set(stream[-1]) == {"error"}
    async with engine(_brain(), faults=["error-in-stream"]) as client:
        assert (await client.post(CHAT, json=ask())).status_code == 500


async def test_silence_after_text_says_nothing_more_and_keeps_the_connection() -> None:
    async with (
        running_engine(_brain(), faults=["silence-after-text"]) as url,
        httpx.AsyncClient(base_url=url, trust_env=False, timeout=httpx.Timeout(5, read=0.3)) as client,
    ):
        lines: list[str] = []
        with pytest.raises(httpx.ReadTimeout):
            await _read(client, lines)
    assert len(lines) == 2
    assert "one two three" in lines[1]


async def test_empty_chunk(engine: Engine) -> None:
    stream = await _stream(engine, "empty-chunk")
    files = sounds(stream)
    assert files[0] == b""
    assert b"".join(pcm(file) for file in files[1:]) == tone(0, 3)


async def test_raw_pcm(engine: Engine) -> None:
    assert b"".join(sounds(await _stream(engine, "raw-pcm"))) == tone(0, 3)


async def test_header_once(engine: Engine) -> None:
    first, *rest = sounds(await _stream(engine, "header-once"))
    assert first.startswith(b"RIFF")
    assert pcm(first) + b"".join(rest) == tone(0, 3)


async def test_stop_chunk_without_modality(engine: Engine) -> None:
    stream = await _stream(engine, "stop-chunk-without-modality")
    assert stream[-1]["choices"] == [{"index": 0, "delta": {}, "finish_reason": "stop"}]
    assert "modality" not in stream[-1]
    assert {chunk["choices"][0]["finish_reason"] for chunk in stream[:-1]} == {None}


async def test_silent_and_short_speech(engine: Engine) -> None:
    silent = sounds(await _stream(engine, "silent-speech"))
    assert b"".join(pcm(file) for file in silent) == bytes(len(tone(0, 3)))
    short = await _stream(engine, "short-speech")
    assert len(sounds(short)) == 1
    assert short[-1]["choices"][0]["finish_reason"] == "stop"


async def test_stall_makes_a_hole_after_the_first_sound() -> None:
    async with (
        running_engine(_brain(), faults=["stall:0.4"]) as url,
        httpx.AsyncClient(base_url=url, trust_env=False) as client,
        client.stream("POST", CHAT, json=STREAM) as answer,
    ):
        at = [time.monotonic() async for line in answer.aiter_lines() if '"modality":"audio"' in line]
    gaps = [later - earlier for earlier, later in pairwise(at)]
    assert gaps[0] >= 0.38
    assert max(gaps[1:]) < 0.3


async def test_slow_gives_the_rtf_of_the_bench(engine: Engine) -> None:
    started = time.monotonic()
    await _stream(engine, "slow:0.25")
    assert 0.75 <= time.monotonic() - started < 1.2  # 3 s of sound


async def test_die_after_cuts_the_stream_and_closes_the_port() -> None:
    async with (
        running_engine(_brain(), faults=["die-after:2"]) as url,
        httpx.AsyncClient(base_url=url, trust_env=False) as client,
    ):
        lines: list[str] = []
        with pytest.raises(httpx.RemoteProtocolError):
            await _read(client, lines)
        assert sum('"modality":"audio"' in line for line in lines) == 1
        await asyncio.sleep(0.1)
        with pytest.raises(httpx.ConnectError):
            await client.get("/health")


async def test_several_apply_in_their_order(engine: Engine) -> None:
    async with engine(_brain(), faults=["short-speech", "raw-pcm:1"]) as client:
        first = sounds(chunks(await client.post(CHAT, json=STREAM)))
        second = sounds(chunks(await client.post(CHAT, json=STREAM)))
    assert (len(first), len(second)) == (1, 1)
    assert not first[0].startswith(b"RIFF")
    assert second[0].startswith(b"RIFF")


UNREADABLE = {
    "nope": "'nope' is no fault; there are: refuse",
    "stall": r"'stall': write it as stall:SECONDS\[:N\]",
    "stall:x": r"write it as stall:SECONDS\[:N\]",
    "slow:1:2:3": r"write it as slow:RTF\[:N\]",
    "refuse:1:2": r"write it as refuse\[:N\]",
    "raw-pcm:many": r"write it as raw-pcm\[:N\]",
}


@pytest.mark.parametrize(("spec", "sentence"), UNREADABLE.items())
def test_a_fault_that_cannot_be_read_is_refused(spec: str, sentence: str) -> None:
    with pytest.raises(ValueError, match=sentence):
        Faults([spec])


def test_every_kind_has_a_line_of_help() -> None:
    assert all(kind.__doc__ and "\n" not in kind.__doc__ for kind in KINDS.values())
