"""The turn client against the rehearsal engine, on both wires, with every fault the engine can play."""

import asyncio
import contextlib
from collections.abc import AsyncIterator, Sequence

import numpy as np
import pytest

from launch.rehearsal.brain.canned import CannedBrain, counted
from tests.engine import running_engine
from tests.ui.turn.asking import question, take
from tests.ui.turn.test_turns import ended
from ui.turn.client import ServerClient, Timeouts
from ui.turn.parts import Message, Settings, Text
from ui.turn.request import Request
from ui.turn.turns import Turns

WIRES = ("0.26", "0.30")
SAID = counted(10)
SECONDS = 2.0
QUICK = Timeouts(first_event_s=10, between_events_s=1)


@contextlib.asynccontextmanager
async def engine(wire: str, *faults: str, brain: CannedBrain | None = None) -> AsyncIterator[str]:
    async with running_engine(brain or CannedBrain(SAID, audio_s=SECONDS), wire=wire, faults=faults) as url:
        yield url


@pytest.mark.parametrize("wire", WIRES)
async def test_an_answer(wire: str) -> None:
    brain = CannedBrain(SAID, audio_s=SECONDS, first_token_s=0.1, first_audio_s=0.2, rtf=0.1)
    async with engine(wire, brain=brain) as url:
        turn = await take(url, question("count to ten"))
    assert (turn.state, turn.error, turn.notices) == ("done", None, [])
    assert (turn.model, turn.wire, turn.rehearsal) == ("rehearsal", wire, True)
    assert turn.text == SAID
    assert turn.figures.audio_s == pytest.approx(SECONDS)
    figures = turn.figures
    assert figures.ttft_ms is not None
    assert figures.ttfp_ms is not None
    assert figures.e2e_ms is not None
    assert 100 <= figures.ttft_ms < figures.ttfp_ms < figures.e2e_ms
    assert figures.ttfp_ms >= 300
    assert figures.rtf == pytest.approx(turn.events[-2].at / SECONDS)


@pytest.mark.parametrize("wire", WIRES)
async def test_text_alone_and_its_limit(wire: str) -> None:
    async with engine(wire) as url:
        turn = await take(url, question(speech=False, max_tokens=3))
    assert turn.state == "done"
    assert [notice.key for notice in turn.notices] == ["answer-at-limit"]
    assert (turn.figures.ttfp_ms, bytes(turn.pcm)) == (None, b"")
    assert SAID.startswith(turn.text)


@pytest.mark.parametrize("wire", WIRES)
@pytest.mark.parametrize("fault", ["empty-chunk", "raw-pcm", "header-once", "stop-chunk-without-modality"])
async def test_odd_but_right(wire: str, fault: str) -> None:
    async with engine(wire) as plain, engine(wire, fault) as odd:
        right, turn = await take(plain), await take(odd)
    assert (turn.state, turn.text, turn.notices) == ("done", SAID, [])
    assert turn.pcm == right.pcm
    assert np.frombuffer(bytes(turn.pcm), "<i2").any()


@pytest.mark.parametrize("wire", WIRES)
@pytest.mark.parametrize(
    ("fault", "notice"), [("silent-speech", "speech-silent"), ("short-speech", "speech-shorter-than-text")]
)
async def test_speech_that_is_not_what_its_text_says(wire: str, fault: str, notice: str) -> None:
    brain = CannedBrain(counted(40), audio_s=12.0)
    async with engine(wire, fault, brain=brain) as url:
        turn = await take(url)
    assert turn.state == "done"
    assert [notice.key for notice in turn.notices] == [notice]


@pytest.mark.parametrize("wire", WIRES)
@pytest.mark.parametrize(
    ("fault", "state", "keys"),
    [
        ("refuse", "failed", ["closed-before-answer"]),
        ("400-limit", "failed", ["too-many-media"]),
        ("404-model", "failed", ["model-id-mismatch"]),
        ("error-in-stream", "cut", ["stage-dead"]),
        ("silence-after-text", "cut", ["timeout-between-events"]),
        ("stall:5", "cut", ["timeout-between-events"]),
        (
            "die-after:0",
            "failed",
            ["stream-broken-midway", "closed-before-answer"],
        ),  # with or without the stream's head
        ("die-after:2", "cut", ["stream-broken-midway"]),
    ],
)
async def test_a_fault_is_told_and_keeps_what_came(wire: str, fault: str, state: str, keys: Sequence[str]) -> None:
    async with engine(wire, fault) as url:
        turn = await take(url, timeouts=QUICK)
    assert turn.error is not None
    assert (turn.state, turn.error.key in keys) == (state, True), turn.error
    assert bool(turn.text) == (state == "cut")
    assert len(turn.pcm) % 2 == 0


async def test_a_stall_shorter_than_the_patience_is_only_slow() -> None:
    async with engine("0.26", "stall:0.5") as url:
        turn = await take(url, timeouts=Timeouts(between_events_s=5))
    assert turn.state == "done"
    assert turn.figures.rtf is not None
    assert turn.figures.rtf > 0.5 / SECONDS


async def test_slow_speech_has_the_rtf_it_was_given() -> None:
    async with engine("0.26", "slow:0.4") as url:
        turn = await take(url)
    assert turn.figures.rtf is not None
    assert 0.39 < turn.figures.rtf < 1  # above: this machine is busy


async def test_run_works_again_after_a_fault() -> None:
    async with engine("0.26", "error-in-stream:1") as url:
        client = ServerClient(url)
        turns = Turns(client, None)
        first = await ended(turns.start(question(), "me"))
        second = await ended(turns.start(question(), "me"))
        await turns.close()
        await client.close()
    assert (first.state, second.state) == ("cut", "done")


async def test_a_stop_reaches_the_engine_and_it_lives_on() -> None:
    brain = CannedBrain(SAID, audio_s=60.0, rtf=0.5)
    async with engine("0.26", brain=brain) as url:
        client = ServerClient(url)
        turns = Turns(client, None)
        turn = turns.start(question(), "me")
        while not turn.pcm:
            await turn.changed(turn.version, 5)
        await turns.stop(turn.id, "me")
        assert turn.state == "stopped"
        assert 0 < turn.figures.audio_s < 60  # type: ignore[operator]
        await asyncio.sleep(0.7)  # the first look after a stop
        assert turn.notices == []
        assert (await client.check()).state == "ready"
        await turns.close()
        await client.close()


async def test_twenty_people_at_once() -> None:
    history = (
        Message("user", (Text("hello"),)),
        Message("assistant", (Text("hi"),)),
        Message("user", (Text("again"),)),
    )
    async with engine("0.30") as url:
        client = ServerClient(url)
        turns = Turns(client, None)
        crowd = [turns.start(Request(history, Settings()), f"person {number}") for number in range(20)]
        await asyncio.gather(*map(ended, crowd))
        await turns.close()
        await client.close()
    assert {turn.state for turn in crowd} == {"done"}
    assert len({bytes(turn.pcm) for turn in crowd}) == 1
