"""The presses of a tab, as plain functions over a real turn."""

from __future__ import annotations

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import Any

import pytest

from launch.rehearsal.brain.canned import CannedBrain
from tests.engine import running_engine
from tests.ui.turn.wire import Call, serving
from ui.desk import Desk
from ui.samples import FOLDER
from ui.tabs.actions import DROP, Actions, Reader
from ui.tabs.image import ImageTab
from ui.tabs.knobs import Knobs
from ui.tabs.multi_turn import MultiTurn, Talk
from ui.tabs.tab import Tab
from ui.tabs.text_speech import TextSpeech
from ui.texts import texts
from ui.turn.client import ServerClient
from ui.turn.parts import Image, Message, Text
from ui.turn.turns import Turns

ME = Reader("page", "me", "zh")


@asynccontextmanager
async def actions(url: str, kind: type[Tab] = TextSpeech) -> AsyncIterator[Actions]:
    client = ServerClient(url)
    turns = Turns(client, None)
    try:
        yield Actions(kind(texts()), Desk(turns), texts())
    finally:
        await turns.close()
        await client.close()


async def ended(it: Actions) -> dict[str, Any]:
    """The last view of what the page asked."""
    views = [(view, turn) async for view, turn in it.follow(ME)]
    assert [turn is not None for _, turn in views] == [False] * (len(views) - 1) + [True]
    return views[-1][0]


@pytest.fixture(scope="module")
def quick() -> CannedBrain:
    return CannedBrain(text="one two three", audio_s=0.5)


async def test_run_gives_a_view_at_once_and_follow_its_end(quick: CannedBrain) -> None:
    async with running_engine(quick) as url, actions(url) as it:
        first = await it.run(ME, ["hello"], Knobs())
        assert (first["state"], first["speech"]) == ("waiting", True)
        last = await ended(it)
    assert (last["turn"], last["state"], last["text"]) == (first["turn"], "done", "one two three")
    assert last["rehearsal"] is True
    assert last["figures"]["ttfp_ms"] > 0


async def test_a_snapshot_is_what_following_shows(quick: CannedBrain) -> None:
    """Pages whose stream is broken poll this instead."""
    async with running_engine(quick) as url, actions(url) as it:
        assert it.snapshot(ME) is None
        await it.run(ME, ["hello"], Knobs())
        last = await ended(it)
        assert it.snapshot(ME) == last


async def test_what_is_missing_is_shown_in_the_readers_language_and_in_the_other(quick: CannedBrain) -> None:
    async with running_engine(quick) as url, actions(url) as it:
        view = await it.run(ME, [""], Knobs())
        assert [view async for view, _ in it.follow(ME)] == []
    assert (view["turn"], view["state"]) == (None, "failed")
    assert view["fault"]["cause"] == "还没有问题。"
    assert view["told"]["en"]["fault"]["cause"] == "There is no question yet."


async def test_a_number_out_of_range_is_shown_and_nothing_is_asked(quick: CannedBrain) -> None:
    async with running_engine(quick) as url, actions(url) as it:
        view = await it.run(ME, ["hello"], Knobs(temperature=9))
        assert it.snapshot(ME) is None
    assert "temperature" in view["fault"]["cause"]


async def test_a_sample_fills_the_tab_and_is_asked_in_its_own_language(quick: CannedBrain) -> None:
    async with running_engine(quick) as url, actions(url, ImageTab) as it:
        values, view = await it.press(ME, "rocket-launch", Knobs(language="zh"))
        turn = it._desk.turn("page")
        assert turn is not None
        assert turn.request.voice is not None
        assert turn.request.voice.language == "en"
        assert view["turn"] == turn.id
    assert values[1] == str(FOLDER / "rocket.jpg")


async def test_a_card_nobody_drew_is_no_sample(quick: CannedBrain) -> None:
    async with running_engine(quick) as url, actions(url) as it:
        with pytest.raises(KeyError):
            await it.press(ME, "../../etc/passwd", Knobs())


async def test_stop_keeps_what_came_and_clear_forgets_it() -> None:
    async with running_engine(CannedBrain(token_s=0.05)) as url, actions(url) as it:
        await it.run(ME, ["hello"], Knobs(speech=False))
        await it.stop(ME)
        assert it.snapshot(ME)["state"] == "stopped"  # type: ignore[index]
        assert await it.clear(ME) == [""]
        assert it.snapshot(ME) is None


async def test_following_ends_when_the_page_asks_anew() -> None:
    async with running_engine(CannedBrain(token_s=0.05)) as url, actions(url) as it:
        await it.run(ME, ["first"], Knobs(speech=False))
        following = it.follow(ME)
        shown, _ = await anext(following)
        await it.run(ME, ["second"], Knobs(speech=False))
        assert [view["turn"] async for view, _ in following if view["turn"] != shown["turn"]] == []


async def test_a_server_that_is_gone_is_a_view_with_a_cure() -> None:
    async with actions("http://127.0.0.1:9") as it:
        await it.run(ME, ["hello"], Knobs())
        view = await ended(it)
    assert view["state"] == "failed"
    assert view["fault"]["cure"]
    assert "actions" not in view["fault"]


async def test_a_limit_of_media_gets_a_button_that_asks_with_less() -> None:
    sent: list[int] = []

    async def chat(call: Call) -> None:
        pictures = sum(
            part["type"] == "image_url"
            for message in call.json["messages"]
            if isinstance(message["content"], list)
            for part in message["content"]
        )
        sent.append(pictures)
        error = {"message": "At most 1 image(s) may be provided in one prompt.", "type": "BadRequestError", "code": 400}
        if pictures > 1:
            await call.reply(400, {"error": error})
        else:
            await call.reply(
                200, {"id": "x", "choices": [{"index": 0, "message": {"content": "ok"}, "finish_reason": "stop"}]}
            )

    picture = Image(b"x", 1, 1)
    talk = Talk(Talk().history.then(Message("user", (picture, Text("first"))), "answer"))
    values = [{"text": "second", "files": [str(FOLDER / "cat.jpg")]}, talk, ""]
    quiet = Knobs(speech=False)
    async with serving(chat) as wire, actions(wire.base_url, MultiTurn) as it:
        await it.run(ME, values, quiet)
        refused = await ended(it)
        assert refused["fault"]["actions"] == [{"id": DROP, "label": "丢掉最早的媒体再试"}]
        lighter, _ = await it.drop(ME, values, quiet)
        assert (await ended(it))["text"] == "ok"
    assert sent == [2, 1]
    assert lighter[0] == values[0]
    assert lighter[1].history.count(Image) == 0


async def test_when_nothing_is_left_to_drop_the_failure_stays() -> None:
    async def chat(call: Call) -> None:
        await call.reply(400, {"error": {"message": "maximum context length is 10", "code": 400}})

    values = [{"text": "long", "files": []}, Talk(), ""]
    async with serving(chat) as wire, actions(wire.base_url, MultiTurn) as it:
        await it.run(ME, values, Knobs(speech=False))
        await ended(it)
        same, view = await it.drop(ME, values, Knobs(speech=False))
    assert same == values
    assert (view["turn"], view["state"]) == (None, "failed")
    assert "actions" not in view["fault"]  # no button that does nothing
