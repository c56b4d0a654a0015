"""Cut, stalled, delayed, frozen and half-closed: after every event that comes down, every eighth that goes up, on both wires."""

from __future__ import annotations

import asyncio
from dataclasses import replace

import pytest

from tests.ui.live.asking import PIECE, QUICK, SETUP, WIRES, notices, of
from tests.ui.live.journal_server import PIECE_MS, WORDS, JournalServer, journal_server
from tests.ui.live.proxy import Kind, Trouble, Way, proxy
from ui.live.moments import Back, Closed, Lost, Moment, Opened, Speaking, Speech, Spoken
from ui.live.session import LiveSession

WAITS = replace(QUICK, ping=5, pong=5, close=0.2, silent=5, open=2, grace=2.0, undecided=60)
DOUBTFUL = replace(WAITS, ping=0.2, pong=0.3, silent=0.5, open=0.6, connect=0.6)
"""Where only doubt finds out that nothing passes. On a starved machine it may doubt a socket that lives."""
STATED_S = 6.0
"""Longest that a conversation may take with any trouble in it; without one it takes 0.1 s."""
ANSWERS = 2
TEXT = "".join(WORDS)
# A conversation of two answers has 22 events down (created and updated, then twice a listen and a block of 9), and more
# than 40 up.
BOUNDARIES: dict[Way, range] = {"down": range(22), "up": range(0, 40, 8)}
TOGETHER = 8
"""Conversations at once: most of their time is waiting."""


def _frozen(troubles: tuple[Trouble, ...]) -> bool:
    return any(each.kind == "freeze" for each in troubles)


async def converse(server: JournalServer, *troubles: Trouble) -> list[Moment]:
    """A conversation up to its second whole answer, or its end."""
    waits = DOUBTFUL if _frozen(troubles) else WAITS
    async with proxy(server.url, *troubles) as between:
        seen: list[Moment] = []
        async with LiveSession(between.url, SETUP, waits=waits) as live:
            speaking = asyncio.create_task(_microphone(live))
            try:
                async with asyncio.timeout(STATED_S):
                    async for moment in live.moments():
                        seen.append(moment)
                        if isinstance(moment, Speech):
                            live.played(moment.response, moment.until_ms)
                        if len([each for each in of(Spoken, seen) if each.status == "completed"]) == ANSWERS:
                            break
                        if isinstance(moment, Closed):
                            break
            finally:
                speaking.cancel()
                await asyncio.wait([speaking])
            if not of(Closed, seen):
                closing = asyncio.get_running_loop().time()
                await live.close()
                assert asyncio.get_running_loop().time() - closing < 2
        async with asyncio.timeout(1):
            await between.quiet()
    async with asyncio.timeout(WAITS.grace + 1):
        await server.quiet()
    assert between.struck == list(troubles)
    return seen


async def _microphone(live: LiveSession) -> None:
    while True:
        live.append(PIECE)
        await asyncio.sleep(0.001)


def whole(seen: list[Moment]) -> None:
    """Nothing said twice, nothing missed, or else announced."""
    assert [each.response for each in of(Speaking, seen)] == [each.response for each in of(Spoken, seen)]
    for spoken in of(Spoken, seen):
        pcm = sum(len(each.pcm) for each in of(Speech, seen) if each.response == spoken.response)
        assert pcm / 48 == spoken.duration_ms
        if spoken.status == "completed":
            assert (spoken.text, spoken.duration_ms) == (TEXT, len(WORDS) * PIECE_MS)
        else:
            assert spoken.reason == "lost"
            assert [each.resumed for each in of(Back, seen)] == [False]
    # A line or a machine that stands still for a moment looks like a server that decides nothing; saying so is right.
    assert set(notices(seen)) <= {"live-no-decision"}
    assert len(of(Lost, seen)) == len(of(Back, seen))


@pytest.mark.parametrize("wire", WIRES)
@pytest.mark.parametrize("way", ["down", "up"])
@pytest.mark.parametrize("kind", ["cut", "half-close", "freeze", "stall", "delay"])
async def test_trouble_after_every_event(kind: Kind, way: Way, wire: str) -> None:
    troubles = [Trouble(kind, way, after, 0.05 if kind == "stall" else 0.001) for after in BOUNDARIES[way]]
    await _all(wire, [(trouble,) for trouble in troubles])


@pytest.mark.parametrize("wire", WIRES)
async def test_trouble_while_it_is_being_resumed(wire: str) -> None:
    first = Trouble("cut", "down", 8)
    again_most: dict[Way, int] = {"down": 3, "up": 2}
    again = [
        Trouble(kind, way, after, 0.05 if kind == "stall" else 0.001)
        for kind in ("cut", "half-close", "freeze", "stall", "delay")
        for way, most in again_most.items()
        for after in range(most)
    ]
    await _all(wire, [(first, trouble) for trouble in again])


async def _all(wire: str, runs: list[tuple[Trouble, ...]]) -> None:
    for some in range(0, len(runs), TOGETHER):
        await asyncio.gather(*(_one(wire, *troubles) for troubles in runs[some : some + TOGETHER]))
        assert [task.get_name() for task in asyncio.all_tasks() if task.get_name().startswith("live")] == []


async def _one(wire: str, *troubles: Trouble) -> None:
    async with journal_server(wire) as server:
        seen = await converse(server, *troubles)
    if not of(Opened, seen):  # broken before it was open: refused, and said so
        (closed,) = of(Closed, seen)
        assert closed.error is not None, troubles
        assert closed.error.key in ("live-closed-at-open", "live-no-open"), troubles
        return
    assert len([each for each in of(Spoken, seen) if each.status == "completed"]) == ANSWERS, (troubles, seen)
    whole(seen)
    gaps = [each.gap_s for each in of(Back, seen)]
    breaks = [each for each in troubles if each.kind in ("cut", "half-close", "freeze")]
    assert (len(gaps) > 0) == (len(breaks) > 0), troubles
    assert len(gaps) <= len(breaks) or _frozen(troubles), troubles
