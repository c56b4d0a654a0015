"""How many may talk, who may come back, how a session ends, and what is made to go wrong on request."""

from __future__ import annotations

import asyncio

import pytest

from launch.rehearsal.brain.canned import CannedBrain
from launch.rehearsal.brain.canned import tone as canned_tone
from launch.rehearsal.wire.realtime.lobby import Limits
from launch.rehearsal.wire.realtime.trouble import Troubles
from tests.engine import running_engine
from tests.launch.rehearsal.wire.probes import ProbeBrain
from tests.launch.rehearsal.wire.realtime.client import Client, connected, opened, quiet, tone, wanted

BACK = "/v1/realtime?duplex=1&resume=1"
LONG = CannedBrain("one two three four five six seven eight nine ten", audio_s=6)


def papers(client: Client, seen: int | None = None) -> dict[str, object]:
    """The event that resumes ``client``'s session."""
    created = client.heard[0]
    last = client.heard[-1].get("server_event_seq", 0) if seen is None else seen
    return {
        "type": "session.resume",
        "session_id": created["session"]["id"],
        "incarnation": 0,
        "resume_token": created["resume_token"],
        "last_received_server_event_seq": last,
    }


async def test_one_more_than_there_are_places_is_refused() -> None:
    async with running_engine() as url, opened(url), opened(url):
        async with connected(url) as third:
            await third.say(wanted())
            assert await third.ended() == (1006, "")
        error = third.heard[0]["error"]
        assert (error["type"], error["code"]) == ("rate_limit_error", "resource_exhausted")
    async with running_engine(limits=Limits(max_sessions=1)) as url:
        async with opened(url):
            pass
        async with opened(url):
            pass


@pytest.mark.parametrize("wire", ["0.26", "0.30"])
async def test_a_broken_socket_is_taken_up_where_it_broke(wire: str) -> None:
    async with running_engine(LONG, wire=wire) as url:
        async with connected(url) as first:
            await first.say(wanted())
            await first.until("session.updated")
            await first.append(tone(1) + quiet(1))
            await first.until(lambda event: event["type"].endswith("audio.delta"))
            first.socket.transport.abort()
            await first.ended()
        async with connected(url, BACK) as second:
            await second.say(papers(first))
            resumed = await second.until("session.resumed")
            await second.until("response.done")
            await second.say("session.close")
            await second.ended()
    assert first.pcm + second.pcm == canned_tone(0, 6), "nothing twice, nothing missed"
    assert resumed["resume_token"] != first.heard[0]["resume_token"]
    assert resumed["attachment_generation"] == 2
    assert ("session" in resumed) == (wire == "0.30")


async def test_everything_can_be_heard_again_word_for_word() -> None:
    async with running_engine(CannedBrain("hi")) as url:
        async with connected(url) as first:
            await first.say(wanted())
            await first.append(tone(1) + quiet(1))
            await first.until("rate_limits.updated")
        async with connected(url, BACK) as second:
            await second.say(papers(first, seen=0))
            await second.until("rate_limits.updated")
    assert second.heard[1:] == first.heard[1:]


async def test_another_socket_takes_over() -> None:
    async with running_engine() as url, connected(url) as first:
        await first.say(wanted())
        await first.until("session.updated")
        async with connected(url, BACK) as second:
            await second.say(papers(first))
            await second.until("session.resumed")
            assert await first.ended() == (1000, "session_replaced")
            assert first.types[-1] == "session.replaced"
            await second.say("session.heartbeat")
            await second.until("session.heartbeat_ack")


