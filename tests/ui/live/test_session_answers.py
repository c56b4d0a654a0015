"""Answers that are interrupted, yielded, acknowledged, measured, or never end."""

from __future__ import annotations

import asyncio
from dataclasses import replace

import pytest

from tests.ui.live.asking import PIECE, QUICK, SETUP, WIRES, ended, notices, of, rest, until
from tests.ui.live.fake_server import Peer, fake_server
from ui.live.moments import (
    Caption,
    Closed,
    Interrupted,
    Latency,
    Listening,
    Moment,
    Noticed,
    Opened,
    Speaking,
    Speech,
    Spoken,
)
from ui.live.session import LiveSession

LOUD, QUIET = b"\x00\x20" * 3200, b"\x00\x00" * 3200


@pytest.mark.parametrize("wire", WIRES)
async def test_the_models_yield_by_an_ordinary_end_flushes_nothing(wire: str) -> None:
    async def script(peer: Peer) -> None:
        await peer.open()
        await peer.begin("r1")
        await peer.say("r1", "Well", 1000, 1000)
        await peer.done("r1")
        await peer.listen()
        await peer.closing()

    async with fake_server(script, wire=wire) as server, LiveSession(server.url, SETUP, waits=QUICK) as live:
        seen: list[Moment] = []
        await until(live.moments(), Listening, seen)
    assert of(Interrupted, seen) == []
    assert [each.status for each in of(Spoken, seen)] == ["completed"]


@pytest.mark.parametrize("reason", ["turn_detected", "barge_in"])
async def test_the_servers_own_cancel_is_the_models_yield(reason: str) -> None:
    async def script(peer: Peer) -> None:
        await peer.open(supports_barge_in=True)
        await peer.begin("r1")
        await peer.say("r1", "Well", 1000, 1000)
        if reason == "turn_detected":
            await peer.send("overlap.decision", action="listen", reason="auto_response_continuous")
            await peer.send("overlap.decision", action="barge_in", reason="server_vad_speech_started")
        await peer.done("r1", "cancelled", reason)
        await peer.listen()
        await peer.closing()

    async with fake_server(script, wire="0.30") as server, LiveSession(server.url, SETUP, waits=QUICK) as live:
        seen: list[Moment] = []
        await until(live.moments(), Listening, seen)
    assert [each.by for each in of(Interrupted, seen)] == ["model"]
    assert [(each.status, each.reason) for each in of(Spoken, seen)] == [("cancelled", reason)]
    assert seen.index(of(Interrupted, seen)[0]) < seen.index(of(Spoken, seen)[0])


async def test_a_listen_in_the_middle_of_an_answer_is_the_models_yield() -> None:
    async def script(peer: Peer) -> None:
        await peer.open()
        await peer.begin("r1")
        await peer.say("r1", "Well", 1000, 1000)
        await peer.listen()
        await peer.done("r1")
        await peer.closing()

    async with fake_server(script) as server, LiveSession(server.url, SETUP, waits=QUICK) as live:
        seen: list[Moment] = []
        await until(live.moments(), Spoken, seen)
    assert [each.by for each in of(Interrupted, seen)] == ["model"]


async def test_leaving_in_the_middle_of_an_answer_ends_it_without_a_flush() -> None:
    async def script(peer: Peer) -> None:
        await peer.open()
        await peer.begin("r1")
        await peer.say("r1", "Well", 1000, 1000)
        await peer.receive("session.close")
        await peer.done("r1", "cancelled", "session_close")
        await peer.send("session.closed", event={})
        peer.cut()

    async with fake_server(script) as server, LiveSession(server.url, SETUP, waits=QUICK) as live:
        moments = live.moments()
        seen: list[Moment] = []
        await until(moments, Caption, seen)
        await live.close()
        seen += await rest(moments)
    assert of(Interrupted, seen) == []
    assert [(each.status, each.reason) for each in of(Spoken, seen)] == [("cancelled", "session_close")]
    assert ended(seen) == ("closed", None)


