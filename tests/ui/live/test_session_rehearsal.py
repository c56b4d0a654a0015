"""A session with the rehearsal engine, whose microphone runs twenty times as fast as a voice."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from dataclasses import replace

import pytest

from launch.faults import explain
from launch.rehearsal.brain.canned import CannedBrain
from launch.rehearsal.wire.realtime.lobby import Limits
from tests.engine import running_engine
from tests.ui.live.asking import QUICK, SETUP, WIRES, ended, notices, of, rest, until
from tests.ui.live.proxy import Trouble, proxy
from tests.ui.turn.asking import wav
from ui.live.moments import (
    Back,
    Caption,
    Closed,
    HeardYou,
    Interrupted,
    Listening,
    Lost,
    Moment,
    Opened,
    Speaking,
    Speech,
    Spoken,
    Unknown,
    Waiting,
)
from ui.live.session import LiveSession
from ui.live.setup import Setup, Waits

LOUD, QUIET = b"\x00\x20" * 3200, b"\0\0" * 3200
TALKS = replace(SETUP, reference=wav(b"\x00\x10" * 16_000, 16_000))
WAITS = replace(QUICK, open=10, close=2, grace=5)
TEXT, MS = "1 2 3 4 5 6 7 8 9 10", 3000.0
"""What the engine without weights says to everything."""


@asynccontextmanager
async def talking(
    url: str,
    *,
    waits: Waits = WAITS,
    setup: Setup = TALKS,
    loud: Callable[[int], bool] = lambda piece: 5 < piece % 40 <= 12,
) -> AsyncIterator[LiveSession]:
    """A session whose microphone says something every eight seconds of its own time: 0.4 s of ours."""
    async with LiveSession(url, setup, waits=waits) as live:
        speaking = asyncio.create_task(_microphone(live, loud))
        try:
            yield live
        finally:
            speaking.cancel()
            await asyncio.wait([speaking])


def once(piece: int) -> bool:
    """One question: a second one, come while the line was down, would talk over the answer and rightly shorten it."""
    return 5 < piece <= 12


async def _microphone(live: LiveSession, loud: Callable[[int], bool]) -> None:
    piece = 0
    while True:
        if live.opened:
            live.append(LOUD if loud(piece) else QUIET)
            piece += 1
        await asyncio.sleep(0.01)


def whole(seen: list[Moment]) -> None:
    for spoken in of(Spoken, seen):
        if spoken.status == "completed":
            assert (spoken.text, spoken.duration_ms) == (TEXT, MS)
            assert sum(len(each.pcm) for each in of(Speech, seen) if each.response == spoken.response) == MS * 48
    assert of(Unknown, seen) == []


@pytest.mark.parametrize("wire", WIRES)
async def test_two_answers_heard_and_acknowledged(wire: str) -> None:
    async with running_engine(wire=wire) as url, talking(url) as live:
        moments = live.moments()
        seen: list[Moment] = []
        for _ in range(2):
            spoken = await until(moments, Spoken, seen)
            live.played(spoken.response, 1_000)
            await until(moments, Listening, seen)
            live.played(spoken.response, 10_000)
        await live.close()
        seen += await rest(moments)
    whole(seen)
    assert [each.status for each in of(Spoken, seen)][:2] == ["completed", "completed"]
    assert of(HeardYou, seen)
    assert notices(seen) == []
    assert ended(seen) == ("closed", None)


@pytest.mark.parametrize("wire", WIRES)
async def test_stop(wire: str) -> None:
    async with running_engine(wire=wire) as url, talking(url) as live:
        moments = live.moments()
        seen: list[Moment] = []
        await until(moments, Caption, seen)
        live.played(1, 400)
        await live.interrupt("stop")
        spoken = await until(moments, Spoken, seen)
        again = await until(moments, Spoken, seen)
    assert (spoken.response, spoken.status) == (1, "cancelled")
    assert (again.response, again.status) == (2, "completed")
    assert [each.by for each in of(Interrupted, seen)] == ["stop"]
    assert notices(seen) == []


async def test_talked_over_with_server_vad_it_stops() -> None:
    setup = replace(TALKS, server_vad=True)
    over = asyncio.Event()

    def loud(piece: int) -> bool:
        return over.is_set() or 5 < piece <= 12

    brain = CannedBrain(audio_s=20.0)  # long enough to be talked over
    async with running_engine(brain, wire="0.30") as url, talking(url, setup=setup, loud=loud) as live:
        moments = live.moments()
        seen: list[Moment] = []
        await until(moments, Speaking, seen)
        over.set()
        spoken = await until(moments, Spoken, seen)
    assert (spoken.status, spoken.reason) == ("cancelled", "turn_detected")
    assert [each.by for each in of(Interrupted, seen)] == ["model"]


@pytest.mark.parametrize("wire", WIRES)
@pytest.mark.parametrize("after", [0, 5, 9])
async def test_a_cut_in_an_answer_is_mended(wire: str, after: int) -> None:
    async with running_engine(wire=wire, faults=[f"drop-after:{after + 1}:1"]) as url, talking(url) as live:
        moments = live.moments()
        seen: list[Moment] = []
        await until(moments, Spoken, seen)
        await until(moments, Spoken, seen)
    whole(seen)
    assert [each.status for each in of(Spoken, seen)] == ["completed", "completed"]
    assert [each.resumed for each in of(Back, seen)] == [True]
    assert notices(seen) == []


@pytest.mark.parametrize("wire", WIRES)
async def test_cut_by_the_network_it_is_mended_too(wire: str) -> None:
    for after in (1, 4, 9, 14, 19):
        async with (
            running_engine(wire=wire) as url,
            proxy(url, Trouble("cut", "down", after)) as between,
            talking(between.url) as live,
        ):
            moments = live.moments()
            seen: list[Moment] = []
            await until(moments, Spoken, seen)
            if not between.struck:
                await until(moments, Lost, seen)
                await until(moments, Back, seen)
        whole(seen)
        assert [each.status for each in of(Spoken, seen)] == ["completed"], after
        assert [each.resumed for each in of(Back, seen)] == [True], after


@pytest.mark.parametrize("wire", WIRES)
async def test_a_half_open_line_is_left_and_mended(wire: str) -> None:
    waits = replace(WAITS, ping=0.3, pong=0.3, silent=0.4, close=0.3)
    async with running_engine(wire=wire, faults=["half-open:6:1"]) as url, talking(url, waits=waits, loud=once) as live:
        moments = live.moments()
        seen: list[Moment] = []
        await until(moments, Spoken, seen)
    whole(seen)
    assert [each.status for each in of(Spoken, seen)] == ["completed"]
    assert True in [each.resumed for each in of(Back, seen)]


@pytest.mark.parametrize("wire", WIRES)
async def test_what_the_server_has_forgotten_begins_anew_and_says_so(wire: str) -> None:
    faults = ["drop-after:6:1", "journal-gap"]
    async with running_engine(wire=wire, faults=faults) as url, talking(url) as live:
        moments = live.moments()
        seen: list[Moment] = []
        while not of(Spoken, seen) or of(Spoken, seen)[-1].status != "completed":
            await until(moments, Spoken, seen)
    whole(seen)
    assert [each.resumed for each in of(Back, seen)] == [False]
    assert (of(Spoken, seen)[0].status, of(Spoken, seen)[0].reason) == ("failed", "lost")
    assert [each.by for each in of(Interrupted, seen)] == ["lost"]
    assert len(of(Opened, seen)) == 2


@pytest.mark.parametrize("wire", WIRES)
async def test_an_answer_without_end_is_cut_short(wire: str) -> None:
    waits = replace(WAITS, answer=0.3)
    async with running_engine(wire=wire, faults=["endless-answer"]) as url, talking(url, waits=waits) as live:
        moments = live.moments()
        seen: list[Moment] = []
        spoken = await until(moments, Spoken, seen)
    assert spoken.status == "cancelled"
    assert notices(seen) == ["live-no-answer-end"]


@pytest.mark.parametrize("wire", WIRES)
async def test_late_acknowledgements_are_a_warning(wire: str) -> None:
    async with running_engine(wire=wire, faults=["late-ack-error"]) as url, talking(url) as live:
        moments = live.moments()
        seen: list[Moment] = []
        for _ in range(2):
            spoken = await until(moments, Spoken, seen)
            live.played(spoken.response, 3_000)
    assert [each.status for each in of(Spoken, seen)] == ["completed", "completed"]
    assert notices(seen) == ["live-heard-late"]


@pytest.mark.parametrize("wire", WIRES)
async def test_a_dead_stage_takes_the_session_with_it_and_that_is_said(wire: str) -> None:
    async with running_engine(wire=wire, faults=["stage-death:6:1"]) as url, talking(url) as live:
        moments = live.moments()
        seen: list[Moment] = []
        back = await until(moments, Back, seen)
    assert not back.resumed
    (spoken,) = of(Spoken, seen)
    # Whether its last words get out is a matter of chance, as with the real one.
    assert (spoken.status, spoken.reason) in (("failed", "lost"), ("cancelled", "engine_dead"))
    assert len(of(Opened, seen)) == 2


@pytest.mark.parametrize("wire", WIRES)
async def test_a_third_session_waits_for_its_place(wire: str) -> None:
    limits = Limits(max_sessions=1)
    async with running_engine(wire=wire, limits=limits) as url, LiveSession(url, TALKS, waits=WAITS) as one:
        await until(one.moments(), Opened)
        async with LiveSession(url, TALKS, waits=replace(WAITS, full_limit=10)) as two:
            moments = two.moments()
            seen: list[Moment] = []
            await until(moments, Waiting, seen)
            await one.close()
            await until(moments, Opened, seen)


@pytest.mark.parametrize("wire", WIRES)
async def test_a_turn_server_is_named_with_the_file_to_use(wire: str) -> None:
    async with running_engine(wire=wire, mode="turn") as url, LiveSession(url, TALKS, waits=WAITS) as live:
        seen = await rest(live.moments())
    assert ended(seen) == ("refused", "live-turn-only")
    (closed,) = of(Closed, seen)
    assert closed.error is not None
    assert f"deploy/{wire}/duplex.yaml" in explain(closed.error, "zh").cure


@pytest.mark.parametrize("wire", WIRES)
async def test_it_leaves_no_session_on_the_engine(wire: str) -> None:
    limits = Limits(max_sessions=1, grace_s=60)
    async with running_engine(wire=wire, limits=limits) as url:
        for pause in (0, 0.001, 0.003, 0.01, 0.03):
            async with LiveSession(url, TALKS, waits=WAITS):
                await asyncio.sleep(pause)
        async with LiveSession(url, TALKS, waits=replace(WAITS, full_limit=2)) as live:
            await until(live.moments(), Opened)
