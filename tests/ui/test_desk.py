"""One question at a time a page, wherever it stands."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator

import pytest

from launch.errors import InputError
from launch.rehearsal.brain.canned import CannedBrain
from tests.engine import running_engine
from ui.desk import Desk, Withdrawn
from ui.turn.client import ServerClient
from ui.turn.parts import Message, Settings, Text
from ui.turn.request import Request
from ui.turn.turns import Turns


class Preparing:
    """Media that are being prepared until the test says so."""

    def __init__(self) -> None:
        self.go = asyncio.Event()
        self.begun = asyncio.Event()

    async def request(self) -> Request:
        self.begun.set()
        await self.go.wait()
        return request()


def request(text: str = "hello") -> Request:
    return Request((Message("user", (Text(text),)),), Settings(speech=False))


async def soon(text: str = "hello") -> Request:
    return request(text)


@pytest.fixture
async def desk() -> AsyncIterator[Desk]:
    # A slow talker: a turn runs until the test stops it.
    async with running_engine(CannedBrain(token_s=0.2)) as url:
        client = ServerClient(url)
        turns = Turns(client, None)
        yield Desk(turns)
        await turns.close()
        await client.close()


async def test_a_question_becomes_the_pages_turn(desk: Desk) -> None:
    turn = await desk.ask("page", "me", "text", soon())
    assert desk.turn("page") is turn
    assert turn.running


async def test_what_is_wrong_with_a_question_is_raised(desk: Desk) -> None:
    async def bad() -> Request:
        raise InputError("nothing-typed")

    with pytest.raises(InputError):
        await desk.ask("page", "me", "text", bad())
    assert desk.turn("page") is None


async def test_a_new_question_ends_the_earlier_one_of_any_tab(desk: Desk) -> None:
    first = await desk.ask("page", "me", "text", soon())
    second = await desk.ask("page", "me", "image", soon())
    assert first.state == "stopped"
    assert second.running


async def test_two_pages_do_not_disturb_each_other(desk: Desk) -> None:
    first = await desk.ask("one", "me", "text", soon())
    await desk.ask("two", "you", "text", soon())
    assert first.running


async def test_the_same_tab_in_another_window_is_asked_anew(desk: Desk) -> None:
    first = await desk.ask("one", "me", "text", soon("first"))
    second = await desk.ask("two", "me", "text", soon("second"))
    assert first.state == "stopped"
    assert second.request == request("second")


@pytest.mark.parametrize("end", ["stop", "clear", "leave", "ask"])
async def test_what_is_taken_back_while_it_is_prepared_is_never_sent(desk: Desk, end: str) -> None:
    media = Preparing()
    asking = asyncio.create_task(desk.ask("page", "me", "text", media.request()))
    await media.begun.wait()
    if end == "ask":
        await desk.ask("page", "me", "image", soon())
    else:
        await getattr(desk, end)("page")
    media.go.set()
    with pytest.raises(Withdrawn):
        await asking
    turn = desk.turn("page")
    assert (turn.what if turn else None) == ("image" if end == "ask" else None)


async def test_stop_keeps_the_turn_and_clear_forgets_it(desk: Desk) -> None:
    turn = await desk.ask("page", "me", "text", soon())
    await desk.stop("page")
    assert (turn.state, desk.turn("page")) == ("stopped", turn)
    await desk.clear("page")
    assert desk.turn("page") is None


async def test_a_caller_that_gives_up_leaves_nothing_being_prepared(desk: Desk) -> None:
    media = Preparing()
    asking = asyncio.create_task(desk.ask("page", "me", "text", media.request()))
    await media.begun.wait()
    asking.cancel()
    with pytest.raises(asyncio.CancelledError):
        await asking
    media.go.set()
    await asyncio.sleep(0)
    assert desk.turn("page") is None


async def test_a_page_that_asks_nothing_can_be_stopped(desk: Desk) -> None:
    await desk.stop("nobody")
    await desk.leave("nobody")
