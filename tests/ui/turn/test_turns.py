"""Turns live and end in order: one request at most, nothing left behind, readers that follow."""

import asyncio
import base64
import contextlib
from collections.abc import AsyncIterator
from pathlib import Path
from typing import Any

import pytest

from launch.errors import ServerGone
from tests.ui.turn.asking import question, take, wav
from tests.ui.turn.wire import DONE, Call, Wire, audio, event, replay, serving, stop, text
from ui.turn.client import ServerClient
from ui.turn.parts import Image
from ui.turn.turn import Turn
from ui.turn.turns import Turns

PCM = b"\x10\x10\x20\x20" * 600
PACKET = base64.b64encode(wav(PCM)).decode()


class Slow:
    """Sends a word and a packet, then waits to be told to go on; notices when the client hangs up."""

    def __init__(self) -> None:
        self.go_on = asyncio.Event()
        self.hung_up = asyncio.Event()
        self.began = asyncio.Event()

    async def __call__(self, call: Call) -> None:
        await call.start_stream()
        await call.piece(event(text("one")) + event(audio(PACKET)))
        self.began.set()
        told = asyncio.create_task(self.go_on.wait())
        left = asyncio.create_task(call.hung_up())
        try:
            await asyncio.wait([told, left], return_when=asyncio.FIRST_COMPLETED)
            if left.done():
                self.hung_up.set()
                return
            await call.piece(event(audio(PACKET)) + event(stop()) + DONE.encode())
            await call.end_stream()
        finally:
            told.cancel()
            left.cancel()


@contextlib.asynccontextmanager
async def turns_over(chat: Any, runs_dir: Path | None = None, **settings: Any) -> AsyncIterator[tuple[Wire, Turns]]:
    """Turns over a server; at the end no task of theirs may be left."""
    before = asyncio.all_tasks()
    async with serving(chat) as wire:
        client = ServerClient(wire.base_url)
        turns = Turns(client, runs_dir, **settings)
        try:
            yield wire, turns
        finally:
            await turns.close()
            await client.close()
    left = [task for task in asyncio.all_tasks() - before if not task.done()]
    assert not left, left


def _sounds(folder: Path) -> list[bytes]:
    return [path.read_bytes() for path in folder.rglob("answer.wav")]


async def ended(turn: Turn) -> Turn:
    version = 0
    while turn.running:
        version = await asyncio.wait_for(turn.changed(version, 10), 10)
    return turn


async def test_a_turn_grows_and_ends() -> None:
    slow = Slow()
    async with turns_over(slow) as (_, turns):
        turn = turns.start(question(), "me")
        assert turn.state == "waiting"
        await slow.began.wait()
        while not turn.pcm:
            await turn.changed(turn.version, 5)
        assert (turn.state, turn.text, bytes(turn.pcm)) == ("streaming", "one", PCM)
        slow.go_on.set()
        await ended(turn)
        assert (turn.state, bytes(turn.pcm)) == ("done", PCM * 2)
        seen = turn.snapshot()
    assert seen["state"] == "done"
    assert (seen["text"], seen["audio_bytes"], seen["model"], seen["rehearsal"]) == (
        "one",
        4 * len(PCM) // 2,
        "openbmb/MiniCPM-o-4_5",
        False,
    )
    assert len(turn.id) >= 22
    assert turn.id != Turn(question(), "me").id


async def test_a_double_click_sends_one_request() -> None:
    slow = Slow()
    async with turns_over(slow) as (wire, turns):
        first = turns.start(question(), "me", "image")
        assert turns.start(question("again"), "me", "image") is first
        await slow.began.wait()
        assert turns.start(question(), "me", "image") is first
        assert turns.start(question(), "me", "text") is not first
        assert turns.start(question(), "you", "image") is not first
        slow.go_on.set()
        await ended(first)
        assert turns.start(question(), "me", "image") is not first
        await asyncio.sleep(0)
    assert len(wire.chats) <= 4


async def test_a_turn_is_its_owners() -> None:
    async with turns_over(replay("0.26/chat_text_stream")) as (_, turns):
        turn = turns.start(question(speech=False), "me")
        assert turns.get(turn.id, "me") is turn
        assert turns.get(turn.id, "you") is None
        await turns.stop(turn.id, "you")
        assert turn.running
        await ended(turn)
        assert turn.state == "done"


async def test_stop_hangs_up_keeps_what_came_and_frees_the_owner() -> None:
    slow = Slow()
    async with turns_over(slow) as (_, turns):
        turn = turns.start(question(), "me")
        await slow.began.wait()
        while not turn.pcm:
            await turn.changed(turn.version, 5)
        await turns.stop(turn.id, "me")
        assert (turn.state, turn.text, bytes(turn.pcm)) == ("stopped", "one", PCM)
        assert turns.start(question(), "me") is not turn
        await asyncio.wait_for(slow.hung_up.wait(), 5)
        version = turn.version
        await turns.stop(turn.id, "me")  # once more changes nothing
        assert (turn.version, turn.error) == (version, None)
        assert (turn.figures.e2e_ms, turn.figures.ttft_ms is None) == (None, False)


