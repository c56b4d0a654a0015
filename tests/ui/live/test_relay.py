"""The page's socket: frames both ways, breaks at every event, hostile pages, strangers."""

from __future__ import annotations

import asyncio
import json
import random
from dataclasses import replace

import pytest
import websockets

from tests.ui.live.scripted import QUICK, House, Reader, house, mic, speech
from ui.live.moments import Caption, Interrupted, Listening, Moment, Speaking, Spoken, Unknown
from ui.live.page_wire import CAMERA, HEADER, MICROPHONE, TEXT_MOST
from ui.live.relay import Limits
from ui.live.tickets import Tickets

SECOND = bytes(range(256)) * 187 + bytes(128)  # 24,000 samples, no two neighbours alike


def answer(response: int) -> list[Moment]:
    """One answer of two seconds of sound that is like no other's."""
    sound = bytes((it + response) % 256 for it in SECOND)
    return [
        Listening(response, "model_listen"),
        Speaking(response, response, f"resp-{response}"),
        speech(response, sound),
        Caption(response, response, f"first half {response}", 1000.0),
        speech(response, sound[::-1]),
        Caption(response, response, "second half", 2000.0),
        Spoken(response, response, "completed", "stop", "both", 2000.0),
    ]


def sound_of(moments: list[Moment], response: int) -> bytes:
    return b"".join(getattr(it, "pcm", b"") for it in moments if getattr(it, "response", 0) == response)


async def until_said(page: Reader, socket: websockets.ClientConnection, moments: list[Moment]) -> None:
    """Reads until the last ``Spoken`` of ``moments``."""
    last = [it for it in moments if isinstance(it, Spoken)][-1]
    await page.until(socket, "spoken", response=last.response)


async def test_frames_go_both_ways_through_one_port() -> None:
    async with house() as it:
        id = await it.open(instructions="guide", language="zh")
        async with it.socket(id) as socket:
            session, page = await it.session(), Reader()
            await page.until(socket, "state", state="open", wire="0.30", barge_in=True, camera=True)
            assert session.setup.instructions.startswith("你是展台上的讲解员")
            assert session.setup.reference.startswith(b"RIFF")

            picture = b"\xff\xd8\xff" + bytes(1000)
            await socket.send(mic(0, b"\1\2" * 3200))
            await socket.send(HEADER.pack(CAMERA, 0) + picture)
            await socket.send(mic(1, b"\3\4" * 100))
            session.say(Speaking(1.0, 1, "r"), speech(1, SECOND), Caption(1.1, 1, "hello", 1000.0))
            await page.until(socket, "caption", response=1, text="hello")
            assert page.sound == {1: SECOND}
            await socket.send(json.dumps({"type": "played", "response": 1, "ms": 250.5}))
            await socket.send(json.dumps({"type": "interrupt", "by": "stop"}))
            await page.until(socket, "flush", response=1, by="stop")
            assert session.heard == [(b"\1\2" * 3200, None), (b"\3\4" * 100, picture)]
            assert session.acks == [(1, 250.5)]
            session.say(Spoken(1.5, 1, "cancelled", "barge_in", "hello", 1000.0))
            await page.until(socket, "spoken", status="cancelled", text="hello")

            await socket.send(json.dumps({"type": "close"}))
            ended = await page.until(socket, "ended")
            assert (ended["reason"], ended["recording"], page.of("state")[-1]["state"]) == ("stop", False, "closed")
            await socket.wait_closed()
            assert socket.close_code == 1000
            assert session.state == "closed"
        await it.quiet()


async def test_the_sockets_address_is_relative_to_the_page() -> None:
    async with house() as it, it.http() as http:
        opened = (await http.post("/live", json={})).json()
        assert opened["socket"] == f"live/{opened['id']}/socket"
        assert (await http.post(f"/live/{opened['id']}/ticket")).json() == {"socket": opened["socket"]}


