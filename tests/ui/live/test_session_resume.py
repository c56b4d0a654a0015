"""A socket that breaks: nothing said twice, nothing missed, and said so when a fresh session begins."""

from __future__ import annotations

import asyncio
import json
from dataclasses import replace

import pytest

from tests.ui.live.asking import PIECE, QUICK, SETUP, WIRES, ended, notices, of, rest, until
from tests.ui.live.fake_server import Peer, fake_server
from ui.live.moments import (
    Back,
    Caption,
    Closed,
    Interrupted,
    Listening,
    Lost,
    Moment,
    Opened,
    Speaking,
    Speech,
    Spoken,
)
from ui.live.session import LiveSession


async def _begun(peer: Peer) -> None:
    """An answer, broken off after its first piece."""
    await peer.open()
    await peer.begin("r1")
    await peer.say("r1", "One ", 1000, 1000)
    await peer.receive("playback.ack")
    peer.cut()


async def _begin(live: LiveSession, seen: list[Moment]):
    """The moments, read on to the first caption, of which 10 ms were heard."""
    moments = live.moments()
    await until(moments, Caption, seen)
    live.played(1, 10)
    return moments


@pytest.mark.parametrize("wire", WIRES)
async def test_an_answer_goes_on_after_a_break(wire: str) -> None:
    async def again(peer: Peer) -> None:
        asked = await peer.resumed()
        assert (asked["session_id"], asked["resume_token"]) == ("duplex-1", "token-1")
        assert asked["last_received_server_event_seq"] == 4
        assert asked.get("incarnation") == (0 if wire == "0.26" else None)
        for type, fields in (("response.created", {"response_id": "r1"}),):  # replayed although we have it
            await peer.bare(type, server_event_seq=2, **fields)
        await peer.say("r1", "two.", 500, 1500)
        await peer.done("r1")
        await peer.closing()

    async with fake_server(_begun, again, wire=wire) as server:
        async with LiveSession(server.url, SETUP, waits=QUICK) as live:
            seen: list[Moment] = []
            moments = await _begin(live, seen)
            await until(moments, Spoken, seen)
            await live.close()
            seen += await rest(moments)
        await server.quiet()
        assert server.peers[1].socket.request.path == "/v1/realtime?duplex=1&autostart=0&resume=1"  # type: ignore[union-attr]
    assert [type(each) for each in of(Lost | Back, seen)] == [Lost, Back]  # type: ignore[arg-type]
    (back,) = of(Back, seen)
    assert back.resumed
    assert 0 < back.gap_s < 0.5
    (spoken,) = of(Spoken, seen)
    assert (spoken.status, spoken.text, spoken.duration_ms) == ("completed", "One two.", 1500)
    assert sum(len(each.pcm) for each in of(Speech, seen)) == 72_000
    assert len(of(Speaking, seen)) == 1
    assert of(Interrupted, seen) == []
    assert notices(seen) == []


async def test_every_break_uses_the_newest_token() -> None:
    async def once(peer: Peer) -> None:
        await peer.open("a")
        peer.cut()

    def more(old: str, new: str, *, cut: bool):
        async def script(peer: Peer) -> None:
            asked = await peer.resumed(new)
            assert asked["resume_token"] == old
            await peer.listen()
            if cut:
                peer.cut()
            else:
                await peer.closing()

        return script

    scripts = (once, more("a", "b", cut=True), more("b", "c", cut=True), more("c", "d", cut=False))
    async with fake_server(*scripts) as server, LiveSession(server.url, SETUP, waits=QUICK) as live:
        moments = live.moments()
        seen: list[Moment] = []
        while len(of(Listening, seen)) < 3:
            await until(moments, Listening, seen)
        await live.close()
        seen += await rest(moments)
    assert [each.resumed for each in of(Back, seen)] == [True] * 3
    assert ended(seen) == ("closed", None)


async def test_microphone_of_the_gap_is_dropped_counted_and_not_sent_again() -> None:
    gate = asyncio.Event()

    async def once(peer: Peer) -> None:
        await peer.open()
        await peer.receive("input_audio_buffer.append")
        peer.cut()

    async def again(peer: Peer) -> None:
        await peer.receive("session.resume")
        await gate.wait()
        await peer.bare("session.resumed", session_id="duplex-1", resume_token="b")
        await peer.receive("input_audio_buffer.append")
        await peer.listen()
        await peer.closing()

    async with fake_server(once, again) as server, LiveSession(server.url, SETUP, waits=QUICK) as live:
        moments = live.moments()
        await until(moments, Opened)
        assert live.append(PIECE)
        await until(moments, Lost)
        assert live.idle_left_s is None
        for _ in range(3):
            assert not live.append(PIECE)
        gate.set()
        back = await until(moments, Back)
        assert back.dropped_frames == live.dropped_frames == 3
        assert live.append(PIECE)
        await until(moments, Listening)
        appends = [each for each in server.peers[1].got if each["type"] == "input_audio_buffer.append"]
        assert [each["audio_end_ms"] for each in appends] == [400]