@pytest.mark.parametrize("steps", range(8))
async def test_stop_at_any_moment(steps: int) -> None:
    """Before the task began, while the model id is read, before the first byte, in the middle."""
    slow = Slow()
    async with turns_over(slow) as (wire, turns):
        turn = turns.start(question(), "me")
        for _ in range(steps**3):
            await asyncio.sleep(0)
        await turns.stop(turn.id, "me")
        assert turn.state == "stopped"
        was = (turn.text, len(turn.pcm), len(turn.events))
        await asyncio.sleep(0.05)
        assert (turn.text, len(turn.pcm), len(turn.events)) == was  # no late answer
        for _ in range(100):
            if not wire.chats or slow.hung_up.is_set() or not slow.began.is_set():
                break
            await asyncio.sleep(0.02)
        assert not slow.began.is_set() or slow.hung_up.is_set()


async def test_a_page_that_is_closed_leaves_nothing_running() -> None:
    slow = Slow()
    async with turns_over(slow) as (_, turns):
        mine = turns.start(question(), "me")
        yours = turns.start(question(), "you")
        await slow.began.wait()
        await turns.leave("me")
        assert (mine.state, yours.running) == ("stopped", True)


async def test_the_end_of_the_app_stops_everything_and_writes_it_down(tmp_path: Path) -> None:
    slow = Slow()
    async with turns_over(slow, tmp_path) as (_, turns):
        turn = turns.start(question(), "me", "text")
        await slow.began.wait()
        while not turn.pcm:
            await turn.changed(turn.version, 5)
    assert turn.state == "stopped"
    (written,) = _sounds(tmp_path)
    assert written == turn.wav()
    with pytest.raises(RuntimeError):
        turns.start(question(), "me")


async def test_several_readers_follow_the_speech() -> None:
    slow = Slow()

    async def read(turn: Turn, start: int) -> bytes:
        return b"".join([piece async for piece in turn.speech(start)])

    async with turns_over(slow) as (_, turns):
        turn = turns.start(question(), "me")
        early = [asyncio.create_task(read(turn, start)) for start in (0, 0, 100, 3000)]
        await slow.began.wait()
        late = asyncio.create_task(read(turn, 0))
        slow.go_on.set()
        heard = await asyncio.wait_for(asyncio.gather(*early, late), 10)
        whole = PCM * 2
        assert heard == [whole, whole, whole[100:], whole[3000:], whole]
        assert await read(turn, len(whole)) == b""
        assert await read(turn, 0) == whole  # replay, after the end


async def test_changed_waits_no_longer_than_told() -> None:
    turn = Turn(question(), "me")
    assert await turn.changed(-1, 10) == 0
    assert await turn.changed(0, 0.01) == 0
    waiting = [asyncio.create_task(turn.changed(0, 10)) for _ in range(3)]
    await asyncio.sleep(0)
    turn.heard(played_ms=100)
    assert await asyncio.gather(*waiting) == [1, 1, 1]
    assert turn.snapshot()["played_ms"] == 100


@pytest.mark.parametrize("dies", [True, False])
async def test_a_server_that_a_stop_has_killed_is_noticed(dies: bool) -> None:
    async with serving(Slow()) as wire:
        client = ServerClient(wire.base_url)
        turn = Turn(question(), "me")
        running = asyncio.create_task(turn.run(client))
        while not turn.pcm:
            await turn.changed(turn.version, 5)
        await turn.stop()
        await running
        if dies:
            wire.health = (503, b"")
        await turn.look_after(client, (0, 0.01))
        await client.close()
    assert [notice.key for notice in turn.notices] == (["stop-ended-server"] if dies else [])
    assert turn.state == "stopped"


async def test_old_turns_are_forgotten_by_number_and_by_weight() -> None:
    picture = Image(bytes(1000), 1, 1)
    chat = replay("0.26/chat_text_stream")
    async with turns_over(chat, keep=3) as (_, turns):
        kept = [await ended(turns.start(question(speech=False), "me")) for _ in range(5)]
        await asyncio.sleep(0.05)
        assert [turns.get(turn.id, "me") is not None for turn in kept] == [False, False, True, True, True]
    async with turns_over(chat, keep_bytes=2500) as (_, turns):
        kept = [await ended(turns.start(question(picture, "?", speech=False), "me")) for _ in range(4)]
        await asyncio.sleep(0.05)
        assert [turns.get(turn.id, "me") is not None for turn in kept] == [False, False, True, True]
    async with turns_over(chat, keep_bytes=1) as (_, turns):
        last = await ended(turns.start(question(picture, "?", speech=False), "me"))
        await asyncio.sleep(0.05)
        assert turns.get(last.id, "me") is last


@pytest.mark.parametrize("what", ["", "../up", "a b", "文", "a/b", "-_"])
async def test_no_name_of_a_folder_comes_from_outside(what: str) -> None:
    async with turns_over(replay("0.26/chat_text_stream")) as (_, turns):
        with pytest.raises(ValueError, match="what"):
            turns.start(question(), "me", what)


async def test_nothing_of_a_cut_turn_is_lost() -> None:
    async def chat(call: Call) -> None:
        await call.start_stream()
        await call.piece(event(text("one")) + event(audio(PACKET)))
        await asyncio.sleep(0.05)
        call.writer.close()

    async with serving(chat) as wire:
        turn = await take(wire.base_url)
    assert turn.state == "cut"
    assert isinstance(turn.error, ServerGone)
    assert b"".join([piece async for piece in turn.speech()]) == PCM