async def test_who_may_not_come_back() -> None:
    async with running_engine(limits=Limits(grace_s=0.05)) as url:
        async with connected(url) as first:
            await first.say(wanted())
            await first.until("session.updated")
            for changed, code in (
                ({"resume_token": "wrong"}, "invalid_resume_token"),
                ({"session_id": "duplex-0"}, "session_resume_expired"),
                ({"last_received_server_event_seq": "x"}, "invalid_session_resume"),
            ):
                async with connected(url, BACK) as stranger:
                    await stranger.say({**papers(first), **changed})
                    assert await stranger.ended() == (1006, "")
                assert stranger.heard[0]["error"]["code"] == code
        await asyncio.sleep(0.2)
        async with connected(url, BACK) as late:
            await late.say(papers(first))
            await late.ended()
        assert late.heard[0]["error"]["code"] == "session_resume_expired"


async def test_a_client_that_vanishes_frees_its_place_and_the_brain() -> None:
    brain = ProbeBrain("speak")
    async with running_engine(brain, limits=Limits(max_sessions=1, grace_s=0.05)) as url:
        async with connected(url) as client:
            await client.say(wanted())
            await client.append(tone(1) + quiet(1))
            await asyncio.to_thread(_wait_for, lambda: brain.spoken)
        await asyncio.to_thread(_wait_for, lambda: "speak" in brain.ended)
        async with opened(url):
            pass


async def test_what_the_client_has_seen_is_forgotten() -> None:
    async with running_engine(CannedBrain("hi")) as url:
        async with connected(url) as first:
            await first.say(wanted())
            await first.append(tone(1) + quiet(1))
            await first.until("rate_limits.updated")
            await first.say("session.event_ack", server_event_seq=5)
            await first.say("session.event_ack", server_event_seq=999)
            assert (await first.until("error"))["error"]["code"] == "invalid_event_ack"
        async with connected(url, BACK) as second:
            await second.say(papers(first, seen=2))
            await second.ended()
    assert second.heard[0] == {**second.heard[0], "type": "session.resync_required", "reason": "journal_gap"}


async def test_idle_sessions_end() -> None:
    async with running_engine() as url, connected(url) as client:
        await client.say(wanted(idle_timeout_s=0.2))
        assert await client.ended() == (1006, "")
        assert client.heard[-1]["event"]["reason"] == "timeout"
    async with running_engine(wire="0.30", limits=Limits(lease_s=0.2)) as url, connected(url) as client:
        await client.say(wanted())
        assert await client.ended() == (1000, "session_expired")
        assert client.heard[-1]["reason"] == "idle_ttl_expired"


async def test_a_lease_is_renewed_by_a_heartbeat() -> None:
    async with running_engine(limits=Limits(lease_s=0.5)) as url, opened(url) as client:
        for _ in range(5):
            await asyncio.sleep(0.2)
            await client.say("session.heartbeat")
        await client.until(lambda event: client.types.count("session.heartbeat_ack") == 5)
        assert "session.expired" not in client.types


async def test_too_much_input_is_refused_and_the_session_goes_on() -> None:
    brain = ProbeBrain("think")
    async with running_engine(brain, limits=Limits(pending_bytes=64_000)) as url, opened(url) as client:
        await client.append(tone(1) + quiet(1))
        await asyncio.to_thread(_wait_for, lambda: brain.asked)
        await client.append(quiet(3))
        assert (await client.until("error"))["error"]["code"] == "input_backpressure"


async def test_an_answer_can_be_cancelled_by_several_names() -> None:
    async with running_engine(LONG, wire="0.30") as url, opened(url) as client:
        for kind, reason in (("barge_in", "barge_in"), ("output_audio_buffer.clear", "output_audio_buffer_clear")):
            after = len(client.heard)
            await client.append(tone(1) + quiet(1))
            await client.until("response.output_audio.delta", after)
            await client.say(kind)
            done = await client.until("response.done", after)
            assert done["response"]["status_details"]["reason"] == reason
        await client.until("output_audio_buffer.cleared")
    async with running_engine(LONG) as url, opened(url) as client:
        await client.say("barge_in")
        assert (await client.until("error"))["error"]["code"] == "barge_in_unsupported"


