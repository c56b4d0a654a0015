"""Every way an answer can fail has a sentence of its own, and keeps what came."""

import ast
import asyncio
import base64
import socket
from pathlib import Path
from typing import Any

import pytest

from launch.errors import InputError, OmniError
from launch.faults import catalogue, explain
from tests.ui.turn.asking import question, take, wav
from tests.ui.turn.wire import DONE, Call, audio, captured, event, replay, serving, stop, text
from ui.turn.client import ServerClient, Timeouts
from ui.turn.parts import Audio, Image, Video
from ui.turn.turn import Turn

PCM = b"\x10\x10\x20\x20" * 600
PACKET = base64.b64encode(wav(PCM)).decode()
PICTURE = Image(b"jpeg", 1, 1)


def shown(error: OmniError | None) -> str:
    """The sentences a user gets; every place in them must be filled."""
    assert error is not None
    said = [explain(error, language) for language in ("zh", "en")]
    assert not [one for one in said if error.facts and ("{" in one.cause or "—" in one.cause)], said
    return said[1].cause


@pytest.mark.parametrize(
    ("name", "key", "words"),
    [
        ("0.26/err_too_long", "prompt-too-long", "max_tokens 999999) exceeds the model's context of 4096"),
        ("0.30/err_too_long", "prompt-too-long", "max_tokens 999999) exceeds the model's context of 4096"),
        ("0.26/err_bad_temperature", "bad-setting", "temperature = -3.0"),
        ("0.30/err_bad_temperature", "bad-setting", "temperature = -3.0"),
        ("0.30/err_too_many_images", "too-many-media", "carries 5 images; the server takes at most 4"),
        ("0.26/err_bad_image", "media-undecodable", "broken or of an unknown kind"),
        ("0.30/err_bad_image", "media-undecodable", "broken or of an unknown kind"),
        ("0.30/err_ref_audio_broken", "media-undecodable", "broken or of an unknown kind"),
        ("0.26/err_bad_modality", "speech-not-served", "does not speak"),
        ("0.26/err_wrong_model", "model-id-mismatch", "differs from the served name"),
        ("0.30/err_wrong_model", "model-id-mismatch", "differs from the served name"),
    ],
)
async def test_what_the_real_servers_refuse(name: str, key: str, words: str) -> None:
    """0.30 says 500 where 0.26 says 400; the message decides."""
    async with serving(replay(name)) as wire:
        turn = await take(wire.base_url, question(*[PICTURE] * 5, "what?", max_tokens=999_999))
    assert turn.state == "failed"
    assert turn.error is not None
    assert turn.error.key == key
    assert words in shown(turn.error)
    assert captured(name)[2].decode().strip()[22:60] in turn.error.detail or turn.error.detail


MANY_VIDEOS = "At most 1 video(s) may be provided in one prompt. (parameter=video)"
MANY_SOUNDS = "At most 2 audio(s) may be provided in one prompt."
NO_ROOM = (
    "This model's maximum context length is 4096 tokens. However, you requested 4096 output tokens and your prompt"
)
TOO_LONG = "The decoder prompt (length 5000) is longer than the maximum model length of 4096."
DEAD = "EngineCore encountered an issue. See stack trace (above) for the root cause."
FIELD_26 = "1 validation error:\n  {'type': 'int_parsing', 'loc': ('body', 'seed'), 'msg': 'x'}"
FIELD_30 = "1 validation error:\n  {'type': 'int_parsing', 'loc': 'body.seed', 'msg': 'x'}"
SAID = [  # what a server says with a status and, when the answer has begun, inside the stream
    (400, MANY_VIDEOS, "too-many-media", {"sent": 2, "limit": 1}),
    (500, MANY_SOUNDS, "too-many-media", {"sent": 1, "limit": 2}),
    (400, NO_ROOM, "prompt-too-long", {"limit": 4096, "sent": 7}),
    (400, TOO_LONG, "prompt-too-long", {"limit": 4096}),
    (400, "Audio generation completed but no audio was produced.", "no-audio-in-answer", {}),
    (500, DEAD, "stage-dead", {}),
    (500, "Expected a cached item for mm_hash='09'", "mm-cache-miss", {}),
    (500, "NPU out of memory. Tried to allocate 52.00 MiB", "npu-oom", {}),
    (500, "something never seen before", "server-internal", {}),
    (400, FIELD_26, "bad-setting", {"setting": "seed"}),
    (400, FIELD_30, "bad-setting", {"setting": "seed"}),
]
BY_STATUS = [  # what only the status says
    (401, "whatever", "unauthorized", {}),
    (429, "slow down", "server-overloaded", {}),
    (413, "too big", "body-too-large", {}),
    (405, "no", "not-an-omni-server", {}),
    (502, "bad gateway", "server-not-up", {}),
    (503, "", "server-not-up", {}),
]