async def test_every_text_frame_has_a_number_and_every_speech_frame_takes_one() -> None:
    async with house() as it:
        id = await it.open()
        session = await it.session()
        session.say(*answer(1), Unknown(1.0, {"type": "new.thing"}))
        async with it.socket(id) as socket:
            count = 0
            async with asyncio.timeout(5):
                while True:
                    frame, count = await socket.recv(), count + 1
                    if isinstance(frame, str):
                        word = json.loads(frame)
                        assert word["seq"] == count
                        if word["type"] == "unknown":
                            assert word["event"] == {"type": "new.thing"}
                            return


async def test_a_page_that_comes_back_at_any_event_misses_nothing_and_hears_nothing_twice() -> None:
    """The socket is cut, without a goodbye, after each number of frames in turn, while the session speaks on."""
    first, second = answer(1), answer(2)
    async with house(limit=99, patience=replace(QUICK, tick=60.0)) as it:
        for cut in range(1, 18):  # connecting, open, and the fifteen frames of the first answer
            token = it.guard.issue()
            id = await it.open(token)
            session = await it.session(cut)
            session.say(*first)
            page = Reader()
            async with it.socket(id, token=token) as socket:
                while page.last < cut:
                    page.take(await socket.recv())
                session.say(*second[:3])
                socket.transport.abort()
            session.say(*second[3:])
            async with it.socket(id, after=page.last, token=token) as socket:
                await until_said(page, socket, second)
            for response, moments in ((1, first), (2, second)):
                assert page.sound[response] == sound_of(moments, response), f"cut after {cut}"
                captions = [it["text"] for it in page.of("caption") if it["response"] == response]
                assert captions == [f"first half {response}", "second half"]
            assert [it["response"] for it in page.of("spoken")] == [1, 2]


async def test_many_cuts_in_one_conversation() -> None:
    chance = random.Random(4)
    said = [moment for response in range(1, 30) for moment in answer(response)]
    async with house() as it:
        id = await it.open()
        session, page = await it.session(), Reader()
        for moment in said:
            session.say(moment)
        while len(page.of("spoken")) < 29:
            async with it.socket(id, after=page.last) as socket:
                for _ in range(chance.randrange(1, 40)):
                    page.take(await socket.recv())
                    if len(page.of("spoken")) == 29:
                        break
                socket.transport.abort()
        assert all(page.sound[response] == sound_of(said, response) for response in range(1, 30))


async def test_after_a_flush_nothing_of_that_answer_is_sent_and_the_count_stays_true() -> None:
    async with house() as it:
        id = await it.open()
        session = await it.session()
        session.say(Speaking(1, 1, "r"), speech(1, SECOND), Interrupted(1.1, 1, "model"), Speaking(2, 2, "s"))
        session.say(speech(2, SECOND))
        session.say(Spoken(2, 2, "completed", "", "", 1000.0))
        await asyncio.sleep(0.05)  # all of it is there before the page is
        page = Reader()
        async with it.socket(id) as socket:
            await page.until(socket, "spoken", response=2)
        assert page.sound == {1: b"", 2: SECOND}
        assert page.of("flush") == [{"seq": page.of("flush")[0]["seq"], "type": "flush", "response": 1, "by": "model"}]


async def test_a_second_page_takes_over_and_begins_with_the_state() -> None:
    async with house() as it:
        id = await it.open()
        session, old, new = await it.session(), Reader(), Reader()
        async with it.socket(id) as first:
            session.say(*answer(1))
            await until_said(old, first, answer(1))
            async with it.socket(id) as second:
                await first.wait_closed()
                assert first.close_code == 4409
                assert (await new.until(second, "state"))["state"] == "open"
                session.say(*answer(2))
                await until_said(new, second, answer(2))
                assert list(new.sound) == [2]
        assert session.state == "live"


