"""The order and the fields of a session's events are those of the real servers' captured traffic."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from launch.rehearsal.brain.canned import CannedBrain
from tests.engine import running_engine
from tests.launch.rehearsal.wire.realtime.client import Client, Event, block, connected, opened, quiet, tone, wanted

CAPTURES = Path(__file__).resolve().parents[4] / "data" / "live"
TEXT = "Hello from tiny vLLM-Omni."
# What the real engine tells of its own works, and what depends on it: not the client's business.
INNER = {"vllm_omni", "response_request_metrics", "ref_audio", "extra_body", "message", "history_len"}

# 0.30 puts the first words into the item of a later answer when it announces it; who said an item decides its content.
VARIES = {
    "response.done",
    "response.output_item.added",
    "conversation.item.added",
    "conversation.item.created",
    "error",
}


def heard_by(wire: str, name: str) -> list[Event]:
    rows = (json.loads(line) for line in (CAPTURES / wire / f"{name}.jsonl").read_text(encoding="utf-8").splitlines())
    return [row["event"] for row in rows if row["dir"] == "<"]


def shape(value: Any, path: str = "") -> Iterator[str]:
    """The paths of an object's keys."""
    if isinstance(value, dict):
        for key, inner in value.items():
            if key not in INNER:
                yield f"{path}.{key}"
                yield from shape(inner, f"{path}.{key}")
    elif isinstance(value, list):
        for inner in value[:1]:
            yield from shape(inner, f"{path}[]")


def shapes(events: list[Event]) -> dict[str, set[str]]:
    found: dict[str, set[str]] = {}
    for event in events:
        found.setdefault(event["type"], set()).update(shape(event))
    return found


def up_to_an_answers_end(events: list[Event]) -> list[Event]:
    return events[: [event["type"] for event in events].index("rate_limits.updated") + 1]


async def answered(client: Client) -> None:
    """One question, one answer."""
    await client.append(tone(1) + quiet(1))
    await client.until("rate_limits.updated")


@pytest.mark.parametrize("wire", ["0.26", "0.30"])
async def test_an_answer_is_the_captured_one(wire: str) -> None:
    real = heard_by(wire, "duplex_realtime")
    async with running_engine(CannedBrain(TEXT), wire=wire) as url, opened(url) as client:
        await answered(client)
    assert block(client.types) == block([event["type"] for event in real])
    ours, theirs = shapes(up_to_an_answers_end(client.heard)), shapes(up_to_an_answers_end(real))
    assert ours.pop("response.listen")  # ours decides to listen while the question lasts
    for kind in VARIES & ours.keys() - {"response.done"}:
        theirs[kind] = {path for path in theirs[kind] if not path.startswith(".item.content[]")}
    assert ours == theirs


@pytest.mark.parametrize(
    ("wire", "name"),
    [
        *(("0.26", name) for name in ("ws_cancel_mid_response", "ws_silence_only", "ws_barge_in")),
        *(("0.30", name) for name in ("ws_cancel_mid_response", "ws_silence_only", "ws_barge_in", "ws_playback_ack")),
    ],
)
async def test_every_event_has_the_captured_fields(wire: str, name: str) -> None:
    """Whatever both we and a capture say has the same fields in both."""
    async with running_engine(CannedBrain("one two three", audio_s=30), wire=wire) as url, opened(url) as client:
        await client.append(quiet(1))
        await client.until("response.listen")
        await client.append(tone(1) + quiet(1))
        delta = await client.until(lambda event: event["type"].endswith("audio.delta"))
        await client.say("playback.ack", response_id=delta["response_id"], item_id=delta["item_id"], played_ms=100)
        await client.say("session.heartbeat")
        await client.until("session.heartbeat_ack")
        await client.say("response.cancel")
        await client.until("response.done")
        await client.append(tone(1))
        await client.say("input_audio_buffer.commit")
        await client.until("input_audio_buffer.committed")
        await client.until("session.updated")
    ours, theirs = shapes(client.heard), shapes(heard_by(wire, name))
    common = ours.keys() & theirs.keys()
    assert {"session.created", "response.listen" if "silence" in name else "response.done"} <= common
    for kind in common - VARIES:
        assert ours[kind] == theirs[kind], kind


