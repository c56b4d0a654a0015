"""Every captured session of the real servers, held again with the engine: what the client said is said again, and what
the engine answers has the order, the fields and the end of what the real server answered.

The captures leave the microphone out. Where the real server answered, a tone and a pause are said here. What differs by
nature is set aside: how often the model listens, in how many pieces an answer comes, and how many answers a long
question gets.
"""

from __future__ import annotations

import asyncio
import json
import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import pairwise
from pathlib import Path
from typing import Any

import pytest
from websockets.exceptions import ConnectionClosed

from launch.rehearsal.brain.canned import CannedBrain
from launch.rehearsal.wire.realtime.lobby import Limits
from tests.engine import engine_thread, running_engine
from tests.launch.rehearsal.wire.realtime.client import REFERENCE, Client, Event, connected, quiet, tone, wanted

CAPTURES = Path(__file__).resolve().parents[4] / "data" / "live"
TEXT = "Hello from tiny vLLM-Omni."
ANSWER_S = 3
USUAL = "/v1/realtime?duplex=1&model=openbmb/MiniCPM-o-4_5&minicpmo45_native_duplex=1&autostart=0"
PATHS = {
    "duplex_realtime_err_ref_audio_required": USUAL.removesuffix("&autostart=0"),
    "turn_ws_realtime_no_query": "/v1/realtime",
    "turn_ws_realtime_without_duplex": "/v1/realtime?model=openbmb/MiniCPM-o-4_5",
    "turn_ws_v1_duplex_alias": "/v1/duplex",
    "ws_autostart": "/v1/realtime?duplex=1&model=openbmb/MiniCPM-o-4_5",
    "ws_client_session_id": f"{USUAL}&session_id=my-own-id",
    "ws_realtime_no_query": "/v1/realtime",
    "ws_realtime_without_duplex": "/v1/realtime?model=openbmb/MiniCPM-o-4_5",
    "ws_v1_duplex": "/v1/duplex",
    "ws_v1_duplex_alias": "/v1/duplex",
}
AFTER = {  # captures that go on with the session of another one
    "ws_resume_2": "ws_resume_1",
    "ws_resume_full_2": "ws_resume_full_1",
    "ws_resume_after_close": "ws_busy_a",
    "ws_takeover_bad_token": "ws_resume_1",
}
PATIENCE_S = 5.0  # for a step; the longest takes a second and a half
INNER = {
    "vllm_omni",
    "response_request_metrics",
    "runtime_control",
    "capabilities",
}  # the real engine's own works; the last is compared by itself


@dataclass(frozen=True)
class Step:
    """What the client said, and what the server said before the client's next word."""

    said: Any
    heard: list[Event]


@dataclass(frozen=True)
class Capture:
    wire: str
    name: str
    steps: list[Step]
    end: Any

    @property
    def heard(self) -> list[Event]:
        return [event for step in self.steps for event in step.heard]


def read(path: Path) -> Capture:
    steps = [Step(None, [])]
    end = None
    for line in path.read_text(encoding="utf-8").splitlines():
        row = json.loads(line)
        if row["dir"] == ">":
            steps.append(Step(row["event"], []))
        elif row["dir"] == "<":
            steps[-1].heard.append(row["event"])
        elif row["dir"] == "x" and end is None:
            end = row["event"].get("closed")
    return Capture(path.parent.name, path.stem, steps, end)


ALL = [read(path) for path in sorted(CAPTURES.glob("*/*.jsonl"))]


def kinds(events: Sequence[Event]) -> list[str]:
    """The types in their order; errors by their code. No listening; of a run of pairs, and of a run of whole answers
    that end alike, only one."""
    found: list[str] = []
    for event in events:
        kind = event["type"]
        if kind == "response.listen":
            continue
        if kind == "error":
            kind = f"error {event['error']['code'] if isinstance(event['error'], dict) else event['code']}"
        if kind in ("response.done", "conversation.item.done"):
            body = event.get("response") or event.get("item") or {}
            kind = f"{kind} {body.get('status', 'completed')}"
        if kind == "overlap.decision" and found[-1:] == [kind]:
            continue  # one for each append
        found.append(kind)
        for length in (1, 2):
            if kind.endswith(".delta") and found[-length:] == found[-2 * length : -length]:
                del found[-length:]
        for start in ("response.created",):
            begins = [at for at, one in enumerate(found) if one == start]
            if len(begins) >= 2 and found[begins[-2] : begins[-1]] == found[begins[-1] :]:
                del found[begins[-1] :]
    return found


def form(value: Any) -> Any:
    """Keys with the types of their values; numbers are alike."""
    if isinstance(value, dict):
        return {key: form(inner) for key, inner in value.items() if key not in INNER}
    if isinstance(value, list):
        return [form(value[0])] if value else []
    return "number" if isinstance(value, int | float) and not isinstance(value, bool) else type(value).__name__


