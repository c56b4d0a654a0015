"""What the page can fetch of a turn, and who may."""

from __future__ import annotations

import asyncio
import io
import json
import wave
import zipfile

import pytest
import websockets

from launch.errors import ServerGone
from tests.ui.live.conftest import Channel
from ui.turn.events import Failed, Finished, Speech, TextDelta

SECOND = bytes(range(256)) * 187 + bytes(128)  # 24,000 frames, no two neighbours alike


async def sound(socket: websockets.ClientConnection) -> tuple[bytes, dict[str, object]]:
    """All PCM of a socket, and its last word."""
    pcm = b""
    async for frame in socket:
        if isinstance(frame, bytes):
            assert len(frame) % 2 == 0
            assert len(frame) <= 9_600
            pcm += frame
        elif (word := json.loads(frame))["type"] == "end":
            return pcm, word
    raise AssertionError("closed before the end")


async def test_sound_comes_as_it_is_made_and_ends_with_the_turn(channel: Channel) -> None:
    turn = channel.turn()
    async with channel.socket(turn) as socket:
        channel.say(TextDelta(0.1, "hi"), Speech(0.2, SECOND))
        first = await socket.recv()
        assert first == SECOND[:9_600]
        assert turn.running
        channel.say(Speech(0.3, b""), Speech(0.4, SECOND[:1_000]), Finished(0.5, "stop"), None)
        rest, end = await sound(socket)
        assert first + rest == SECOND + SECOND[:1_000]
        assert end == {"type": "end", "state": "done", "frames": 24_500}


async def test_a_broken_link_goes_on_where_it_broke_and_any_number_may_listen(channel: Channel) -> None:
    turn = channel.turn()
    channel.say(Speech(0.2, SECOND), Finished(0.5, "stop"), None)
    async with channel.socket(turn, 10_000) as one, channel.socket(turn) as two:
        (late, _), (whole, _) = await asyncio.gather(sound(one), sound(two))
    assert (late, whole) == (SECOND[20_000:], SECOND)
    async with channel.socket(turn, 99_999_999) as past:
        assert (await sound(past))[0] == b""
    async with channel.http(channel.mine) as http:
        assert (await http.get(f"/turns/{turn.id}/speech.pcm?start=10000")).content == SECOND[20_000:]


async def test_a_cut_answer_keeps_what_came(channel: Channel) -> None:
    turn = channel.turn()
    channel.say(Speech(0.2, SECOND), Failed(0.5, ServerGone("server-died")), None)
    async with channel.socket(turn) as socket:
        pcm, end = await sound(socket)
    assert (pcm, end["state"]) == (SECOND, "cut")


async def test_what_was_heard_becomes_figures_and_nonsense_does_not(channel: Channel) -> None:
    turn = channel.turn()
    channel.say(Speech(0.2, SECOND), Finished(0.5, "stop"), None)
    async with channel.socket(turn) as socket:
        await sound(socket)
        for odd in (
            "{",
            '{"type":"heard","stall_ms":-1}',
            '{"type":"heard","stall_ms":1e999}',
            '{"type":"other"}',
            "[]",
        ):
            await socket.send(odd)
        await socket.send(
            json.dumps(
                {"type": "heard", "first_sound_ms": 431.5, "stall_ms": 0, "stall_longest_ms": 0, "played_ms": 900}
            )
        )
        version = turn.version
        while turn.played_ms is None:
            version = await turn.changed(version, 5)
    assert (turn.figures.first_sound_ms, turn.figures.stall_ms, turn.played_ms) == (431.5, 0, 900)
    async with channel.http(channel.mine) as http:
        assert (await http.post(f"/turns/{turn.id}/heard", json={"played_ms": 1_000})).status_code == 204
        assert (await http.post(f"/turns/{turn.id}/heard", json={"played_ms": "soon"})).status_code == 422
    assert (turn.figures.first_sound_ms, turn.played_ms) == (431.5, 1_000)


@pytest.mark.parametrize("words", ["x" * 2_000, b"\x00\x01"])
async def test_a_page_that_talks_nonsense_at_length_is_let_go(channel: Channel, words: str | bytes) -> None:
    turn = channel.turn()
    async with channel.socket(turn) as socket:
        await socket.send(words)
        with pytest.raises(websockets.ConnectionClosed):
            await asyncio.wait_for(socket.recv(), 5)
    assert turn.running, "the answer goes on; the page may come back"