@pytest.mark.parametrize("wire", ["0.26", "0.30"])
async def test_a_cancelled_answer_ends_as_captured(wire: str) -> None:
    real = heard_by(wire, "ws_cancel_mid_response")
    async with running_engine(CannedBrain(TEXT, audio_s=30), wire=wire) as url, opened(url) as client:
        await client.append(tone(1) + quiet(1))
        await client.until(lambda event: event["type"].endswith("audio.delta"))
        await client.say("response.cancel")
        done = await client.until("response.done")
    assert block(client.types) == block([event["type"] for event in real])
    theirs = next(event for event in real if event["type"] == "response.done")
    assert done["response"]["status_details"] == theirs["response"]["status_details"]
    assert set(shape(done)) == set(shape(theirs))


REFUSED = [
    ("0.26", "ws_invalid_first_event", {"type": "no.such.event"}),
    ("0.26", "ws_invalid_first_json", "this is not json"),
    ("0.26", "duplex_realtime_err_ref_audio_required", wanted(ref_audio=None)),
    ("0.30", "ws_invalid_first_event", {"type": "no.such.event"}),
    ("0.30", "ws_invalid_first_json", "this is not json"),
    ("0.30", "ws_no_ref_audio", wanted(ref_audio=None)),
    ("0.30", "ws_ref_audio_path", wanted(ref_audio="/root/voice.wav")),
    ("0.30", "ws_vad_bad_type", wanted(turn_detection={"type": "semantic_vad"})),
    ("0.30", "ws_vad_conflict", wanted(turn_detection={"type": "server_vad"}, overlap_policy="listen_only")),
    ("0.30", "ws_barge_in_without_vad", wanted(overlap_policy="barge_in_on_speech")),
]


@pytest.mark.parametrize(("wire", "name", "first"), REFUSED, ids=[f"{wire}-{name}" for wire, name, _ in REFUSED])
async def test_a_bad_beginning_is_refused_in_the_captured_words(wire: str, name: str, first: Any) -> None:
    async with running_engine(wire=wire) as url, connected(url) as client:
        await client.socket.send(first if isinstance(first, str) else json.dumps(first))
        assert await client.ended() == (1006, "")
    (ours,), (theirs,) = client.heard, heard_by(wire, name)
    assert {**ours, "event_id": ""} == {**theirs, "event_id": ""}


@pytest.mark.parametrize("wire", ["0.26", "0.30"])
async def test_bad_events_are_refused_in_the_captured_words(wire: str) -> None:
    """But for one quirk: 0.26 announces speech for an append that it cannot decode."""
    async with running_engine(wire=wire) as url, opened(url) as client:
        for bad in (
            {"type": "no.such.event"},
            "this is not json",
            {"type": "input_audio_buffer.append", "audio": "!!!"},
            {"type": "input_audio_buffer.commit"},
            {"type": "response.cancel"},
            wanted(modalities=["smell"]),
        ):
            await client.socket.send(bad if isinstance(bad, str) else json.dumps(bad))
    errors = [event["error"] for event in client.heard if event["type"] == "error"]
    assert errors == [event["error"] for event in heard_by(wire, "ws_invalid_events") if event["type"] == "error"]


@pytest.mark.parametrize(
    ("path", "name"),
    [("/v1/realtime", "turn_ws_realtime_no_query"), ("/v1/realtime?model=x", "turn_ws_realtime_without_duplex")],
)
async def test_a_turn_server_answers_as_captured(path: str, name: str) -> None:
    async with running_engine(wire="0.30", mode="turn") as url, connected(url, path) as client:
        await client.say("session.update", session={})
        await client.until("error")
    real = heard_by("0.30", name)
    assert shapes(client.heard[:1]) == shapes(real[:1])
    assert client.heard[1] == real[1]