def group(event: Event) -> tuple[Any, ...]:
    """What events must share to have the same fields."""
    body = event.get("response") or event.get("item") or {}
    body = body if isinstance(body, dict) else {}
    metadata = body.get("metadata")
    meant = metadata.get("type") if isinstance(metadata, dict) else None
    answered = isinstance(event.get("event"), dict) and "no_response" in event["event"]
    return event["type"], body.get("status"), body.get("role"), meant, answered, isinstance(event.get("error"), str)


def differences(ours: Any, theirs: Sequence[Any], where: str) -> Iterator[str]:
    """In what ``ours`` is unlike every one of ``theirs``, place by place."""
    if isinstance(ours, dict):
        known = [one for one in theirs if isinstance(one, dict)]
        if not known:
            yield f"{where} is an object"
            return
        if not any(ours.keys() == one.keys() for one in known):
            near = min(known, key=lambda one: len(ours.keys() ^ one.keys()))
            extra, missing = sorted(ours.keys() - near.keys()), sorted(near.keys() - ours.keys())
            yield f"{where} has {extra} too much and {missing} too little"
        for key, inner in ours.items():
            yield from differences(inner, [one[key] for one in known if key in one], f"{where}.{key}")
    elif isinstance(ours, list):
        known = [one[0] for one in theirs if isinstance(one, list) and one]
        if ours and known:
            yield from differences(ours[0], known, f"{where}[]")
    elif theirs and ours not in theirs:
        yield f"{where} is {ours} and not {' or '.join(sorted(map(str, theirs)))}"


def _ours(event: Any, session: dict[str, Any]) -> Any:
    """The client's event with a voice that can be decoded, and with the session and the answers of our engine."""
    if isinstance(event, str):
        return event
    event = json.loads(json.dumps(event).replace("data:audio/wav;base64,AAABAAIAAwA=", REFERENCE))
    if event["type"] == "session.resume":
        event["session_id"] = session["session_id"]
        event["resume_token"] = "wrong" if session["name"] == "ws_takeover_bad_token" else session["resume_token"]
        if event.get("last_received_server_event_seq"):
            event["last_received_server_event_seq"] = session["seq"]
    if event["type"] == "playback.ack" and "-" in event.get("response_id", ""):
        newest = event["response_id"] == session["captured"]  # they had more answers than we
        response = session["responses"][-1 if newest else 0]
        event["response_id"] = response
        if event.get("item_id", "").startswith("item_resp-"):
            event["item_id"] = f"item_{response}"
    return event


def _learn(events: list[Event], session: dict[str, Any]) -> None:
    for event in events:
        if event["type"] in ("session.created", "session.resumed") and "resume_token" in event:
            session["session_id"] = event.get("session_id") or event["session"]["id"]
            session["resume_token"] = event["resume_token"]
        session["seq"] = event.get("server_event_seq", session.get("seq"))
    begun = (event for event in events if event["type"] == "response.created")
    session["responses"] = [_response_of(event) for event in begun]


def _response_of(created: Event) -> str:
    return created.get("response_id") or created["response"]["id"]


async def _speak(client: Client, capture: Capture, step: Step) -> None:
    """What the captured microphone must have held for the server to answer as it did."""
    awaited = kinds(step.heard)
    if capture.name == "ws_append_before_create" or {"error bad_event", "error invalid_input_modality"} & {*awaited}:
        await client.say("input_audio_buffer.append", audio="!!!")
        awaited = []
    if capture.name == "ws_server_vad" and "session.created" in awaited:
        await client.append((tone(0.8) + quiet(0.8)) * 2 + tone(0.4))
        await client.until(lambda _: client.types.count("input_audio_buffer.speech_started") == 3)
        return
    if "overlap.decision" in awaited:
        await client.append(quiet(0.4) + tone(0.2))
        return
    started = "input_audio_buffer.speech_started" in awaited or "input_audio_buffer.committed" in awaited
    if "input_audio_buffer.speech_started" in awaited and capture.name != "ws_server_vad":
        await client.append(tone(1))
    answers = [at for at, kind in enumerate(awaited) if kind == "response.created"]
    for begin, end in pairwise([*answers, len(awaited)]):
        before = client.types.count("response.done")
        if not started:
            if client.types.count("response.created") > before:
                await client.until("rate_limits.updated", len(client.heard) - 1)
            await client.append(tone(1))
        started = False
        if {"rate_limits.updated", "response.done completed"} & {*awaited[begin:end]}:
            await client.append(quiet(ANSWER_S + 2))
            await client.until(lambda _, least=before: client.types.count("response.done") > least)
        else:
            await client.append(quiet(1))
    if not answers and any(event["type"] == "response.listen" for event in step.heard):
        await client.append(quiet(1))


