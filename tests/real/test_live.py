"""What a live session says of a real server in duplex mode."""

from __future__ import annotations

import asyncio
import json

from websockets.asyncio.client import connect

from tests.real.conftest import Say
from tests.real.talking import PIECE, TONE, question, talk
from ui.live.moments import (
    Back,
    Caption,
    Closed,
    HeardYou,
    Interrupted,
    Latency,
    Listening,
    Lost,
    Noticed,
    Opened,
    Speaking,
    Speech,
    Spoken,
    Unknown,
    Waiting,
)
from ui.live.opening import address

SENTENCE = "Hello from tiny vLLM-Omni."  # what the scripted checkpoint says to a second of sound


async def test_live_opens(base_url: str, say: Say) -> None:
    async with talk(base_url, mic=False) as here:
        opened = await here.until(Opened, 200)
        say(
            f"wire {opened.wire}, session {opened.session_id}, barge-in {opened.barge_in}, camera {opened.camera}, "
            f"idle {opened.idle_s:g} s, after {opened.at * 1000:.0f} ms"
        )
    closed = await here.until(Closed)
    assert (closed.reason, closed.error) == ("closed", None)
    say(f"closed in {(closed.at - opened.at) * 1000:.0f} ms, without a task, a socket or a session left")


async def test_live_listens_to_silence_and_answers_speech(base_url: str, say: Say) -> None:
    async with talk(base_url) as here:
        await here.until(Opened, 60)
        listening = [await here.until(Listening) for _ in range(3)]
        await here.live.heartbeat()
        await here.answered("session.heartbeat_ack", 1)
        say(f"listens: {', '.join(f'{each.at:.1f} s {each.reason}' for each in listening)}")
        here.saying = TONE
        speaking = await here.until(Speaking)
        spoken = await here.until(Spoken)
        here.live.played(speaking.response, spoken.duration_ms / 2)
        await asyncio.sleep(0.6)
        here.live.played(speaking.response, spoken.duration_ms + 5000)
        await here.answered("playback.acknowledged", 2)
        # A second of sound may lie across two of the model's, each of which it answers: the first answer is looked at.
        latency, sounds = here.of(Latency)[0], [each for each in here.of(Speech) if each.response == 1]
        sound = sum(len(each.pcm) for each in sounds) / 48
        assert (spoken.status, spoken.text) == ("completed", SENTENCE)
        assert "".join(each.text for each in here.of(Caption) if each.response == 1) == SENTENCE
        assert abs(sound - spoken.duration_ms) <= 1
        assert here.of(Unknown) == here.of(Noticed) == here.of(Interrupted) == []
        say(
            f"speaks {spoken.text!r}, {spoken.duration_ms:.0f} ms of sound in {len(sounds)} pieces, "
            f"{latency.ttfp_ms:.0f} ms after {latency.since}; 2 acknowledgements taken, the last at "
            f"{spoken.duration_ms:.0f} ms"
        )


async def test_live_cancel(base_url: str, say: Say) -> None:
    async with talk(base_url) as here:
        await here.until(Opened, 60)
        attempt, spoken = 0, None
        while spoken is None or (spoken.status != "cancelled" and attempt < 20):
            attempt += 1  # the tiny model has said all within milliseconds: the cancel may come too late
            here.saying = TONE
            speaking = await here.until(Speaking)
            await here.live.interrupt("stop")
            await here.until(Listening)
            spoken = next(each for each in here.of(Spoken) if each.response == speaking.response)
            interrupted = here.of(Interrupted)[-1]
        assert spoken.status == "cancelled"
        assert (interrupted.by, interrupted.response) == ("stop", speaking.response)
        here.saying = TONE
        after = await here.until(Spoken)
        assert (after.status, after.text) == ("completed", SENTENCE)
        assert here.of(Noticed) == []
        say(
            f"attempt {attempt}: flushed after {(interrupted.at - speaking.at) * 1000:.1f} ms, cancelled "
            f"({spoken.reason}) after {(spoken.at - speaking.at) * 1000:.0f} ms; the next answer is whole"
        )


