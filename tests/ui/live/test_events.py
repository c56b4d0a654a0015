"""Both versions' events, read by one vocabulary."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from tests.ui.live import captures
from ui.live import events
from ui.live.events import (
    AudioDelta,
    ErrorEvent,
    ResponseDone,
    ResponseListen,
    SessionClosed,
    SessionCreated,
    TranscriptDelta,
    UnknownEvent,
    read,
)
from ui.live.frames import decode


@pytest.mark.parametrize("path", captures.ALL, ids=captures.name)
def test_no_event_of_a_real_server_is_unknown(path: Path) -> None:
    seen = [read(event) for event in captures.served(path)]
    assert [each.type for each in seen if isinstance(each, UnknownEvent)] == []
    assert [each.type for each in seen] == [event["type"] for event in captures.served(path)]


def test_the_captures_hold_both_versions_and_what_matters() -> None:
    assert len(captures.ALL) > 40
    for wire in ("0.26", "0.30"):
        types = {event["type"] for path in captures.ALL if path.parent.name == wire for event in captures.served(path)}
        assert {"session.created", "session.resumed", "session.closed", "response.listen", "error"} <= types


@pytest.mark.parametrize(
    ("old", "new", "kind"),
    [
        ("response.audio.delta", "response.output_audio.delta", AudioDelta),
        ("response.audio.done", "response.output_audio.done", events.AudioDone),
        ("response.audio_transcript.delta", "response.output_audio_transcript.delta", TranscriptDelta),
        ("response.audio_transcript.done", "response.output_audio_transcript.done", events.TranscriptDone),
        ("duplex.turn.event", "turn.event", events.TurnEvent),
    ],
)
def test_the_names_of_both_versions_are_one_event(old: str, new: str, kind: type) -> None:
    for name in (old, new):
        assert type(read({"type": name, "response_id": "r", "delta": "AAAA"})) is kind


def test_an_error_is_read_nested_and_flat() -> None:
    nested = read({"type": "error", "error": {"type": "x", "code": "bad_event", "message": "no"}})
    flat = read({"type": "error", "code": "unsupported", "error": "VAD realtime is not enabled", "retryable": False})
    assert isinstance(nested, ErrorEvent)
    assert (nested.name, nested.message) == ("bad_event", "no")
    assert isinstance(flat, ErrorEvent)
    assert (flat.name, flat.message) == ("unsupported", "VAD realtime is not enabled")


def test_an_error_without_anything_is_still_an_error() -> None:
    bare = read({"type": "error"})
    assert isinstance(bare, ErrorEvent)
    assert (bare.name, bare.message) == ("", "")


def test_the_end_says_why_in_either_place() -> None:
    for event in ({"reason": "timeout", "event": {}}, {"event": {"reason": "timeout"}}):
        closed = read({"type": "session.closed", **event})
        assert isinstance(closed, SessionClosed)
        assert closed.why == "timeout"


def test_the_transcription_protocols_greeting_is_no_session() -> None:
    greeting = read({"type": "session.created", "id": "sess-1", "created": 1})
    assert isinstance(greeting, SessionCreated)
    assert greeting.session is None


def test_a_done_of_the_native_dialect_names_no_status() -> None:
    done = read({"type": "response.done", "response_id": "r1", "committed": True})
    assert isinstance(done, ResponseDone)
    assert done.ended == ("r1", "completed", "")


def test_a_listen_says_why() -> None:
    listen = read({"type": "response.listen", "response": {"metadata": {"reason": "buffering"}}})
    assert isinstance(listen, ResponseListen)
    assert listen.why == "buffering"


@pytest.mark.parametrize(
    "event",
    [
        {"type": "response.sing", "note": "a"},
        {"type": "response.created"},
        {"type": "response.listen", "response": "yes", "server_event_seq": 7},
        {"type": 7},
        {},
    ],
)
def test_what_nobody_knows_is_kept_as_it_came(event: dict[str, object]) -> None:
    seen = read(event)
    assert isinstance(seen, UnknownEvent)
    assert seen.received == event
    assert seen.server_event_seq == event.get("server_event_seq")


def test_a_field_nobody_knows_is_kept() -> None:
    assert read({"type": "rate_limits.updated", "rate_limits": [], "extra": 1}).model_dump()["extra"] == 1


@pytest.mark.parametrize("frame", ["no json", "[1]", b"\xff\x00", "17", ""])
def test_a_frame_that_is_no_object_is_an_unknown_event(frame: str | bytes) -> None:
    assert isinstance(read(decode(frame)), UnknownEvent)


def test_what_we_say_leaves_out_what_it_does_not_say() -> None:
    assert json.loads(events.ResponseCancel().encoded()) == {"type": "response.cancel"}
    resume = events.SessionResume(session_id="s", resume_token="t", last_received_server_event_seq=7)
    assert json.loads(resume.encoded()) == {
        "type": "session.resume",
        "session_id": "s",
        "resume_token": "t",
        "last_received_server_event_seq": 7,
    }


def test_turn_detection_is_null_and_not_absent() -> None:
    update = events.SessionUpdate(session={"turn_detection": None})
    assert json.loads(update.encoded())["session"] == {"turn_detection": None}
