"""Who may talk, who waits, and that everything of an ended conversation is given back."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from dataclasses import replace
from typing import Any

import pytest

from launch.errors import ServerRefused
from tests.ui.live.scripted import OPENED, QUICK, Reader, ScriptedSession, house
from ui.live.lounge import LIMIT, Lounge, Wishes
from ui.live.setup import Setup

WISHES = Wishes(Setup("scripted", "Be brief.", b""))


def states(page: Reader) -> list[tuple[str, int | None]]:
    return [(it["state"], it.get("position")) for it in page.of("state")]


class Bar:
    """A lounge whose sessions are scripted; ``busy`` counts those that are open, ``most`` the most at once."""

    def __init__(self, **how: Any) -> None:
        self.sessions: list[ScriptedSession] = []
        self.busy = self.most = 0
        bar = self

        class Counted(ScriptedSession):
            async def __aenter__(self) -> Counted:
                bar.busy += 1
                bar.most = max(bar.most, bar.busy)
                await super().__aenter__()
                return self

            async def __aexit__(self, *_: object) -> None:
                await super().__aexit__()
                await asyncio.sleep(0.01)  # the server gives a place back a moment later
                bar.busy -= 1

        def open_session(setup: Setup, log: Any) -> ScriptedSession:
            self.sessions.append(Counted(setup, log))
            return self.sessions[-1]

        self.lounge = Lounge(open_session, patience=how.pop("patience", QUICK), **how)

    async def until(self, true: Callable[[], object]) -> None:
        """Waits for what must happen."""
        async with asyncio.timeout(10):
            while not true():  # noqa: ASYNC110
                await asyncio.sleep(0.005)

    async def settle(self) -> None:
        """Gives time to what must not happen."""
        await asyncio.sleep(0.15)


def said(conversation: Any) -> list[str]:
    """The texts of an outbox, oldest first."""
    return [frame.data for frame in conversation.outbox._frames if isinstance(frame.data, str)]


async def test_no_more_than_the_limit_and_the_others_are_told_their_position() -> None:
    async with house(limit=2) as it:
        tokens = [it.guard.issue() for _ in range(4)]
        ids = [await it.open(token) for token in tokens]
        pages = [Reader() for _ in ids]
        await it.session(2)
        async with it.http(tokens[3]) as http:
            state = (await http.get("/live/state")).json()
        assert {key: state[key] for key in ("limit", "running", "queued", "free")} == {
            "limit": 2,
            "running": 2,
            "queued": 2,
            "free": 0,
        }
        assert state["mine"] == ids[3]
        async with it.socket(ids[2], token=tokens[2]) as third, it.socket(ids[3], token=tokens[3]) as fourth:
            await pages[2].until(third, "state", state="queued", position=1)
            await pages[3].until(fourth, "state", state="queued", position=2)
            assert len(it.sessions) == 2
            async with it.http(tokens[0]) as http:
                assert (await http.post(f"/live/{ids[0]}/close")).status_code == 204
            await pages[2].until(third, "state", state="open")
            await pages[3].until(fourth, "state", state="queued", position=1)
            async with it.http(tokens[2]) as http:
                await http.post(f"/live/{ids[2]}/close")
            await pages[3].until(fourth, "state", state="open")
            assert states(pages[3]) == [("queued", 2), ("queued", 1), ("connecting", None), ("open", None)]
        assert len(it.sessions) == 4


async def test_a_place_is_free_only_when_the_server_has_it_back() -> None:
    bar = Bar(limit=1)
    conversations = [bar.lounge.open(f"owner {n}", WISHES) for n in range(5)]
    for number, conversation in enumerate(conversations, 1):
        await bar.until(lambda number=number: len(bar.sessions) == number)
        conversation.leave("stop")
    await bar.until(lambda: not bar.lounge._lives)
    assert (len(bar.sessions), bar.most, bar.busy) == (5, 1, 0)
    await bar.lounge.close()


async def test_the_limit_is_what_somebody_said_else_what_the_server_says_else_two() -> None:
    assert Bar(limit=7).lounge.limit == 7
    bar = Bar()
    assert bar.lounge.limit == LIMIT == 2
    bar.lounge._learn(replace(OPENED, capabilities={"max_sessions": 4}))
    assert bar.lounge.limit == 4
    bar.lounge._learn(replace(OPENED, capabilities={"max_sessions": "many"}))
    assert bar.lounge.limit == 2


async def test_who_waits_gets_in_when_the_server_turns_out_to_have_more_places() -> None:
    bar = Bar()
    for n in range(4):
        bar.lounge.open(f"owner {n}", WISHES)
    await bar.settle()
    assert len(bar.sessions) == 2
    bar.sessions[0].say(replace(OPENED, capabilities={"max_sessions": 3}))
    await bar.until(lambda: len(bar.sessions) == 3)
    await bar.settle()
    assert len(bar.sessions) == 3
    await bar.lounge.close()


async def test_an_owner_has_one_conversation_and_the_new_one_takes_the_old_ones_place() -> None:
    bar = Bar(limit=1)
    old = bar.lounge.open("ann", WISHES)
    waiting = bar.lounge.open("bob", WISHES)
    await bar.until(lambda: old.opened)
    new = bar.lounge.open("ann", WISHES)
    await bar.until(lambda: new.opened)
    assert old.ended is not None
    assert (old.ended.reason, old.ended.fault is not None) == ("taken-over", True)
    assert (new.opened, waiting.opened) == (OPENED, None)
    assert bar.most == 1
    await bar.lounge.close()


async def test_who_asks_again_while_waiting_keeps_the_position() -> None:
    bar = Bar(limit=1)
    for owner in ("ann", "bob", "cid"):
        bar.lounge.open(owner, WISHES)
    again = bar.lounge.open("bob", WISHES)
    await bar.settle()
    assert '"position":1' in said(again)[-1]
    assert bar.lounge.crowd("bob").queued == 2
    assert bar.lounge.crowd("bob").mine == again.id
    await bar.lounge.close()


async def test_who_gives_up_in_the_queue_never_reaches_the_server() -> None:
    bar = Bar(limit=1, patience=replace(QUICK, away=0.05))
    first = bar.lounge.open("ann", WISHES)
    page, _ = first.attach(None)
    left = bar.lounge.open("bob", WISHES)
    await bar.until(lambda: left.ended)
    assert left.ended is not None
    assert left.ended.reason == "page-gone"
    assert len(bar.sessions) == 1
    assert bar.lounge.crowd("bob").queued == 0
    first.detach(page)
    await bar.lounge.close()


async def test_the_queue_has_an_end() -> None:
    bar = Bar(limit=1)
    for n in range(33):
        bar.lounge.open(f"owner {n}", WISHES)
    with pytest.raises(ServerRefused, match="live-queue-full"):
        bar.lounge.open("one too many", WISHES)
    await bar.lounge.close()


async def test_nobody_reaches_another_owners_conversation() -> None:
    bar = Bar()
    mine = bar.lounge.open("ann", WISHES)
    assert bar.lounge.get(mine.id, "ann") is mine
    assert bar.lounge.get(mine.id, "bob") is None
    assert bar.lounge.crowd("bob").mine is None
    await bar.lounge.close()


async def test_a_closed_lounge_leaves_nothing_and_takes_nobody() -> None:
    before = asyncio.all_tasks()
    bar = Bar(limit=2)
    conversations = [bar.lounge.open(f"owner {n}", WISHES) for n in range(5)]
    await bar.until(lambda: len(bar.sessions) == 2)
    await bar.lounge.close()
    assert asyncio.all_tasks() == before
    assert bar.busy == 0
    assert {it.ended.reason for it in conversations if it.ended is not None} == {"app-closing"}
    with pytest.raises(RuntimeError):
        bar.lounge.open("late", WISHES)


async def test_ended_conversations_are_forgotten_in_time() -> None:
    bar = Bar(limit=50)
    conversations = [bar.lounge.open(f"owner {n}", WISHES) for n in range(30)]
    await bar.until(lambda: all(conversation.opened for conversation in conversations))
    for conversation in conversations:
        conversation.leave("stop")
    await bar.until(lambda: not bar.lounge._lives)
    kept = [it for it in conversations if bar.lounge.get(it.id, it.owner) is it]
    assert kept == conversations[-16:]
    await bar.lounge.close()


async def test_a_server_that_hangs_does_not_keep_ctrl_c_waiting() -> None:
    class Hanging(ScriptedSession):
        async def close(self) -> None:
            await asyncio.sleep(60)

    lounge = Lounge(lambda setup, log: Hanging(setup, log), patience=QUICK)
    lounge.open("ann", WISHES)
    await asyncio.sleep(0.02)
    async with asyncio.timeout(1.9):
        await lounge.close()