@pytest.mark.parametrize("wire", WIRES)
@pytest.mark.parametrize(
    "refusal",
    [
        {"type": "error", "error": {"code": "session_resume_expired", "message": "gone"}},
        {"type": "error", "error": {"code": "invalid_resume_token", "message": "no"}},
        {"type": "error", "error": {"code": "runtime_resume_failed", "message": "no"}},
        {"type": "session.resync_required", "reason": "journal_gap"},
        {"type": "session.closed", "event": {}},
    ],
)
async def test_a_session_that_is_gone_is_followed_by_a_fresh_one_that_says_so(wire: str, refusal: dict) -> None:
    async def gone(peer: Peer) -> None:
        await peer.receive("session.resume")
        await peer.socket.send(json.dumps(refusal))
        peer.cut()

    async def fresh(peer: Peer) -> None:
        peer._seq[0] = 0
        await peer.open("c")
        await peer.begin("r1")  # ids may come again
        await peer.say("r1", "Hello?", 300, 300)
        await peer.done("r1")
        await peer.closing()

    async with fake_server(_begun, gone, fresh, wire=wire) as server:
        async with LiveSession(server.url, SETUP, waits=QUICK) as live:
            seen: list[Moment] = []
            moments = await _begin(live, seen)
            while len(of(Spoken, seen)) < 2:
                await until(moments, Spoken, seen)
        await server.quiet()
        acks = [each for each in server.peers[2].got if each["type"] == "playback.ack"]
    kinds = [type(each) for each in seen]
    lost, broken, second = kinds.index(Lost), kinds.index(Interrupted), kinds.index(Opened, 1)
    assert lost < broken < second < kinds.index(Back)
    assert [each.by for each in of(Interrupted, seen)] == ["lost"]
    assert [each.resumed for each in of(Back, seen)] == [False]
    assert [(each.response, each.status, each.reason) for each in of(Spoken, seen)] == [
        (1, "failed", "lost"),
        (2, "completed", "stop"),
    ]
    assert acks == []


async def test_a_server_that_comes_back_late_is_tried_until_the_time_of_grace_is_over() -> None:
    async with fake_server(_begun) as server, LiveSession(server.url, SETUP, waits=replace(QUICK, grace=0.4)) as live:
        seen: list[Moment] = []
        moments = await _begin(live, seen)
        await until(moments, Lost, seen)
        refuse = [0]

        async def refused(peer: Peer) -> None:
            refuse[0] += 1
            peer.cut()

        server._scripts = (refused,)
        seen += await rest(moments)
    assert ended(seen) == ("lost", "live-lost")
    assert refuse[0] >= 2
    (closed,), (lost,) = of(Closed, seen), of(Lost, seen)
    assert 0.25 <= closed.at - lost.at <= 5, "a busy machine may be late, the time of grace is 0.4 s"
    assert [(each.status, each.reason) for each in of(Spoken, seen)] == [("failed", "lost")]


async def test_a_conflict_is_asked_again() -> None:
    async def conflict(peer: Peer) -> None:
        await peer.receive("session.resume")
        await peer.error("session_resume_conflict")
        peer.cut()

    async def again(peer: Peer) -> None:
        await peer.resumed()
        await peer.listen()
        await peer.closing()

    async with (
        fake_server(_begun, conflict, conflict, again) as server,
        LiveSession(server.url, SETUP, waits=QUICK) as live,
    ):
        moments = await _begin(live, [])
        assert (await until(moments, Back)).resumed


async def test_after_journal_overflow_the_session_goes_on_but_is_not_resumed() -> None:
    async def once(peer: Peer) -> None:
        await peer.open()
        await peer.send("session.resync_required", reason="journal_overflow")
        await peer.listen()
        await peer.receive("input_audio_buffer.append")
        peer.cut()

    async def fresh(peer: Peer) -> None:
        peer._seq[0] = 0
        await peer.open()
        await peer.closing()

    async with fake_server(once, fresh) as server, LiveSession(server.url, SETUP, waits=QUICK) as live:
        moments = live.moments()
        seen: list[Moment] = []
        await until(moments, Listening, seen)
        assert notices(seen) == ["live-resume-off"]
        live.append(PIECE)
        assert not (await until(moments, Back, seen)).resumed


