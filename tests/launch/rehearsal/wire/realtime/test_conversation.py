"""A session listens while the user talks, answers when they have finished, and yields when it is talked over."""

from __future__ import annotations

import json

import pytest

from launch.rehearsal.brain.canned import CannedBrain
from launch.rehearsal.brain.canned import tone as canned_tone
from launch.rehearsal.wire.realtime.lobby import Limits
from tests.engine import running_engine
from tests.launch.rehearsal.wire.probes import ProbeBrain
from tests.launch.rehearsal.wire.realtime.client import LIVE, RATE, Client, connected, opened, quiet, tone, wanted

WIRES = pytest.mark.parametrize("wire", ["0.26", "0.30"])


async def asked(client: Client) -> None:
    await client.append(tone(1) + quiet(1))


@WIRES
async def test_each_second_is_decided_and_the_answer_comes_after_the_question(wire: str) -> None:
    async with running_engine(CannedBrain("one two three", audio_s=2.5), wire=wire) as url, opened(url) as client:
        await client.append(quiet(2) + tone(2) + quiet(1))
        await client.until("response.done")
    before = client.types[: client.types.index("response.created")]
    assert before.count("response.listen") == 4, "two of silence, two of a question that goes on"
    assert before.count("input_audio_buffer.speech_started") == 1
    assert client.pcm == canned_tone(0, 2.5)
    deltas = [event for event in client.heard if event["type"].endswith("audio.delta")]
    assert [event["metadata"]["audio_duration_ms"] for event in deltas] == [1000, 2000, 2500]
    assert [event["metadata"]["end_of_turn"] for event in deltas] == [False, False, True]
    done = next(event for event in client.heard if event["type"] == "response.done")
    assert done["response"]["output"][0]["content"][0]["transcript"] == "one two three"


async def test_numbers_run_through_and_ids_are_their_own() -> None:
    async with running_engine(CannedBrain("hi")) as url, opened(url) as client:
        await asked(client)
        await client.until("response.done")
    numbers = [event["server_event_seq"] for event in client.heard if event["type"] != "session.created"]
    assert numbers == list(range(1, len(numbers) + 1))
    assert len({event["event_id"] for event in client.heard}) == len(client.heard)


async def test_a_pause_for_breath_is_no_end() -> None:
    brain = ProbeBrain()
    async with running_engine(brain) as url, opened(url) as client:
        await client.append(tone(0.9) + quiet(0.2) + tone(0.9) + quiet(1))
        await client.until("response.done")
        await client.append(quiet(1))
        await client.until("response.listen", after=client.types.index("response.done"))
    assert len(brain.asked) == 1
    (sound,) = brain.asked[0][0][-1].parts
    assert len(sound.data) - 44 == 3 * 2 * RATE, "the whole utterance reaches the brain, to the end of its last second"


async def test_a_click_is_no_question() -> None:
    async with running_engine() as url, opened(url) as client:
        await client.append(quiet(0.5) + tone(0.04) + quiet(1.5))
        await client.until(lambda event: client.types.count("response.listen") == 2)
    assert "response.created" not in client.types


async def test_talking_over_an_answer_makes_it_yield() -> None:
    async with running_engine(CannedBrain("one two three", audio_s=30)) as url, opened(url) as client:
        await asked(client)
        await client.until("response.audio.delta")
        await client.append(tone(1))
        done = await client.until("response.done")
        assert done["response"]["status"] == "completed", "the model ended its turn; nobody cancelled it (§4.7)"
        assert len(client.pcm) < 2 * 24_000 * 5
        await client.append(quiet(1))
        await client.until("response.created", after=client.types.index("response.done"))


async def test_an_answer_goes_on_when_the_client_sends_nothing() -> None:
    async with running_engine(CannedBrain("one", audio_s=3)) as url, opened(url) as client:
        await asked(client)
        await client.until("response.done")
    assert client.pcm == canned_tone(0, 3)


async def test_a_question_is_answered_when_the_client_falls_silent() -> None:
    async with running_engine() as url, opened(url) as client:
        await client.append(tone(1))
        await client.until("response.done")


async def test_a_commit_ends_the_question_at_once() -> None:
    async with running_engine() as url, opened(url) as client:
        await client.append(tone(0.6))
        await client.say("input_audio_buffer.commit")
        await client.until("response.created")
    assert "response.listen" not in client.types[: client.types.index("response.created")]


async def test_the_conversation_so_far_and_the_manner_reach_the_brain() -> None:
    brain = ProbeBrain()
    async with running_engine(brain) as url, opened(url, instructions="Be kind.") as client:
        for _ in range(2):
            await asked(client)
            await client.until("response.done", after=len(client.heard))
    told = brain.asked[1][0]
    assert [said.role for said in told] == ["system", "user", "assistant", "user"]
    assert told[0].parts[0].text == "Be kind."
    assert told[2].parts[0].text == "one two three"


async def test_words_come_with_the_second_in_which_they_are_said() -> None:
    async with running_engine(CannedBrain("a b c d. e f g h.", audio_s=2)) as url, opened(url) as client:
        await asked(client)
        await client.until("response.done")
    words = [event["delta"] for event in client.heard if event["type"] == "response.audio_transcript.delta"]
    assert "".join(words) == "a b c d. e f g h."