async def test_a_cancelled_item_keeps_the_words_that_were_heard() -> None:
    async with running_engine(CannedBrain("one two three four five", audio_s=10)) as url, opened(url) as client:
        await client.append(tone(1) + quiet(1))
        delta = await client.until("response.audio.delta")
        await client.say("playback.ack", response_id=delta["response_id"], item_id=delta["item_id"], played_ms=500)
        await client.say("response.cancel")
        done = await client.until("response.done")
        truncated = await client.until("conversation.item.truncated")
    assert truncated["audio_end_ms"] == 500
    said = "one two three four five"
    assert done["response"]["output"][0]["content"][0]["transcript"] == said[: len(said) // 2]


# Faults


async def test_a_connection_that_is_cut() -> None:
    async with running_engine(LONG, faults=["drop-after:9:1"]) as url:
        async with connected(url) as first:
            await first.say(wanted())
            await first.append(tone(1) + quiet(1))
            assert await first.ended() == (1006, "")
        async with connected(url, BACK) as second:
            await second.say(papers(first))
            await second.until("response.done")
    assert first.pcm + second.pcm == canned_tone(0, 6)


async def test_a_line_that_falls_silent() -> None:
    async with running_engine(LONG, faults=["half-open:6:1"]) as url, connected(url) as client:
        await client.say(wanted())
        await client.append(tone(1) + quiet(1))
        await client.until("response.speak")
        pong = await client.socket.ping()
        with pytest.raises(TimeoutError):
            await asyncio.wait_for(pong, 0.3)
        assert "response.done" not in client.types
        client.socket.transport.abort()


async def test_a_stage_that_dies() -> None:
    async with running_engine(LONG, faults=["stage-death:9"]) as url, connected(url) as client:
        await client.say(wanted())
        await client.append(tone(1) + quiet(1))
        assert (await client.ended())[0] == 1012
    assert client.heard[-1]["error"]["code"] == "runtime_append_failed"


async def test_a_full_server_for_the_first_who_ask() -> None:
    async with running_engine(faults=["capacity:1"]) as url:
        async with connected(url) as client:
            await client.say(wanted())
            await client.ended()
        assert client.heard[0]["error"]["code"] == "resource_exhausted"
        async with opened(url):
            pass


async def test_events_that_are_gone() -> None:
    async with running_engine(CannedBrain("hi"), faults=["journal-gap"]) as url:
        async with connected(url) as first:
            await first.say(wanted())
            await first.append(tone(1) + quiet(1))
            await first.until("rate_limits.updated")
        async with connected(url, BACK) as second:
            await second.say(papers(first, seen=1))
            await second.ended()
    assert second.types == ["session.resync_required", "error"]


async def test_an_answer_without_end_and_acknowledgements_too_late() -> None:
    brain = CannedBrain("one", audio_s=1)
    async with running_engine(brain, faults=["endless-answer", "late-ack-error"]) as url, opened(url) as client:
        await client.append(tone(1) + quiet(5))
        await client.until(lambda event: client.types.count("response.audio.delta") >= 5)
        await client.say("playback.ack", played_ms=1000)
        assert (await client.until("error"))["error"]["code"] == "playback_ack_too_late"
        assert "response.done" not in client.types


async def test_seconds_that_take_longer() -> None:
    async with running_engine(faults=["slow-unit:0.3"]) as url, opened(url) as client:
        began = asyncio.get_running_loop().time()
        await client.append(quiet(2))
        await client.until(lambda event: client.types.count("response.listen") == 2)
        assert asyncio.get_running_loop().time() - began >= 0.6


@pytest.mark.parametrize("spec", ["drop-after", "slow-unit:x", "capacity:1:2", "capacity:x"])
def test_a_fault_that_cannot_be_read(spec: str) -> None:
    with pytest.raises(ValueError, match="write it as"):
        Troubles([spec])


def _wait_for(true: object) -> None:
    """Until a condition of another thread holds."""
    import time

    deadline = time.monotonic() + 20
    while not true():  # type: ignore[operator]
        assert time.monotonic() < deadline
        time.sleep(0.01)