async def test_stop_after_the_last_word_was_made_only_flushes() -> None:
    async def script(peer: Peer) -> None:
        await peer.open()
        for number in (1, 2):
            await peer.begin(f"r{number}")
            await peer.say(f"r{number}", "Well", 1000, 1000)
            await peer.done(f"r{number}")
        await peer.listen()
        await peer.closing()

    async with fake_server(script) as server, LiveSession(server.url, SETUP, waits=QUICK) as live:
        moments = live.moments()
        await until(moments, Listening)
        live.played(1, 300)
        await live.interrupt("stop")
        await live.interrupt("stop")
        await live.close()
        seen = await rest(moments)
        assert [(each.response, each.by) for each in of(Interrupted, seen)] == [(1, "stop"), (2, "stop")]
        assert "response.cancel" not in [each["type"] for each in server.peers[0].got]


async def test_stop_before_anything_was_said_does_nothing() -> None:
    async with fake_server(_only_open) as server, LiveSession(server.url, SETUP, waits=QUICK) as live:
        moments = live.moments()
        await until(moments, Opened)
        await live.interrupt("voice")
        await live.close()
        assert [type(each) for each in await rest(moments)] == [Closed]


async def test_a_cancel_that_comes_too_late_is_no_fault() -> None:
    async def script(peer: Peer) -> None:
        await peer.open()
        await peer.begin("r1")
        await peer.say("r1", "Well", 1000, 1000)
        await peer.receive("response.cancel")
        await peer.done("r1")
        await peer.error("response_not_active")
        await peer.closing()

    async with fake_server(script) as server, LiveSession(server.url, SETUP, waits=QUICK) as live:
        moments = live.moments()
        seen: list[Moment] = []
        await until(moments, Caption, seen)
        await live.interrupt("stop")
        await until(moments, Spoken, seen)
        await live.close()
        seen += await rest(moments)
    assert of(Noticed, seen) == []
    assert ended(seen) == ("closed", None)


async def test_acknowledgements_of_two_answers_stay_apart_and_stop_at_what_was_made() -> None:
    async def script(peer: Peer) -> None:
        await peer.open()
        for number in (1, 2):
            await peer.begin(f"r{number}")
            await peer.say(f"r{number}", "Well", 1000, 1000)
        await peer.done("r2", "cancelled", "turn_detected")
        for code in ("playback_ack_too_late", "playback_item_not_found", "playback_ack_too_late"):
            await peer.error(code)
        await peer.closing()

    async with fake_server(script) as server, LiveSession(server.url, SETUP, waits=QUICK) as live:
        moments = live.moments()
        seen: list[Moment] = []
        while not of(Speech, seen) or of(Speech, seen)[-1].response != 2:
            await until(moments, Speech, seen)
        live.played(1, 999)
        live.played(2, 250)
        await asyncio.sleep(0.05)
        live.played(2, 200)  # never back
        live.played(1, 4000)
        live.played(7, 100)  # no such answer
        await asyncio.sleep(0.05)
        await live.close()
        seen += await rest(moments)
        acks = [each for each in server.peers[0].got if each["type"] == "playback.ack"]
    told = [(each["response_id"], each["played_ms"]) for each in acks]
    assert told == [("r1", 999), ("r2", 250), ("r1", 1000)]
    assert [each.status for each in of(Spoken, seen)] == ["failed", "cancelled"]  # r1 was overtaken
    assert notices(seen) == ["live-heard-late", "live-heard-late"]
    assert ended(seen) == ("closed", None)


@pytest.mark.parametrize("confirmed", [True, False])
async def test_an_answer_that_never_ends_is_cancelled_and_said_so(confirmed: bool) -> None:
    async def script(peer: Peer) -> None:
        await peer.open()
        await peer.begin("r1")
        await peer.say("r1", "On and on", 1000, 1000)
        cancel = await peer.receive("response.cancel")
        assert cancel["response_id"] == "r1"
        if confirmed:
            await peer.done("r1", "cancelled", "barge_in")
        else:
            await asyncio.sleep(0.3)
            await peer.say("r1", " and on", 1000, 2000)
        await peer.closing()

    waits = replace(QUICK, answer=0.1, close=0.2)
    async with fake_server(script) as server, LiveSession(server.url, SETUP, waits=waits) as live:
        moments = live.moments()
        seen: list[Moment] = []
        spoken = await until(moments, Spoken, seen)
        if not confirmed:
            await asyncio.sleep(0.2)
        await live.close()
        seen += await rest(moments)
        assert [each["type"] for each in server.peers[0].got].count("response.cancel") == 1
    assert notices(seen) == ["live-no-answer-end"]
    assert (spoken.status, spoken.reason) == ("cancelled", "barge_in" if confirmed else "unconfirmed")
    assert len(of(Speech, seen)) == 1
    assert len(of(Spoken, seen)) == 1


