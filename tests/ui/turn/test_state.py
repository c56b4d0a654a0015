"""The pill: what the server is doing, asked cheaply."""

import asyncio
import socket
from typing import Any

import pytest

from launch.faults import explain
from tests.ui.turn.asking import question
from tests.ui.turn.wire import Call, event, replay, serving, text
from ui.turn.client import ServerClient, ServerState

QUIET = replay("0.26/chat_text_stream")


async def state_of(base_url: str) -> ServerState:
    client = ServerClient(base_url)
    try:
        return await client.check()
    finally:
        await client.close()


@pytest.mark.parametrize(
    ("settings", "state", "key"),
    [
        ({}, "ready", None),
        ({"health": (200, b'{"status":"healthy"}')}, "ready", None),
        ({"health": (404, b"")}, "ready", None),
        ({"health": (503, b"")}, "starting", None),
        ({"health": (502, b"")}, "gone", "server-not-up"),
        ({"health": (401, b"")}, "gone", "unauthorized"),
        ({"health": (200, b"<html>"), "models": (404, {})}, "gone", "not-an-omni-server"),
        ({"models": (200, {"data": []})}, "gone", "not-an-omni-server"),
        ({"models": (200, {"error": "x"})}, "gone", "not-an-omni-server"),
    ],
)
async def test_one_look(settings: dict[str, Any], state: str, key: str | None) -> None:
    async with serving(QUIET, **settings) as wire:
        seen = await state_of(wire.base_url)
    assert (seen.state, seen.error and seen.error.key) == (state, key)


async def test_the_rehearsal_engine_is_known_by_its_id() -> None:
    async with serving(QUIET, model="rehearsal") as wire:
        assert (await state_of(wire.base_url)).rehearsal


async def test_it_starts_is_ready_dies_and_comes_back_as_another() -> None:
    async with serving(QUIET, health=(503, b"")) as wire:
        client = ServerClient(wire.base_url)
        assert (await client.check()).state == "starting"
        wire.health = (200, b"")
        assert (await client.check()).state == "ready"
        wire.health = (503, b"")
        for _ in range(3):  # vLLM may stay up like this for ever: it is not starting
            gone = await client.check()
            assert (gone.state, gone.error and gone.error.key) == ("gone", "stage-dead")
        wire.health, wire.model = (200, b'{"status":"healthy"}'), "other"
        back = await client.check()
        assert (back.state, back.model, back.wire) == ("ready", "other", "0.30")
        await client.close()


async def test_nothing_listens() -> None:
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        address = "http://{}:{}".format(*free.getsockname())
        seen = await state_of(address)
    assert (seen.state, seen.error and seen.error.key) == ("gone", "server-not-up")
    assert seen.error is not None
    for language in ("zh", "en"):
        assert f" {address}/health" in explain(seen.error, language).cure, "the command asks the server that was asked"


async def test_a_turn_of_ours_makes_it_busy_and_a_hung_one_too() -> None:
    asked = asyncio.Event()

    async def chat(call: Call) -> None:
        await call.start_stream()
        await call.piece(event(text("one")))
        asked.set()
        await call.hung_up()

    async with serving(chat) as wire:
        client = ServerClient(wire.base_url)
        stream = client.stream(question())
        await anext(stream)
        assert (await client.check()).state == "busy"
        await stream.aclose()
        assert (await client.check()).state == "ready"
        wire.delay_s = 60
        hung = await client.check()
        assert (hung.state, hung.model, hung.error and hung.error.key) == ("busy", wire.model, "timeout-connect")
        await client.close()


async def test_many_pages_share_one_look_a_second() -> None:
    now = 0.0
    async with serving(QUIET) as wire:
        client = ServerClient(wire.base_url, clock=lambda: now)
        await asyncio.gather(*(client.state() for _ in range(20)))
        assert [call.path for call in wire.calls] == ["/health", "/v1/models"]
        now = 1.5
        await asyncio.gather(*(client.state() for _ in range(20)))
        assert [call.path for call in wire.calls] == ["/health", "/v1/models", "/health"]
        await client.close()


async def test_the_key_goes_along() -> None:
    async with serving(QUIET) as wire:
        client = ServerClient(wire.base_url, api_key="sesame")
        await client.check()
        assert [event async for event in client.stream(question(speech=False))]
        assert {call.headers["authorization"] for call in wire.calls} == {"Bearer sesame"}
        await client.close()