async def test_a_missing_event_is_said() -> None:
    async def script(peer: Peer) -> None:
        await peer.open()
        peer._seq[0] += 2
        await peer.listen()
        await peer.listen()
        await peer.closing()

    async with fake_server(script) as server, LiveSession(server.url, SETUP, waits=QUICK) as live:
        moments = live.moments()
        seen: list[Moment] = []
        await until(moments, Listening, seen)
        await live.close()
        seen += await rest(moments)
    assert notices(seen) == ["live-events-missed"]


async def test_a_stop_pressed_in_the_gap_is_said_after_it() -> None:
    gate = asyncio.Event()

    async def again(peer: Peer) -> None:
        await gate.wait()
        await peer.resumed()
        await peer.say("r1", "two.", 500, 1500)
        cancel = await peer.receive("response.cancel")
        assert cancel["response_id"] == "r1"
        await peer.done("r1", "cancelled", "barge_in")
        await peer.closing()

    async with fake_server(_begun, again) as server, LiveSession(server.url, SETUP, waits=QUICK) as live:
        seen: list[Moment] = []
        moments = await _begin(live, seen)
        await until(moments, Lost, seen)
        await live.interrupt("stop")
        gate.set()
        spoken = await until(moments, Spoken, seen)
    assert spoken.status == "cancelled"
    assert [each.by for each in of(Interrupted, seen)] == ["stop"]
    assert len(of(Speech, seen)) == 1  # nothing of what came after Stop


async def test_leaving_in_the_gap_ends_the_session_on_the_server_too() -> None:
    async def refused(peer: Peer) -> None:
        peer.cut()

    async def back(peer: Peer) -> None:
        await peer.resumed()
        await peer.closing()

    async with fake_server(_begun, refused, back) as server:
        async with LiveSession(server.url, SETUP, waits=replace(QUICK, retry_first=30, grace=60)) as live:
            seen: list[Moment] = []
            moments = await _begin(live, seen)
            await until(moments, Lost, seen)
            await asyncio.sleep(0.05)
            await live.close()
            seen += await rest(moments)
        await server.quiet()
        assert server.peers[2].got[-1]["type"] == "session.close"
    assert ended(seen) == ("closed", None)


async def test_a_half_open_socket_is_found_out_by_its_pings() -> None:
    async def deaf(peer: Peer) -> None:
        await peer.open()
        peer.socket.transport.pause_reading()  # no pong, no end
        await peer.socket.wait_closed()

    async def again(peer: Peer) -> None:
        await peer.resumed()
        await peer.closing()

    async with fake_server(deaf, again) as server:
        async with LiveSession(server.url, SETUP, waits=replace(QUICK, ping=0.05, pong=0.1)) as live:
            moments = live.moments()
            opened = await until(moments, Opened)
            lost = await until(moments, Lost)
            assert lost.at - opened.at < 1.2  # ping, pong, and the time-out of a close
            assert (await until(moments, Back)).resumed
        server.peers[0].cut()
        await server.quiet()


async def test_a_server_that_says_nothing_any_more_is_asked_and_then_left() -> None:
    async def mute(peer: Peer) -> None:
        await peer.open()
        await peer.receive("session.heartbeat")
        await peer.bare("session.heartbeat_ack")  # once it was there
        await peer.receive("session.heartbeat")
        await peer.socket.wait_closed()

    async def again(peer: Peer) -> None:
        await peer.resumed()
        await peer.closing()

    async with fake_server(mute, again) as server:
        async with LiveSession(server.url, SETUP, waits=replace(QUICK, silent=0.1)) as live:
            moments = live.moments()
            opened = await until(moments, Opened)
            lost = await until(moments, Lost)
            assert 0.25 < lost.at - opened.at < 0.8
            assert (await until(moments, Back)).resumed
        await server.quiet()


async def test_a_model_that_decides_nothing_is_said() -> None:
    async def script(peer: Peer) -> None:
        await peer.open()
        while True:
            got = await peer.receive("input_audio_buffer.append", "session.heartbeat", "session.close")
            if got["type"] == "session.close":
                break
            await peer.send("rate_limits.updated", rate_limits=[])
        await peer.send("session.closed", event={})

    async with (
        fake_server(script) as server,
        LiveSession(server.url, SETUP, waits=replace(QUICK, undecided=1.0)) as live,
    ):
        moments = live.moments()
        await until(moments, Opened)
        for _ in range(12):
            live.append(PIECE)
            await asyncio.sleep(0.01)
        await asyncio.sleep(0.05)
        await live.close()
        assert notices(await rest(moments)) == ["live-no-decision"]