async def test_a_page_that_stops_reading_is_closed_and_gets_the_rest_when_it_returns() -> None:
    limits, patience = Limits(send_s=0.3, close_s=0.1), replace(QUICK, away=10.0, tick=60.0)
    async with house(limits=limits, patience=patience) as it:
        id = await it.open()
        session, page = await it.session(), Reader()
        async with it.deaf_socket(id):
            session.say(*[speech(1, SECOND)] * 300)  # 14 MB, more than the kernel's buffers take
            async with asyncio.timeout(5):
                while it.conversation(id).outbox.sent < 5:  # noqa: ASYNC110
                    await asyncio.sleep(0.01)
                while it.conversation(id)._page is not None:  # noqa: ASYNC110
                    await asyncio.sleep(0.01)
        assert it.conversation(id).outbox.last - it.conversation(id).outbox.sent > 500
        session.say(Spoken(2, 1, "completed", "", "", 300_000.0))
        async with it.socket(id, after=0) as socket:
            await page.until(socket, "spoken")
        assert page.sound[1] == SECOND * 300


async def test_a_page_that_vanishes_frees_the_servers_session() -> None:
    async with house(patience=replace(QUICK, away=0.2)) as it:
        id = await it.open()
        session = await it.session()
        async with it.socket(id) as socket:
            await Reader().until(socket, "state", state="open")
            socket.transport.abort()
        await it.quiet()
        assert session.state == "closed"
        ended = it.conversation(id).ended
        assert ended is not None
        assert ended.reason == "page-gone"


async def test_a_page_that_never_comes_frees_it_too() -> None:
    async with house(patience=replace(QUICK, away=0.1)) as it:
        await it.open()
        session = await it.session()
        await it.quiet()
        assert session.state == "closed"


async def test_lost_and_repeated_microphone_frames_are_counted_and_passed_over() -> None:
    async with house() as it:
        id = await it.open()
        session, page = await it.session(), Reader()
        async with it.socket(id) as socket:
            await page.until(socket, "state", state="open")
            for number in (0, 1, 5, 5, 3, 6):
                await socket.send(mic(number, bytes([number, 0])))
            session.dropped_frames = 2
            clock = await page.until(socket, "clock", dropped_frames=5)
            assert clock["idle_left_s"] == 300.0
            assert [pcm[0] for pcm, _ in session.heard] == [0, 1, 5, 6]
            socket.transport.abort()
        async with it.socket(id, after=page.last) as socket:
            await socket.send(mic(6, b"\6\0"))
            await socket.send(mic(9, b"\11\0"))
            await page.until(socket, "clock", dropped_frames=7)
            assert [pcm[0] for pcm, _ in session.heard] == [0, 1, 5, 6, 9]


@pytest.mark.parametrize(
    "frame",
    [
        b"",
        b"\1",
        HEADER.pack(MICROPHONE, 0),
        mic(0, b"\0" * 6401),
        mic(0, b"\0" * 6402),
        mic(0, b"odd"),
        HEADER.pack(3, 1) + b"\0\0",
        HEADER.pack(77, 1) + b"\0\0",
        HEADER.pack(CAMERA, 1) + b"GIF89a",
        "",
        "nonsense",
        "[" * 1000,
        '{"type":' * 200,
        '{"type": "played"}',
        '{"type": "played", "response": 1e400, "ms": 1}',
        '{"type": "played", "response": 1, "ms": -1}',
        '{"type": "played", "response": 1, "ms": NaN}',
        '{"type": "interrupt", "by": "somebody"}',
        '{"type": "state"}',
        "\0",
    ],
    ids=repr,
)
async def test_a_frame_nobody_can_read_is_passed_over(frame: str | bytes) -> None:
    async with house() as it:
        id = await it.open()
        session = await it.session()
        async with it.socket(id) as socket:
            await socket.send(frame)
            await socket.send(mic(0))
            await socket.send('{"type": "interrupt", "by": "voice"}')
            await Reader().until(socket, "flush", by="voice")
            assert session.heard == [(bytes(6400), None)]
            assert session.acks == []


@pytest.mark.parametrize(
    ("frame", "code"),
    [
        (HEADER.pack(CAMERA, 0) + b"\xff\xd8\xff" + bytes(1 << 20), 1009),
        (bytes(3 << 20), 1009),
        ('{"type": "mute", "on": true}' + " " * TEXT_MOST, 1009),
    ],
    ids=["picture", "anything", "text"],
)
async def test_a_frame_that_is_too_long_closes_the_socket(frame: str | bytes, code: int) -> None:
    async with house() as it:
        id = await it.open()
        async with it.socket(id) as socket:
            with pytest.raises(websockets.ConnectionClosed):  # noqa: PT012 - the socket may close while we send
                await socket.send(frame)
                while True:
                    await socket.recv()
            assert socket.close_code == code


