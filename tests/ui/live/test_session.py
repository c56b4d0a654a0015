"""A session from open to close against a scripted server, both wires."""

from __future__ import annotations

import asyncio
from dataclasses import replace

import pytest

from tests.ui.live.asking import PIECE, QUICK, SETUP, WIRES, until
from tests.ui.live.fake_server import Peer, fake_server
from ui.live.moments import (
    Caption,
    Closed,
    HeardYou,
    Interrupted,
    Latency,
    Listening,
    Moment,
    Opened,
    Speaking,
    Speech,
    Spoken,
    Unknown,
)
from ui.live.session import LiveSession


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


async def test_a_muted_session_sends_heartbeats_and_a_talking_one_none() -> None:
    async with fake_server(_only_open) as server:
        async with LiveSession(server.url, SETUP, waits=replace(QUICK, heartbeat=0.06)) as live:
            await until(live.moments(), Opened)
            for _ in range(12):
                live.append(PIECE)
                await asyncio.sleep(0.02)
            talking = [each["type"] for each in server.peers[0].got]
            await asyncio.sleep(0.2)
            assert live.idle_left_s is not None
            assert 299 < live.idle_left_s <= 300
        muted = [each["type"] for each in server.peers[0].got]
    assert "session.heartbeat" not in talking
    assert 2 <= muted.count("session.heartbeat") <= 4


async def test_the_server_may_forget_what_has_arrived() -> None:
    async def script(peer: Peer) -> None:
        await peer.open()
        await peer.listen()
        await peer.closing()

    async with (
        fake_server(script) as server,
        LiveSession(server.url, SETUP, waits=replace(QUICK, event_ack=0.03)) as live,
    ):
        await until(live.moments(), Listening)
        await asyncio.sleep(0.15)
        acks = [each for each in server.peers[0].got if each["type"] == "session.event_ack"]
        assert [each["server_event_seq"] for each in acks] == [2]


@pytest.mark.parametrize("offered", [True, False])
async def test_server_vad_is_asked_for_only_where_it_is_offered(offered: bool) -> None:
    async def script(peer: Peer) -> None:
        await peer.open(supports_barge_in=offered)
        if offered:
            update = await peer.receive("session.update")
            assert update["session"] == {
                "turn_detection": {"type": "server_vad", "interrupt_response": True},
                "overlap_policy": "barge_in_on_speech",
            }
            await peer.send("input_audio_buffer.speech_started", audio_start_ms=0)
        await peer.closing()

    wanted = replace(SETUP, server_vad=True)
    async with fake_server(script, wire="0.30") as server:
        async with LiveSession(server.url, wanted, waits=QUICK) as live:
            await until(live.moments(), HeardYou if offered else Opened)
        assert [each["type"] for each in server.peers[0].got].count("session.update") == (2 if offered else 1)


@pytest.mark.parametrize("takes", [True, False])
async def test_a_picture_goes_with_the_next_piece_where_the_server_takes_one(takes: bool) -> None:
    async def script(peer: Peer) -> None:
        await peer.open(optional_input_modalities=["video"] if takes else [])
        await peer.receive("input_audio_buffer.append")
        await peer.receive("input_audio_buffer.append")
        await peer.listen()
        await peer.closing()

    async with fake_server(script, wire="0.30") as server, LiveSession(server.url, SETUP, waits=QUICK) as live:
        moments = live.moments()
        opened = await until(moments, Opened)
        assert opened.camera is takes
        live.append(PIECE, b"JPEG")
        live.append(PIECE)
        await until(moments, Listening)
        appends = [each for each in server.peers[0].got if each["type"] == "input_audio_buffer.append"]
        assert [each.get("video_frames") for each in appends] == [["SlBFRw=="] if takes else None, None]


async def test_an_unknown_event_is_shown_without_its_media() -> None:
    async def script(peer: Peer) -> None:
        await peer.open()
        await peer.send("response.sing", audio="A" * 4000, note="c")
        await peer.closing()

    async with fake_server(script) as server, LiveSession(server.url, SETUP, waits=QUICK) as live:
        unknown = await until(live.moments(), Unknown)
    assert unknown.event["type"] == "response.sing"
    assert (unknown.event["note"], unknown.event["audio"]) == ("c", "<3000 bytes>")


async def test_the_log_holds_both_ways_but_no_media_and_no_token() -> None:
    log = []

    async def script(peer: Peer) -> None:
        await peer.open("secret-token")
        await peer.receive("input_audio_buffer.append")
        await peer.begin("r1")
        await peer.say("r1", "Well", 10, 10)
        await peer.closing()

    async with fake_server(script) as server, LiveSession(server.url, SETUP, waits=QUICK, log=log.append) as live:
        moments = live.moments()
        await until(moments, Opened)
        live.append(PIECE)
        await until(moments, Caption)
    assert [(each["way"], each["event"]["type"]) for each in log][:3] == [
        ("out", "session.update"),
        ("in", "session.created"),
        ("in", "session.updated"),
    ]
    by_type = {each["event"]["type"]: each["event"] for each in log}
    assert {"session.close", "session.closed"} <= by_type.keys()
    assert "secret-token" not in repr(log)
    assert by_type["input_audio_buffer.append"]["audio"] == "<6402 bytes>"
    assert by_type["response.audio.delta"]["delta"] == "<480 bytes>"
    assert by_type["session.update"]["session"]["ref_audio"].endswith("bytes>")
    assert by_type["response.audio_transcript.delta"]["delta"] == "Well"


async def test_a_key_goes_into_the_header() -> None:
    async with (
        fake_server(_only_open) as server,
        LiveSession(server.url, SETUP, waits=QUICK, api_key="k3y") as live,
    ):
        await until(live.moments(), Opened)
        request = server.peers[0].socket.request
        assert request is not None
        assert request.headers["Authorization"] == "Bearer k3y"
        assert request.path == "/v1/realtime?duplex=1&autostart=0"


async def _only_open(peer: Peer) -> None:
    await peer.open()
    await peer.closing()
