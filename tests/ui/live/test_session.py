"""A session from open to close against a scripted server, both wires."""

from __future__ import annotations

import asyncio
from dataclasses import replace

import pytest

from tests.ui.live.fake_server import Peer, fake_server
from ui.live.moments import (
    Caption,
    Closed,
    Interrupted,
    Latency,
    Listening,
    Moment,
    Opened,
    Speaking,
    Speech,
    Spoken,
)
from ui.live.session import LiveSession
from ui.live.setup import Setup, Waits

SETUP = Setup(model="m", instructions="Be kind.", reference=b"RIFFvoice")
QUICK = replace(Waits(), connect=2, open=2, close=1, ack=0.01, retry_first=0.01, retry_most=0.05, full_first=0.01)
WIRES = ("0.26", "0.30")
PIECE = b"\x00\x10" * 3200


async def until(live_moments, kind: type, seen: list[Moment]) -> Moment:
    """The next moment of ``kind``; all before it go to ``seen``."""
    async with asyncio.timeout(5):
        async for moment in live_moments:
            seen.append(moment)
            if isinstance(moment, kind):
                return moment
    raise AssertionError(f"no {kind.__name__} in {seen}")


@pytest.mark.parametrize("wire", WIRES)
async def test_a_conversation_from_open_to_close(wire: str) -> None:
    async def script(peer: Peer) -> None:
        asked = await peer.open()
        assert asked["extra_body"] == {
            "minicpmo45_native_duplex": True,
            "auto_response": True,
            "force_listen_count": 0,
        }
        assert asked["ref_audio"] == "data:audio/wav;base64,UklGRnZvaWNl"
        assert asked["turn_detection"] is None
        for _ in range(5):
            await peer.receive("input_audio_buffer.append")
        await peer.listen()
        await peer.begin("r1")
        await peer.say("r1", "Good ", 1000, 1000)
        await peer.receive("playback.ack")
        await peer.say("r1", "day.", 500, 1500)
        await peer.done("r1")
        await peer.closing()

    async with fake_server(script, wire=wire) as server:
        seen: list[Moment] = []
        async with LiveSession(server.url, SETUP, waits=QUICK) as live:
            moments = live.moments()
            opened = await until(moments, Opened, seen)
            assert isinstance(opened, Opened)
            assert (opened.session_id, opened.wire) == ("duplex-1", wire)
            assert live.append(PIECE * 4 + PIECE[:100])
            assert live.append(PIECE[100:])
            await until(moments, Speech, seen)
            live.played(1, 700.9)
            live.played(1, 5000)
            await until(moments, Spoken, seen)
            live.played(1, 5000)
            await asyncio.sleep(0.1)
        await until(moments, Closed, seen)
        await server.quiet()
    assert [type(each) for each in seen] == [
        Opened,
        Listening,
        Speaking,
        Speech,
        Caption,
        Latency,
        Speech,
        Caption,
        Spoken,
        Closed,
    ]
    spoken = next(each for each in seen if isinstance(each, Spoken))
    assert (spoken.status, spoken.text, spoken.duration_ms) == ("completed", "Good day.", 1500)
    assert sum(len(each.pcm) for each in seen if isinstance(each, Speech)) == 72_000
    closed = seen[-1]
    assert isinstance(closed, Closed)
    assert closed.error is None
    acks = [each for each in server.peers[0].got if each["type"] == "playback.ack"]
    assert [each["played_ms"] for each in acks][-1] == 1500
    assert all(each["item_id"] == "item_r1" for each in acks)
    appends = [each for each in server.peers[0].got if each["type"] == "input_audio_buffer.append"]
    assert [each["audio_end_ms"] for each in appends] == [200, 400, 600, 800, 1000]


@pytest.mark.parametrize("wire", WIRES)
async def test_stop_flushes_at_once_tells_what_was_heard_and_then_cancels(wire: str) -> None:
    async def script(peer: Peer) -> None:
        await peer.open()
        await peer.begin("r1")
        await peer.say("r1", "A long story", 1000, 1000)
        cancel = await peer.receive("response.cancel")
        assert cancel["response_id"] == "r1"
        await peer.say("r1", " that nobody hears", 1000, 2000)
        await peer.done("r1", "cancelled", "barge_in" if wire == "0.26" else "client_cancelled")
        await peer.closing()

    async with fake_server(script, wire=wire) as server:
        seen: list[Moment] = []
        async with LiveSession(server.url, SETUP, waits=replace(QUICK, ack=60)) as live:
            moments = live.moments()
            await until(moments, Caption, seen)
            live.played(1, 400)
            await live.interrupt("stop")
            await until(moments, Interrupted, seen)
            spoken = await until(moments, Spoken, seen)
        await server.quiet()
    assert isinstance(spoken, Spoken)
    assert (spoken.status, spoken.text) == ("cancelled", "A long story")
    assert [each.by for each in seen if isinstance(each, Interrupted)] == ["stop"]
    types = [each["type"] for each in server.peers[0].got]
    assert types.index("playback.ack") < types.index("response.cancel")