async def test_text_only_sessions_speak_no_sound() -> None:
    async with running_engine(CannedBrain("hello there")) as url, opened(url, modalities=["text"]) as client:
        await asked(client)
        await client.until("response.done")
    assert not [name for name in client.types if "audio.delta" in name or name == "response.speak"]
    assert next(event for event in client.heard if event["type"] == "response.audio_transcript.delta")["delta"]


async def test_without_the_native_flag_026_only_collects() -> None:
    """What a newer page meets at an older server: no error and no answer (peers.md A2, defect 3)."""
    async with running_engine(CannedBrain("hi")) as url, opened(url, ref_audio=None, extra_body={}) as client:
        await asked(client)
        await client.say("session.heartbeat")
        await client.until("session.heartbeat_ack")
    level = client.heard[0]["session"]["capabilities"]["implementation_level"]
    assert level == "serving_session_adapter"
    assert not [name for name in client.types if name.startswith("response.")]


async def test_an_empty_answer_is_told_as_listening() -> None:
    async with running_engine(CannedBrain("")) as url, opened(url) as client:
        await asked(client)
        no_answer = "model_turn_completed_without_output"
        await client.until(lambda event: event.get("response", {}).get("metadata", {}).get("reason") == no_answer)


@pytest.mark.parametrize(("extra", "size"), [({}, 2 * 24_000), ({"output_audio_format": "wav"}, 44 + 2 * 24_000)])
async def test_sound_comes_in_the_container_that_was_asked(extra: dict[str, str], size: int) -> None:
    async with running_engine(CannedBrain("hi", audio_s=1)) as url, opened(url, **extra) as client:
        await asked(client)
        await client.until("response.done")
    assert len(client.pcm) == size


async def test_server_vad_stops_an_answer_and_says_why() -> None:
    vad = {"turn_detection": {"type": "server_vad", "interrupt_response": True}, "overlap_policy": "barge_in_on_speech"}
    async with running_engine(CannedBrain("one", audio_s=30), wire="0.30") as url, opened(url, **vad) as client:
        await asked(client)
        await client.until("response.output_audio.delta")
        await client.append(tone(0.4))
        done = await client.until("response.done")
        await client.append(quiet(1.6))
        again = await client.until("response.created", after=client.types.index("response.done"))
    assert done["response"]["status_details"] == {"type": "cancelled", "reason": "turn_detected"}
    actions = [event["action"] for event in client.heard if event["type"] == "overlap.decision"]
    assert actions.count("barge_in") == 1
    assert "-1-" in again["response_id"], "the epoch has moved on"


async def test_a_camera_picture_goes_with_the_question() -> None:
    brain = ProbeBrain()
    async with running_engine(brain, wire="0.30") as url, opened(url) as client:
        await client.append(tone(1) + quiet(0.8))
        await client.append(quiet(0.2), video_frames=["aGVsbG8="])
        await client.until("response.done")
        await client.say("input_audio_buffer.append", audio="AAA=", video_frames=["a", "b", "c"])
        assert (await client.until("error"))["error"]["code"] == "invalid_video_frames"
        await client.append(tone(1) + quiet(1))
        await client.until("response.created", after=client.types.index("response.done"))
    kinds = [[part.kind for part in told[0][-1].parts] for told in brain.asked]
    assert kinds == [["image", "audio"], ["audio"]], "a picture goes with the question it was taken for"


async def test_the_older_native_dialect_is_flat() -> None:
    async with running_engine(CannedBrain("hi", audio_s=1)) as url, connected(url, "/v1/duplex") as client:
        await client.say({**wanted(output_audio_format=None), "type": "session.create"})
        await client.until("session.created")
        await asked(client)
        delta = await client.until("response.output_audio.delta")
        await client.say("no.such.event")
        error = await client.until("error")
        await client.say("session.close")
        assert await client.ended() == (1006, "")
    assert (delta["text"], delta["format"]) == ("hi", "wav")
    assert error["code"] == "unknown_event"
    assert not [name for name in client.types if name.startswith(("conversation.", "input_audio_buffer."))]


async def test_the_first_event_must_come_in_time() -> None:
    async with running_engine(limits=Limits(handshake_s=0.05)) as url, connected(url) as client:
        assert await client.ended() == (1006, "")
    assert client.heard[0]["error"]["code"] == "config_timeout"


async def test_what_is_no_duplex_socket_is_vllms_own_protocol() -> None:
    async with running_engine() as url, connected(url, "/v1/realtime") as client:
        created = await client.until("session.created")
        await client.socket.send("[]")
        assert (await client.until("error"))["code"] == "invalid_json"
    assert set(created) == {"type", "id", "created"}


async def test_frames_that_are_no_text_do_no_harm() -> None:
    async with running_engine() as url, opened(url) as client:
        await client.socket.send(b"\0\1\2")
        assert (await client.until("error"))["error"]["code"] == "invalid_json"
        await client.socket.send(json.dumps([1, 2]))
        await client.until(lambda event: event.get("error", {}).get("code") == "bad_event")
    assert LIVE.endswith("autostart=0")