async def test_live_resumes_after_a_cut(base_url: str, say: Say) -> None:
    async with talk(base_url) as here:
        await here.until(Opened, 60)
        await here.until(Listening)
        here.saying = TONE
        await here.until(Speaking)
        here.sockets.cut()
        await here.until(Lost)
        back = await here.until(Back)
        while len(here.of(Spoken)) < 1:
            await here.until(Spoken)
        spoken, sounds = here.of(Spoken)[0], [each for each in here.of(Speech) if each.response == 1]
        assert back.resumed
        assert (spoken.status, spoken.text) == ("completed", SENTENCE)
        assert abs(sum(len(each.pcm) for each in sounds) / 48 - spoken.duration_ms) <= 1
        say(
            f"cut in the middle of an answer, back after {back.gap_s * 1000:.0f} ms, {back.dropped_frames} frames dropped"
        )
        say("the answer is whole, nothing twice")
        here.sockets.cut()
        await here.until(Lost)
        again = await here.until(Back)
        await here.until(Listening)
        assert again.resumed
        assert here.of(Noticed) == here.of(Interrupted) == []
        say(f"cut again, back after {again.gap_s * 1000:.0f} ms with the rotated token; it listens")


async def test_live_capacity(base_url: str, say: Say) -> None:
    async with talk(base_url) as one, talk(base_url) as two:
        await one.until(Opened, 60)
        await two.until(Opened, 60)
        async with talk(base_url) as three:
            waiting = await three.until(Waiting)
            assert three.live.opened is None
            say(f"the third session is refused and asks again: attempt {waiting.attempt}, in {waiting.retry_s:g} s")
            await one.live.close()
            opened = await three.until(Opened, 60)
            say(
                f"the first one closed, the third has its place at {opened.at:.1f} s, attempt {len(three.of(Waiting)) + 1}"
            )


async def test_live_takeover(base_url: str, say: Say) -> None:
    async with talk(base_url) as here:
        opened = await here.until(Opened, 60)
        await here.until(Listening)
        attached = here.sockets.attached
        url = f"{address(base_url)}/v1/realtime?duplex=1&autostart=0&resume=1"
        async with connect(url, proxy=None, max_size=None) as other:
            asked = {
                "type": "session.resume",
                "session_id": opened.session_id,
                "resume_token": attached["resume_token"],
                "last_received_server_event_seq": 0,
                **({"incarnation": attached["incarnation"]} if "incarnation" in attached else {}),
            }
            await other.send(json.dumps(asked))
            answer = json.loads(await other.recv())
            assert answer["type"] == "session.resumed", answer
            closed = await here.until(Closed)
            assert closed.error is not None
            assert (closed.reason, closed.error.key) == ("replaced", "live-replaced")
            await other.send(json.dumps({"type": "session.close"}))
            while json.loads(await other.recv())["type"] != "session.closed":
                pass
    say(f"another socket resumed {opened.session_id}; ours ended: {closed.reason}")


async def test_live_server_vad_barge_in(base_url: str, say: Say) -> None:
    voice = question()[: 2 * PIECE * 5]
    attempt, spoken = 0, None
    while spoken is None or (spoken.status != "cancelled" and attempt < 4):
        attempt += 1  # the tiny model may have said all before the server hears the voice
        async with talk(base_url) as here:
            opened = await here.until(Opened, 60)
            if not opened.barge_in:
                say(f"wire {opened.wire} offers none")
                return
            here.saying = TONE
            speaking = await here.until(Speaking)
            await here.live.hear_over(True)
            here.live.append(voice)  # at once, as after a stall: at its own pace it would come after the last word
            spoken = await here.until(Spoken)
            interrupted, heard = here.of(Interrupted), here.of(HeardYou)
    assert (spoken.status, spoken.reason) == ("cancelled", "turn_detected")
    assert [each.by for each in interrupted] == ["model"]
    say(
        f"attempt {attempt}: talked over, flushed {(interrupted[0].at - speaking.at) * 1000:.0f} ms after it began, "
        f"{spoken.status} ({spoken.reason}); heard {[each.speaking for each in heard]}"
    )


async def test_live_leaves_no_session_behind(base_url: str, say: Say) -> None:
    for _ in range(3):
        async with talk(base_url, mic=False):
            await asyncio.sleep(0.01)  # left while it is being opened
    async with talk(base_url) as one, talk(base_url) as two:
        await one.until(Opened, 60)
        await two.until(Opened, 60)
        assert len(one.of(Waiting)) + len(two.of(Waiting)) <= 4  # a closing session keeps its place for 1-2 s
        say(f"both places are free: opened after {len(one.of(Waiting))} and {len(two.of(Waiting))} refusals")
        one.sockets.cut()
        await one.until(Lost)
        await one.live.close()  # while the socket is down
    async with talk(base_url) as one, talk(base_url) as two:
        await one.until(Opened, 60)
        await two.until(Opened, 60)
        taken = max(here.live.opened.at for here in (one, two) if here.live.opened)
        assert taken < 10
        say(f"left while the socket was down: both places free again within {taken:.1f} s")