async def test_a_page_that_leaves_takes_its_reader_along(channel: Channel) -> None:
    turn = channel.turn()
    async with channel.socket(turn):
        await asyncio.sleep(0.05)
        assert readers() == 1
    for _ in range(200):
        if not readers():
            break
        await asyncio.sleep(0.01)
    assert readers() == 0
    channel.say(Speech(0.2, SECOND), Finished(0.3, "stop"), None)
    async with channel.socket(turn) as socket:
        assert (await sound(socket))[0] == SECOND


def readers() -> int:
    return sum(task.get_name().startswith("speech ") for task in asyncio.all_tasks())


async def test_stop_ends_the_turn_for_every_listener(channel: Channel) -> None:
    turn = channel.turn()
    channel.say(Speech(0.2, SECOND))
    async with channel.socket(turn) as socket, channel.http(channel.mine) as http:
        await socket.recv()
        assert (await http.post(f"/turns/{turn.id}/stop")).status_code == 204
        assert (await sound(socket))[1]["state"] == "stopped"


@pytest.mark.parametrize(
    ("whose", "origin", "code"), [("", None, 4403), ("theirs", None, 4404), ("mine", "http://elsewhere.example", 4403)]
)
async def test_sockets_of_strangers_are_told_why_and_hear_nothing(
    channel: Channel, whose: str, origin: str | None, code: int
) -> None:
    turn = channel.turn()
    channel.say(Speech(0.2, SECOND))
    token = {"": "", "theirs": channel.theirs, "mine": channel.mine}[whose]
    async with channel.socket(turn, token=token, origin=origin) as socket:
        with pytest.raises(websockets.ConnectionClosed) as closed:
            await socket.recv()
    assert closed.value.rcvd is not None
    assert closed.value.rcvd.code == code


PATHS = ["speech.pcm", "answer.wav", "snapshot", "turn.zip", "request.sh", "request.ps1", "request.py", "events"]


@pytest.mark.parametrize("path", PATHS)
async def test_everything_of_a_turn_is_its_owners_alone(channel: Channel, path: str) -> None:
    turn = channel.turn()
    channel.say(TextDelta(0.1, "你好 <b>"), Speech(0.2, SECOND), Finished(0.5, "stop"), None)
    async with channel.http(channel.mine) as http:
        answer = await http.get(f"/turns/{turn.id}/{path}")
        assert answer.status_code == 200
        assert answer.content
        assert (await http.get(f"/turns/{turn.id}x/{path}")).status_code == 404
    async with channel.http(channel.theirs) as http:
        assert (await http.get(f"/turns/{turn.id}/{path}")).status_code == 404
    async with channel.http(None) as http:
        assert (await http.get(f"/turns/{turn.id}/{path}")).status_code == 403


@pytest.mark.parametrize("path", ["stop", "heard"])
async def test_another_sites_page_cannot_press_anything(channel: Channel, path: str) -> None:
    turn = channel.turn()
    async with channel.http(channel.mine, origin="http://elsewhere.example") as http:
        assert (await http.post(f"/turns/{turn.id}/{path}", json={})).status_code == 403
    assert turn.running


async def test_files_and_texts_are_what_they_say(channel: Channel) -> None:
    turn = channel.turn()
    channel.say(TextDelta(0.1, "你好 <b>"), Speech(0.2, SECOND), Finished(0.5, "stop"), None)
    async with channel.http(channel.mine) as http:
        await http.get(f"/turns/{turn.id}/speech.pcm")  # returns when the turn has ended
        wav = await http.get(f"/turns/{turn.id}/answer.wav")
        with wave.open(io.BytesIO(wav.content)) as file:
            assert (file.getframerate(), file.readframes(99_999)) == (24_000, SECOND)
        assert 'filename="omni-text-' in wav.headers["content-disposition"]
        saved = zipfile.ZipFile(io.BytesIO((await http.get(f"/turns/{turn.id}/turn.zip")).content))
        assert {"answer.wav", "events.jsonl", "request.sh"} <= set(saved.namelist())
        rows = [json.loads(line) for line in (await http.get(f"/turns/{turn.id}/events")).text.splitlines()]
        assert [row["type"] for row in rows] == ["text", "speech", "finished"]
        assert rows[1]["bytes"] == len(SECOND)
        curl = await http.get(f"/turns/{turn.id}/request.sh")
        assert "http://127.0.0.1:8091/v1/chat/completions" in curl.text
        assert "Bearer $OPENAI_API_KEY" in curl.text
        for answer in (curl, await http.get(f"/turns/{turn.id}/events")):
            assert answer.headers["content-type"].startswith("text/plain"), "never HTML: the model wrote some of it"
        assert (await http.get(f"/turns/{turn.id}/request.exe")).status_code == 422