async def _measured(*, listen: bool, talk: bool, vad: bool = False) -> tuple[Latency, list[Moment]]:
    async def script(peer: Peer) -> None:
        await peer.open()
        if listen:
            await peer.listen()
        for _ in range(8 if talk else 0):
            await peer.receive("input_audio_buffer.append")
        if vad:
            await peer.send("input_audio_buffer.speech_stopped", audio_end_ms=0)
        await asyncio.sleep(0.1)
        await peer.begin("r1")
        await peer.say("r1", "Yes", 200, 200)
        await peer.closing()

    async with fake_server(script) as server, LiveSession(server.url, SETUP, waits=QUICK) as live:
        moments = live.moments()
        seen: list[Moment] = []
        await until(moments, Listening if listen else Opened, seen)
        for piece in [QUIET, LOUD, LOUD, LOUD, QUIET, QUIET, QUIET, QUIET] if talk else []:
            live.append(piece)
            await asyncio.sleep(0.02)
        latency = await until(moments, Latency, seen)
    return latency, seen


async def test_latency_counts_from_the_end_of_the_users_speech() -> None:
    latency, _ = await _measured(listen=True, talk=True)
    assert latency.since == "user-stopped"
    assert latency.ttfp_ms is not None
    assert latency.ttft_ms is not None
    assert 150 <= latency.ttfp_ms <= latency.ttft_ms < 600  # 4 pieces of 20 ms, then 100 ms


async def test_the_servers_ear_counts_before_ours() -> None:
    latency, _ = await _measured(listen=False, talk=True, vad=True)
    assert latency.since == "user-stopped"
    assert latency.ttfp_ms is not None
    assert 90 <= latency.ttfp_ms < 160


async def test_latency_without_speech_counts_from_the_last_listen_or_the_opening() -> None:
    heard, seen = await _measured(listen=True, talk=False)
    assert heard.since == "last-listen"
    (speaking,) = of(Speaking, seen)
    assert heard.ttfp_ms == pytest.approx((of(Speech, seen)[0].at - of(Listening, seen)[0].at) * 1000, abs=1)
    assert speaking.at > of(Listening, seen)[0].at
    opened, _ = await _measured(listen=False, talk=False)
    assert opened.since == "session-opened"


async def test_an_answer_that_nothing_came_before_has_no_latency() -> None:
    """One on the heels of another: from the session's beginning it would be a number without a meaning."""

    async def script(peer: Peer) -> None:
        await peer.open()
        for number in (1, 2):
            await peer.begin(f"r{number}")
            await peer.say(f"r{number}", "Well", 1000, 1000)
            await peer.done(f"r{number}")
        await peer.listen()
        await peer.begin("r3")
        await peer.say("r3", "Well", 1000, 1000)
        await peer.done("r3")
        await peer.closing()

    async with fake_server(script) as server, LiveSession(server.url, SETUP, waits=QUICK) as live:
        moments = live.moments()
        seen: list[Moment] = []
        while len(of(Spoken, seen)) < 3:
            await until(moments, Spoken, seen)
        await live.close()
        seen += await rest(moments)
    told = [(latency.response, latency.since) for latency in of(Latency, seen)]
    assert told == [(1, "session-opened"), (3, "last-listen")]


async def test_microphone_that_the_socket_does_not_take_is_dropped_from_its_old_end() -> None:
    async def script(peer: Peer) -> None:
        await peer.open()
        await peer.receive("session.close")

    async with fake_server(script) as server, LiveSession(server.url, SETUP, waits=QUICK) as live:
        assert not live.append(PIECE)  # nothing is open yet
        await until(live.moments(), Opened)
        assert live.dropped_frames == 1
        pieces = [bytes([number, 0]) * 3200 for number in range(15)]
        assert all(live.append(piece) for piece in pieces[:10])
        assert not live.append(pieces[10])
        assert not live.append(b"".join(pieces[11:]))
        assert live.dropped_frames == 6
        await live.drained()
        await asyncio.sleep(0.05)
        await live.close()
        appends = [each["audio"] for each in server.peers[0].got if each["type"] == "input_audio_buffer.append"]
    assert len(appends) == 10
    assert appends[0].startswith("BQAF")  # the sixth


async def _only_open(peer: Peer) -> None:
    await peer.open()
    await peer.closing()