@pytest.mark.parametrize(
    ("status", "message", "key", "facts", "inside"),
    [*((*row, False) for row in SAID + BY_STATUS), *((*row, True) for row in SAID)],
)
async def test_the_message_decides(status: int, message: str, key: str, facts: dict[str, Any], inside: bool) -> None:
    async def chat(call: Call) -> None:
        error = {"error": {"message": message, "type": "x", "param": None, "code": status}}
        await (call.sse(text("so far"), error, DONE) if inside else call.reply(status, error))

    async with serving(chat) as wire:
        turn = await take(wire.base_url, question(Video(b"m", 1), Video(b"m", 1), Audio(b"w", 1), "hi", max_tokens=7))
    assert turn.error is not None
    assert turn.error.key == key
    assert turn.error.facts.items() >= facts.items()
    assert turn.error.detail.endswith(message)
    assert (turn.state, turn.text) == (("cut", "so far") if inside else ("failed", ""))
    for language in ("zh", "en"):
        assert "127.0.0.1:8091" not in explain(turn.error, language).cure, "that is an example; the server is known"


@pytest.mark.parametrize(
    ("status", "body", "kind", "key"),
    [
        (401, b'{"error":"Unauthorized"}', "application/json", "unauthorized"),
        (200, b"<html>sign in</html>", "text/html", "not-an-omni-server"),
        (404, b'{"detail":"Not Found"}', "application/json", "not-an-omni-server"),
        (502, b"<html><h1>502 Bad Gateway</h1></html>", "text/html", "server-not-up"),
        (200, b'{"error":{"message":"At most 4 image(s) may be provided"}}', "application/json", "too-many-media"),
        (200, b"[]", "application/json", "not-an-omni-server"),
        (200, b"", "application/json", "not-an-omni-server"),
    ],
)
async def test_answers_that_are_none(status: int, body: bytes, kind: str, key: str) -> None:
    async def chat(call: Call) -> None:
        await call.reply(status, body, kind)

    async with serving(chat) as wire:
        turn = await take(wire.base_url)
    assert (turn.state, turn.error and turn.error.key) == ("failed", key)
    shown(turn.error)


async def _closed(call: Call) -> None:
    call.writer.close()


async def _reset(call: Call) -> None:
    sock = call.writer.get_extra_info("socket")
    sock.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, b"\1\0\0\0\0\0\0\0")
    call.writer.close()


@pytest.mark.parametrize("hang_up", [_closed, _reset])
async def test_a_line_closed_before_the_answer_and_in_the_middle_of_it(hang_up: Any) -> None:
    async with serving(hang_up) as wire:
        turn = await take(wire.base_url)
    assert (turn.state, turn.error and turn.error.key) == ("failed", "closed-before-answer")

    async def chat(call: Call) -> None:
        await call.start_stream()
        for chunk in (text("one two"), audio(PACKET)):
            await call.piece(event(chunk))
        await asyncio.sleep(0.1)  # so that the client has read it: a reset throws away what is on the way
        await hang_up(call)

    async with serving(chat) as wire:
        turn = await take(wire.base_url)
    assert (turn.state, turn.error and turn.error.key) == ("cut", "stream-broken-midway")
    assert (turn.text, bytes(turn.pcm)) == ("one two", PCM)
    assert turn.wav()[44:] == PCM
    assert turn.figures.e2e_ms is None
    shown(turn.error)


async def test_a_stream_that_ends_early_but_politely() -> None:
    async def chat(call: Call) -> None:
        await call.sse(text("one two"), audio(PACKET))

    async with serving(chat) as wire:
        turn = await take(wire.base_url)
    assert (turn.state, turn.error and turn.error.key) == ("cut", "stream-broken-midway")


async def test_only_the_end_mark_was_lost() -> None:
    async def chat(call: Call) -> None:
        await call.start_stream()
        await call.piece(event(text("one")) + event(audio(PACKET)) + event(stop()))
        call.writer.close()

    async with serving(chat) as wire:
        turn = await take(wire.base_url)
    assert (turn.state, turn.error) == ("done", None)


