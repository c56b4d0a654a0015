"""Whatever a client sends, it gets an error event and keeps its session; nothing is left of one that breaks off."""

from __future__ import annotations

import asyncio
import json
from contextlib import AsyncExitStack
from typing import Any

import pytest

from launch.rehearsal.brain.canned import CannedBrain
from launch.rehearsal.wire.realtime.lobby import Limits
from launch.rehearsal.wire.realtime.reading import DEEPEST, event_of
from tests.engine import running_engine
from tests.launch.rehearsal.wire.realtime.client import Client, connected, opened, wanted

WIRES = pytest.mark.parametrize("wire", ["0.26", "0.30"])
FIELDS = {
    "input_audio_buffer.append": ("audio", "delta", "format", "sample_rate_hz", "video_frames", "is_speech"),
    "response.create": ("response",),
    "turn.signal": ("event", "payload"),
    "session.update": ("session",),
    "playback.ack": ("played_ms", "committed_ms", "item_id", "response_id"),
    "session.event_ack": ("server_event_seq",),
    "conversation.item.create": ("item",),
    "conversation.item.delete": ("item_id",),
    "conversation.item.retrieve": ("item_id",),
    "conversation.item.truncate": ("item_id", "content_index", "audio_end_ms"),
}
ODD: list[Any] = [None, True, 0, -1, 1.5, 10**30, 10**400, "", "é", "A", "x" * 9_000, [], [[]], ["é"], {}, {"id": []}]
NOT_JSON = [
    "",
    "[",
    "[" * 100_000,
    '{"type":' * 20_000,
    '{"type":"playback.ack","played_ms":NaN}',
    '{"type":"playback.ack","played_ms":-Infinity}',
    '{"type":"playback.ack","played_ms":1e999}',
    '{"type":"playback.ack","played_ms":' + "9" * 5_000 + "}",
    '{"type":"\\ud800"}',
    '{"type":"session.update","session":' + '{"a":' * 700 + "1" + "}" * 701,
    b"\x00\xff",
]


async def answered(client: Client) -> list[str]:
    """What came until the session answered a heartbeat."""
    before = len(client.heard)
    await client.say("session.heartbeat")
    await client.until("session.heartbeat_ack", after=before)
    return client.types[before:]


@WIRES
async def test_no_value_of_any_field_ends_a_session(wire: str) -> None:
    async with running_engine(CannedBrain("hi"), wire=wire) as url, opened(url) as client:
        for kind, names in FIELDS.items():
            for name in names:
                for value in ODD:
                    await client.say(kind, **{"played_ms": 1, name: value})
            await answered(client)


@WIRES
async def test_what_is_no_json_is_refused_and_the_session_goes_on(wire: str) -> None:
    async with running_engine(CannedBrain("hi"), wire=wire) as url, opened(url) as client:
        for text in NOT_JSON:
            await client.socket.send(text)
            assert "error" in await answered(client), text[:40]


@WIRES
async def test_a_handshake_that_is_no_json_gets_an_error_and_an_end(wire: str) -> None:
    async with running_engine(CannedBrain("hi"), wire=wire) as url:
        for text in NOT_JSON:
            async with connected(url) as client:
                await client.socket.send(text)
                assert (await client.until("error"))["error"]["code"] == "invalid_json"
                await client.ended()


async def test_a_turn_server_answers_noise_with_errors() -> None:
    async with running_engine(CannedBrain("hi"), mode="turn") as url, connected(url) as client:
        for number, text in enumerate([*NOT_JSON, "[]", "1"], 1):
            await client.socket.send(text)
            await client.until(lambda event, number=number: client.types.count("error") == number)


async def test_sockets_that_vanish_at_any_moment_leave_no_place_taken() -> None:
    limits = Limits(max_sessions=4, grace_s=0.0)
    async with running_engine(CannedBrain("hi"), limits=limits) as url:
        for number in range(24):
            async with connected(url) as client:
                if number % 3:
                    await client.socket.send(json.dumps(wanted())[: None if number % 3 == 2 else 40])
                if number % 4 == 3:
                    await asyncio.sleep(0.01)
                client.socket.transport.abort()
        for _ in range(200):
            if await _all_free(url, limits.max_sessions):
                break
            await asyncio.sleep(0.05)
        else:
            pytest.fail("a place is still taken")


async def _all_free(url: str, places: int) -> bool:
    async with AsyncExitStack() as sessions:
        for _ in range(places):
            client = await sessions.enter_async_context(connected(url))
            await client.say(wanted())
            told = await client.until(lambda event: event["type"] in ("error", "session.updated"))
            if told["type"] == "error":
                return False
            sessions.push_async_callback(client.say, "session.close")
    return True


def test_an_event_is_as_deep_as_allowed_and_no_deeper() -> None:
    deep = '{"a":' * (DEEPEST - 1) + "{}" + "}" * (DEEPEST - 1)
    assert event_of(deep) is not None
    with pytest.raises(ValueError, match="deep"):
        event_of('{"a":' + deep + "}")