async def replay(client: Client, capture: Capture, session: dict[str, Any]) -> None:
    """Says each word of the client once the engine has answered the one before."""
    answers = [event for event in capture.heard if event["type"] == "response.created"]
    session |= {"name": capture.name, "captured": _response_of(answers[-1]) if answers else ""}
    captured: list[Event] = []
    for step in capture.steps:
        if step.said is not None:
            said = _ours(step.said, session)
            if {"input_audio_buffer.committed", "response.created"} <= {*kinds(step.heard)}:
                await client.append(tone(1))
            try:
                await client.socket.send(said if isinstance(said, str) else json.dumps(said))
            except ConnectionClosed:
                return  # as the captured client went on talking to a server that had refused it
        captured += step.heard
        awaited = kinds(captured)
        try:
            async with asyncio.timeout(PATIENCE_S):
                await _speak(client, capture, step)
                if capture.name != "ws_server_vad" and kinds(client.heard) != awaited:
                    await client.until(
                        lambda event, awaited=awaited: event is client.heard[-1] and kinds(client.heard) == awaited
                    )
        except TimeoutError:
            assert kinds(client.heard) == awaited
        _learn(client.heard, session)


@pytest.fixture(scope="module")
def engines() -> Iterator[dict[str, str]]:
    """The URL of an engine for each wire, and of one that only takes turns."""
    brain, many = CannedBrain(TEXT, audio_s=ANSWER_S), Limits(max_sessions=len(ALL))
    with (
        engine_thread(brain, wire="0.26", limits=many) as old,
        engine_thread(brain, wire="0.30", limits=many) as new,
        engine_thread(brain, wire="0.30", mode="turn") as turn,
    ):
        yield {"0.26": old, "0.30": new, "turn": turn}


@pytest.mark.parametrize("capture", ALL, ids=lambda capture: f"{capture.wire}-{capture.name}")
async def test_the_engine_answers_as_the_real_server_did(capture: Capture, engines: dict[str, str]) -> None:
    session: dict[str, Any] = {}
    if capture.name == "ws_busy_third_rejected":
        async with running_engine(wire=capture.wire) as url, connected(url) as first, connected(url) as second:
            for one in (first, second):
                await one.say(wanted())
                await one.until("session.updated")
            await _check(url, capture, session)
        return
    url = engines["turn" if capture.name.startswith("turn_") else capture.wire]
    if capture.name in AFTER:
        before = next(one for one in ALL if one.wire == capture.wire and one.name == AFTER[capture.name])
        async with connected(url, PATHS.get(before.name, USUAL)) as client:
            await replay(client, before, session)
    await _check(url, capture, session)


async def _check(url: str, capture: Capture, session: dict[str, Any]) -> None:
    async with connected(url, PATHS.get(capture.name, USUAL)) as client:
        await replay(client, capture, session)
        if capture.end == "no close frame received or sent" or "Error(None" in str(capture.end):
            assert await client.ended() == (1006, "")
        elif isinstance(capture.end, list) and capture.end[1]:
            assert list(await client.ended()) == capture.end
    if capture.name == "ws_server_vad":  # where the real model never answered, ours does
        heard = [kind for kind in kinds(client.heard) if kind.startswith("input_audio_buffer.")]
        assert heard == [kind for kind in kinds(capture.heard) if kind.startswith("input_audio_buffer.")]
    else:
        assert kinds(client.heard) == kinds(capture.heard)
    errors = [event for event in client.heard if event["type"] == "error"]
    for ours, theirs in zip(errors, (event for event in capture.heard if event["type"] == "error"), strict=True):
        assert ours.get("code") == theirs.get("code")
        if isinstance(ours["error"], str) or ours["error"]["code"] != "invalid_duplex_runtime_config":
            assert _nameless(ours["error"]) == _nameless(theirs["error"])
    known: dict[tuple[Any, ...], list[Any]] = {}
    for one in ALL:
        if one.wire == capture.wire:
            for event in one.heard:
                known.setdefault((*group(event), _native(one)), []).append(form(event))
    for ours in (event for event in client.heard if event["type"] == "session.created" and "session" in event):
        theirs = next(event for event in capture.heard if event["type"] == "session.created")
        assert ours["session"]["capabilities"] == theirs["session"]["capabilities"]
    found = []
    for event in client.heard:
        key = (*group(event), _native(capture))
        if key not in known and event["type"] == "response.listen":
            continue  # in the one native capture the model never listened
        if key not in known:
            found.append(f"{key} was never captured")
        else:
            found += differences(form(event), known[key], event["type"])
    assert sorted(set(found)) == []


def _nameless(error: Any) -> str:
    """An error without the ids in its words."""
    return re.sub(r"[0-9a-f]{32}", "", json.dumps(error, sort_keys=True))


def _native(capture: Capture) -> bool:
    return (capture.wire, capture.name) == ("0.26", "ws_v1_duplex")