@pytest.mark.parametrize(
    "bad", ["data: {oops\n\n", audio("!!!"), audio(base64.b64encode(b"fLaC" + bytes(50)).decode())]
)
async def test_a_chunk_that_cannot_be_read(bad: Any) -> None:
    async def chat(call: Call) -> None:
        await call.sse(text("one"), bad, stop(), DONE)

    async with serving(chat) as wire:
        turn = await take(wire.base_url)
    assert (turn.state, turn.text) == ("cut", "one")
    assert turn.error is not None
    assert turn.error.key in ("stream-broken-midway", "speech-undecodable")
    shown(turn.error)


async def test_nothing_listens() -> None:
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        turn = await take("http://{}:{}".format(*free.getsockname()))
    assert (turn.state, turn.error and turn.error.key) == ("failed", "server-not-up")
    shown(turn.error)


async def test_a_server_that_never_takes_the_line() -> None:
    """A full backlog: the connection is neither taken nor refused."""
    with socket.socket() as full:
        full.bind(("127.0.0.1", 0))
        full.listen(0)
        address = full.getsockname()
        waiting = [socket.socket() for _ in range(4)]
        try:
            for one in waiting:
                one.setblocking(False)
                one.connect_ex(address)
            turn = await take("http://{}:{}".format(*address), timeouts=Timeouts(connect_s=0.3))
        finally:
            for one in waiting:
                one.close()
    assert (turn.state, turn.error and turn.error.key) == ("failed", "timeout-connect")
    assert "0.3 s" in shown(turn.error)


async def _silent(call: Call) -> None:
    await call.hung_up()


async def _silent_after_the_head(call: Call) -> None:
    await call.start_stream()
    await call.hung_up()


@pytest.mark.parametrize("chat", [_silent, _silent_after_the_head])
async def test_nothing_comes_back(chat: Any) -> None:
    async with serving(chat) as wire:
        turn = await take(wire.base_url, timeouts=Timeouts(first_event_s=0.3, between_events_s=9))
    assert (turn.state, turn.error and turn.error.key) == ("failed", "timeout-first-event")
    assert "0.3 s" in shown(turn.error)
    assert turn.elapsed_s == pytest.approx(0.3, abs=3)


async def test_the_answer_stops_halfway_and_the_line_is_given_back() -> None:
    hung_up = asyncio.Event()

    async def chat(call: Call) -> None:
        await call.start_stream()
        await call.piece(event(text("one")))
        await call.hung_up()
        hung_up.set()

    async with serving(chat) as wire:
        turn = await take(wire.base_url, timeouts=Timeouts(first_event_s=9, between_events_s=0.2))
        await asyncio.wait_for(hung_up.wait(), 5)
    assert (turn.state, turn.text, turn.error and turn.error.key) == ("cut", "one", "timeout-between-events")
    assert "0.2 s" in shown(turn.error)


async def test_a_name_that_stays_wrong_is_asked_once_more_only_if_it_changed() -> None:
    async with serving(replay("0.26/err_wrong_model")) as wire:
        turn = await take(wire.base_url)
        assert len(wire.chats) == 1
    assert turn.error is not None
    assert turn.error.key == "model-id-mismatch"


@pytest.mark.parametrize("address", ["ftp://h:1", "http://", "http://h:port", "http://[::1", "http://me:secret@h"])
def test_an_address_that_is_none(address: str) -> None:
    with pytest.raises(InputError) as caught:
        ServerClient(address)
    assert caught.value.key == "server-address"
    assert address in shown(caught.value)


def test_every_key_that_this_room_raises_is_in_the_catalogue() -> None:
    raised = set()
    for path in (Path(__file__).resolve().parents[3] / "ui" / "turn").glob("*.py"):
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
            if isinstance(node, ast.Call) and isinstance(node.func, ast.Name) and node.args:
                first = node.args[0]
                known = ("OmniError", "InputError", "ServerError", "ServerGone", "ServerRefused", "ServerSilent")
                if node.func.id in (*known, "_Patience") and isinstance(first, ast.Constant):
                    raised.add(first.value)
    assert len(raised) > 15
    assert not raised - catalogue().keys()


async def test_a_fault_of_ours_is_told_and_not_hidden(caplog: pytest.LogCaptureFixture) -> None:
    class Broken(ServerClient):
        async def stream(self, request):
            raise RuntimeError("a mistake of ours")
            yield

    client = Broken("h:1")
    turn = Turn(question(), "me")
    await turn.run(client)
    assert (turn.state, turn.error and turn.error.key) == ("failed", "answer-not-read")
    assert "a mistake of ours" in caplog.text
    await client.close()