@pytest.mark.parametrize("frame", [mic(0), b"\77" * 100, '{"type": "mute", "on": false}'], ids=["mic", "junk", "text"])
async def test_a_flood_closes_the_socket_and_not_the_app(frame: str | bytes) -> None:
    async with house() as it:
        id = await it.open()
        session = await it.session()
        async with it.socket(id) as socket:
            with pytest.raises(websockets.ConnectionClosed):  # noqa: PT012
                for _ in range(5_000):
                    await socket.send(frame)
                while True:
                    await socket.recv()
            assert socket.close_code == 1008
        assert len(session.heard) <= 1
        async with it.socket(id) as socket:
            await Reader().until(socket, "state", state="open")


async def refused(it: House, *args: object, **how: object) -> int | None:
    async with it.socket(*args, **how) as socket:  # type: ignore[arg-type]
        await socket.wait_closed()
        return socket.close_code


async def test_strangers_are_turned_away() -> None:
    async with house() as it:
        id = await it.open()
        assert await refused(it, id, token=None) == 4403
        assert await refused(it, id, token="forged.token") == 4403
        assert await refused(it, id, origin="https://elsewhere.example") == 4403
        assert await refused(it, id, token=it.theirs) == 4404
        assert await refused(it, "nothing") == 4404
        assert await refused(it, id, ticket="invented") == 4403
        for token, origin, code in (
            (None, None, 403),
            (it.mine, "https://elsewhere.example", 403),
            (it.theirs, None, 404),
        ):
            async with it.http(token, origin) as http:
                assert (await http.post(f"/live/{id}/close")).status_code == code
                assert (await http.post(f"/live/{id}/ticket")).status_code == code
                assert (await http.get(f"/live/{id}/recording/audio.wav")).status_code in (403, 404)
                if code == 403:
                    assert (await http.post("/live", json={})).status_code == 403
                    assert (await http.post("/live/voice", content=b"RIFF")).status_code == 403
        async with it.http(None) as http:
            assert (await http.get("/live/state")).status_code == 403
        assert (await it.session()).state == "live"


async def test_a_ticket_admits_once_from_the_same_origin_only() -> None:
    async with house(public_url="wss://public.example/app", limit=9) as it:

        async def ticket(id: str) -> str:
            async with it.http() as http:
                socket = (await http.post(f"/live/{id}/ticket")).json()["socket"]
            address, _, ticket = socket.partition("?ticket=")
            assert address == f"wss://public.example/app/live/{id}/socket"
            return ticket

        id = await it.open()
        other = await it.open(it.theirs)
        public = {"token": None, "origin": it.url}  # no cookie; the gateway's host is not the page's
        good = await ticket(id)
        async with it.socket(id, ticket=good, **public) as socket:
            await Reader().until(socket, "state", state="open")
            assert await refused(it, id, ticket=good, **public) == 4403
        assert await refused(it, id, ticket=await ticket(id), token=None, origin="https://elsewhere.example") == 4403
        assert await refused(it, other, ticket=await ticket(id), **public) == 4403
        spoilt = await ticket(id)
        assert await refused(it, other, ticket=spoilt, **public) == 4403
        assert await refused(it, id, ticket=spoilt, **public) == 4403


async def test_an_old_ticket_is_worth_nothing() -> None:
    now = [0.0]
    tickets = Tickets(lambda: now[0])
    key = tickets.issue("id", "owner", "https://a")
    late = tickets.issue("id", "owner", "https://a")
    assert tickets.take(key, "id", "https://a") == "owner"
    now[0] = 31.0
    assert tickets.take(late, "id", "https://a") is None
    keys = [tickets.issue("id", "owner", "https://a") for _ in range(1000)]
    assert len(tickets._tickets) <= 256
    assert tickets.take(keys[-1], "id", "https://a") == "owner"
