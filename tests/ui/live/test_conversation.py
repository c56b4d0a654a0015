"""One conversation between its session and its page: what each is told, and how it ends."""

from __future__ import annotations

import asyncio
import json
import logging
import threading
from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from launch.errors import OmniError, ServerRefused
from tests.ui.live.scripted import QUICK, Reader, ScriptedSession, house, mic, speech
from ui.live.conversation import Conversation
from ui.live.moments import Back, Closed, HeardYou, Latency, Listening, Lost, Moment, Noticed, Waiting
from ui.live.outbox import Outbox
from ui.live.page_wire import Alive, Mute, Played
from ui.live.setup import Setup

SETUP = Setup("scripted", "Be brief.", b"")


class Recorder:
    """Keeps what it is told; ``finish`` must not be called on the event loop's thread."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.error: OmniError | None = None
        self.pcm: list[bytes] = []
        self.moments: list[Moment] = []
        self.marks: list[tuple[int, float]] = []
        self.events: list[Mapping[str, Any]] = []
        self.finished_on: threading.Thread | None = None
        self.dropped_frames: int | None = None

    def microphone(self, at: float, pcm: bytes) -> None:
        assert 0 <= at < 10
        self.pcm.append(pcm)

    def moment(self, moment: Moment) -> None:
        self.moments.append(moment)

    def played(self, at: float, response: int, ms: float) -> None:
        self.marks.append((response, ms))

    def wire(self, event: Mapping[str, Any]) -> None:
        self.events.append(event)

    def finish(self, dropped_frames: int | None = None) -> Path:
        self.dropped_frames = dropped_frames
        self.finished_on = threading.current_thread()
        (self.folder / "audio.wav").write_bytes(b"RIFF of this one")
        return self.folder


async def test_every_moment_reaches_the_page_in_its_own_word() -> None:
    async with house() as it:
        id = await it.open()
        session, page = await it.session(), Reader()
        async with it.socket(id) as socket:
            session.say(
                Waiting(1, 2, 1.5),
                HeardYou(1, True),
                Listening(1.5, "model_listen"),
                Latency(2, 1, "last-listen", 120.0, None),
                Noticed(2, ServerRefused("live-page-gap")),
                Lost(3),
                Back(4, True, 0.4, 2),
            )
            await page.until(socket, "state", resumed=True)
        bare = [{key: value for key, value in word.items() if key != "seq"} for word in page.words]
        assert [word for word in bare if word["type"] not in ("clock", "notice")] == [
            {"type": "state", "state": "connecting"},
            opened := {
                "type": "state",
                "state": "open",
                "wire": "0.30",
                "barge_in": True,
                "camera": True,
                "idle_s": 300.0,
            },
            {"type": "state", "state": "waiting", "attempt": 2, "retry_s": 1.5},
            {"type": "heard", "speaking": True},
            {"type": "listen", "at": 1.5, "reason": "model_listen"},
            {"type": "latency", "response": 1, "since": "last-listen", "ttft_ms": 120.0},
            {"type": "state", "state": "lost"},
            opened | {"resumed": True, "gap_s": 0.4},
        ]
        (notice,) = page.of("notice")
        assert set(notice["cause"]) == set(notice["cure"]) == {"zh", "en"}


async def test_a_session_that_ends_by_an_error_tells_cause_and_cure() -> None:
    async with house() as it:
        id = await it.open()
        session, page = await it.session(), Reader()
        async with it.socket(id) as socket:
            session.say(Closed(1, "failed", ServerRefused("live-page-gap")))
            ended = await page.until(socket, "ended", reason="failed")
            await socket.wait_closed()
            assert socket.close_code == 1000
        assert ended["fault"]["cure"]["en"].startswith("The conversation goes on")
        async with it.socket(id, after=0) as late:  # a page that missed the end is told it, and let go
            await Reader().until(late, "ended", reason="failed")
            await late.wait_closed()
            assert late.close_code == 1000


async def test_a_fault_of_ours_is_told_as_ours_and_its_trace_is_printed(caplog: pytest.LogCaptureFixture) -> None:
    class Broken(ScriptedSession):
        def moments(self) -> Any:
            raise ZeroDivisionError("ours")

    conversation = Conversation("id", "ann", SETUP, lambda setup, log: Broken(setup, log), patience=QUICK)
    with pytest.raises(ZeroDivisionError):
        await conversation.run()
    assert conversation.ended is not None
    assert conversation.ended.fault is not None
    assert "terminal" in conversation.ended.fault.cure["en"]


async def test_a_page_that_sleeps_is_let_go_and_a_muted_one_is_not() -> None:
    async with house(patience=replace(QUICK, asleep=0.3, away=5.0)) as it:
        id = await it.open()
        await it.session()
        async with it.socket(id) as socket:
            await socket.send('{"type": "mute", "on": true}')
            await asyncio.sleep(0.6)
            assert it.conversation(id)._page is not None
            await socket.send('{"type": "mute", "on": false}')
            with pytest.raises(Exception, match="4408"):  # noqa: PT012
                while True:
                    await socket.recv()
        assert it.conversation(id).ended is None


async def test_a_page_that_was_forgotten_muted_gives_its_place_back() -> None:
    async with house(patience=replace(QUICK, muted=0.2)) as it:
        id = await it.open()
        session, page = await it.session(), Reader()
        async with it.socket(id) as socket:
            await socket.send('{"type": "mute", "on": true}')
            ended = await page.until(socket, "ended")
        assert ended["reason"] == "muted"
        assert "ten minutes" in ended["fault"]["cause"]["en"]
        assert session.state == "closed"


async def test_the_recording_sees_everything_and_can_be_fetched(tmp_path: Path) -> None:
    recorder = Recorder(tmp_path)
    async with house(record=lambda setup: recorder) as it:
        id = await it.open(record=True)
        session, page = await it.session(), Reader()
        assert session.log == recorder.wire
        async with it.http() as http, it.socket(id) as socket:
            await page.until(socket, "state", state="open")
            await socket.send(mic(0, b"\1\0" * 3200))
            await socket.send(mic(3, b"\2\0" * 3200))  # the page lost two
            session.dropped_frames = 5
            await socket.send(json.dumps({"type": "played", "response": 1, "ms": 40}))
            await socket.send(json.dumps({"type": "figures", "underruns": 1, "stall_ms": 20.5, "hidden": True}))
            session.say(speech(1, bytes(9600)))
            await page.until(socket, "clock")
            assert (await http.get(f"/live/{id}/recording/audio.wav")).status_code == 404  # not before it is whole
            await socket.send('{"type": "close"}')
            assert (await page.until(socket, "ended"))["recording"] is True
            assert recorder.pcm == [b"\1\0" * 3200, b"\2\0" * 3200]
            assert recorder.dropped_frames == 7
            assert recorder.marks == [(1, 40.0)]
            assert [type(moment).__name__ for moment in recorder.moments] == ["Opened", "Speech", "Closed"]
            assert recorder.events[0]["event"]["underruns"] == 1
            assert recorder.finished_on is not threading.main_thread()
            answer = await http.get(f"/live/{id}/recording/audio.wav")
            assert (answer.content, answer.headers["content-type"]) == (b"RIFF of this one", "audio/wav")
            whole = await http.get(f"/live/{id}/recording/recording.zip")
            assert whole.content.startswith(b"PK")
            for name in ("result.json", "..%2faudio.wav", "%2e%2e/audio.wav", "passwd"):
                assert (await http.get(f"/live/{id}/recording/{name}")).status_code == 404


async def test_a_disk_that_is_full_costs_the_recording_only() -> None:
    def full(_: Setup) -> Recorder:
        raise OSError(28, "No space left on device")

    async with house(record=full) as it:
        id = await it.open(record=True)
        session, page = await it.session(), Reader()
        async with it.socket(id) as socket:
            notice = await page.until(socket, "notice")
            assert "No space left" in notice["cause"]["en"]
            await page.until(socket, "state", state="open")
            await socket.send('{"type": "close"}')
            assert (await page.until(socket, "ended"))["recording"] is False
        assert session.state == "closed"


async def test_a_server_that_is_not_there_is_told_at_once() -> None:
    async with house() as it, it.http() as http:
        it.client.gone = True
        answer = await http.post("/live", json={})
        assert answer.status_code == 503
        assert set(answer.json()["fault"]["cause"]) == {"zh", "en"}
        assert (await http.post("/live", json={"instructions": "x" * 5000})).status_code == 422
        assert it.sessions == []


async def test_nothing_of_media_or_tickets_is_logged(caplog: pytest.LogCaptureFixture) -> None:
    caplog.set_level(logging.INFO)
    async with house(public_url="wss://public.example") as it:
        async with it.http() as http:
            opened = (await http.post("/live", json={})).json()
        ticket = opened["socket"].partition("ticket=")[2]
        async with it.socket(opened["id"], ticket=ticket, token=None) as socket:
            await Reader().until(socket, "state", state="open")
            await socket.send(mic(0, b"secret" * 100))
        records = [record.getMessage() for record in caplog.records if record.name.startswith(("ui", "uvicorn"))]
    assert not any(ticket in line or "secret" in line for line in records)


async def test_words_before_the_session_and_after_it_do_no_harm() -> None:
    conversation = Conversation("id", "ann", SETUP, ScriptedSession, patience=QUICK)
    conversation.word(Played(type="played", response=1, ms=5))
    conversation.word(Mute(type="mute", on=True))
    conversation.microphone(0, bytes(6400))
    conversation.camera(b"\xff\xd8\xff")
    conversation.leave("stop")
    await conversation.run()
    assert conversation.ended is not None
    conversation.microphone(1, bytes(6400))
    conversation.leave("again")
    assert conversation.ended.reason == "stop"


async def test_an_old_page_asks_for_what_is_gone_and_is_told_so() -> None:
    now = [0.0]
    conversation = Conversation("id", "ann", SETUP, ScriptedSession, clock=lambda: now[0], patience=QUICK)
    box = conversation.outbox
    for number in range(1, 11):
        box.say(Alive())
        box.took(number)
        now[0] += 10.0
    assert not box.holds(1)
    assert box.holds(5)
    page, number = conversation.attach(1)
    following = box.next(number)
    assert following is not None
    assert following[0] == 4
    last = box.next(10)
    assert last is not None
    assert json.loads(last[1].data)["type"] == "notice"
    conversation.detach(page)
    conversation.leave("stop")
    await conversation.run()


async def test_what_was_said_is_forgotten_a_while_after_the_end_but_not_that_it_is_over() -> None:
    async with house(patience=replace(QUICK, away=0.3)) as it:
        id = await it.open()
        session, page = await it.session(), Reader()
        async with it.socket(id) as socket:
            session.say(speech(1, bytes(48_000)), Closed(1, "closed"))
            await page.until(socket, "ended")
        box = it.conversation(id).outbox
        assert box.last == page.last
        async with it.socket(id, after=2) as socket:
            again = Reader()
            again.last = 2
            await again.until(socket, "ended")
            assert len(again.sound[1]) == 48_000
        await asyncio.sleep(0.5)
        assert len(box._frames) == 1
        for after in (None, 0, 2, page.last):
            async with it.socket(id, after=after) as socket:
                late = Reader()
                await late.until(socket, "ended")
                assert (late.last, late.sound) == (page.last, {})


async def test_what_nobody_fetches_is_bounded_by_reading_no_further() -> None:
    box = Outbox(unsent_bytes=20_000)
    box.speak(1, bytes(9_600))
    await box.room()
    box.speak(1, bytes(12_000))
    waiting = asyncio.ensure_future(box.room())
    await asyncio.sleep(0.01)
    assert not waiting.done()
    box.flush(1)
    await asyncio.wait_for(waiting, 1)
    assert [len(frame.data) for frame in box._frames] == [8, 8, 8]
