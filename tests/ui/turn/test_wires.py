"""What the real servers sent, byte for byte, and the shapes other versions may send."""

import base64
import json
from typing import Any

import pytest

from tests.ui.turn.asking import ask, question, take, wav
from tests.ui.turn.wire import DONE, Call, Wire, audio, captured, event, replay, serving, stop, text
from ui.turn.client import ServerClient
from ui.turn.events import Finished, Noticed, Speech, TextDelta
from ui.turn.turn import Turn

PCM = b"\x10\x10\x20\x20" * 600
PACKET = base64.b64encode(wav(PCM)).decode()


def spoken(name: str) -> bytes:
    """The PCM of a capture, by the plainest reading of it: 44 bytes of header, then samples."""
    out = b""
    for line in captured(name)[2].split(b"\n\n"):
        chunk = json.loads(line[6:]) if line.startswith(b"data: {") else {}
        if chunk.get("modality") == "audio":
            out += base64.b64decode(chunk["choices"][0]["delta"]["content"])[44:]
    return out


@pytest.mark.parametrize(
    ("name", "said", "packets"),
    [
        ("0.26/chat_tts_template_stream", "Hi there, this is a scripted answer", 3),
        ("0.26/chat_audio_only_stream", "", 3),
        ("0.30/chat_text_audio_stream", "Hi there, this is a scripted answer of the real server!", 3),
        ("0.30/chat_audio_only_stream", "", 3),
    ],
)
async def test_speech_of_the_real_servers(name: str, said: str, packets: int) -> None:
    async with serving(replay(name)) as wire:
        events = await ask(wire.base_url)
    assert "".join(event.text for event in events if isinstance(event, TextDelta)) == said
    speech = [event for event in events if isinstance(event, Speech)]
    assert len(speech) == packets
    assert b"".join(event.pcm for event in speech) == spoken(name)
    assert isinstance(events[-1], Finished)


@pytest.mark.parametrize("version", ["0.26", "0.30"])
async def test_text_of_the_real_servers_comes_token_by_token(version: str) -> None:
    async with serving(replay(f"{version}/chat_text_stream")) as wire:
        *deltas, end = await ask(wire.base_url, question(speech=False))
    assert [delta.text for delta in deltas if isinstance(delta, TextDelta)] == [
        "Hi",
        " there",
        ",",
        " this",
        " is",
        " a",
    ]
    assert isinstance(end, Finished)
    assert end.reason == "length"


@pytest.mark.parametrize(("version", "seconds"), [("0.26", 2.88), ("0.30", 2.64)])
async def test_a_proxy_that_makes_one_json_of_the_stream(version: str, seconds: float) -> None:
    """0.26 answers with two choices of the same index, 0.30 with one that holds both."""
    async with serving(replay(f"{version}/chat_text_audio_nonstream")) as wire:
        turn = await take(wire.base_url)
    assert (turn.state, turn.text) == ("done", "Hi there, this is a scripted answer")
    assert turn.figures.audio_s == pytest.approx(seconds)


@pytest.mark.parametrize(("version", "seen"), [("0.26", "0.26"), ("0.30", "0.30")])
async def test_which_wire_and_which_model(version: str, seen: str) -> None:
    health, models = captured(f"{version}/health"), captured(f"{version}/models")
    async with serving(replay(f"{version}/chat_text_stream")) as wire:
        wire.health = (health[0], health[2])
        wire.models = (models[0], json.loads(models[2]))
        client = ServerClient(wire.base_url)
        state = await client.state()
        await client.close()
    assert (state.state, state.model, state.wire) == ("ready", "openbmb/MiniCPM-o-4_5", seen)
    assert state.round_trip_ms is not None
    assert 0 < state.round_trip_ms < 2000
    assert (state.rehearsal, state.error) == (False, None)


async def test_what_reaches_the_server_is_the_body(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("http_proxy", "http://127.0.0.1:9")
    monkeypatch.setenv("ALL_PROXY", "http://127.0.0.1:9")
    request = question("你好", temperature=0.3)
    async with serving(replay("0.26/chat_tts_template_stream")) as wire:
        await ask(wire.base_url + "/v1/", request)  # as people type it
    (call,) = wire.chats
    assert call.json == request.body(wire.model, "0.26")
    assert call.headers["content-type"] == "application/json"


async def take_chunks(*chunks: dict[str, Any] | str) -> Turn:
    async def chat(call: Call) -> None:
        await call.sse(*chunks)

    async with serving(chat) as wire:
        return await take(wire.base_url)


@pytest.mark.parametrize(
    "shape",
    [
        {"delta": {"audio": PACKET}},
        {"delta": {"audio": {"data": PACKET, "id": "audio-1"}}},
        {"delta": {"audio": [PACKET]}},
        {"delta": {"audio": [{"data": PACKET}]}},
        {"delta": {"content": "", "audio": {"data": PACKET}}},
        {"delta": {"content": None, "audio": {"data": PACKET, "transcript": "no"}}},
    ],
)
@pytest.mark.parametrize("modality", [{"modality": "audio"}, {}])
async def test_sound_in_delta_audio(shape: dict, modality: dict) -> None:
    chunk = {"id": "x", "choices": [{"index": 0, "finish_reason": None} | shape]} | modality
    turn = await take_chunks(text("ok"), chunk, stop(), DONE)
    assert (turn.state, turn.text, bytes(turn.pcm)) == ("done", "ok", PCM)


async def test_all_choices_of_a_chunk_are_read() -> None:
    both = {"id": "x", "choices": [text("ok")["choices"][0], {"index": 0, "delta": {"audio": {"data": PACKET}}}]}
    turn = await take_chunks(both, stop(), DONE)
    assert (turn.text, bytes(turn.pcm)) == ("ok", PCM)


async def test_odds_and_ends_of_a_stream() -> None:
    """Comments, an empty packet, no choices, a reasoning delta, unknown fields, a stop without modality."""
    empty = {"id": "x", "choices": [], "usage": {"prompt_tokens": 1, "completion_tokens": 2, "total_tokens": 3}}
    thought = {"id": "x", "choices": [{"index": 0, "delta": {"reasoning_content": "hm"}}], "modality": "text"}
    turn = await take_chunks(
        ": ping\n\n", text(""), thought, text("ok", odd=1), audio(""), audio(PACKET), stop(), empty, DONE
    )
    assert (turn.state, turn.text, bytes(turn.pcm)) == ("done", "ok", PCM)
    assert [type(one) for one in turn.events] == [TextDelta, Speech, Speech, Finished]


async def test_a_token_without_a_letter_counts_for_the_first_text() -> None:
    """The bench goes by usage.completion_tokens: half a character is a token (protocol §2.7)."""
    half = text("") | {"usage": {"prompt_tokens": 1, "completion_tokens": 1, "total_tokens": 2}}
    turn = await take_chunks(text("", delta={"role": "assistant", "content": ""}), half, text("好"), stop(), DONE)
    assert [one.text for one in turn.events if isinstance(one, TextDelta)] == ["", "好"]


async def test_text_at_its_limit_says_so_although_the_sound_stopped_well() -> None:
    turn = await take_chunks(text("one", finish_reason="length"), audio(PACKET, finish_reason="stop"), DONE)
    assert [notice.key for notice in turn.notices] == ["answer-at-limit"]


async def test_half_a_character_is_shown_as_lost_and_breaks_nothing() -> None:
    turn = await take_chunks('data: {"choices":[{"delta":{"content":"a\\ud83d"}}],"modality":"text"}\n\n', stop(), DONE)
    assert (turn.state, turn.text) == ("done", "a?")


async def test_speech_in_a_foreign_form_is_converted_and_said() -> None:
    packet = base64.b64encode(wav(PCM * 8, rate=16_000)).decode()
    turn = await take_chunks(text("ok"), audio(packet), audio(packet), stop(), DONE)
    assert len(turn.pcm) == pytest.approx(2 * len(PCM) * 8 * 24 / 16, abs=80)
    assert [type(one) for one in turn.events].count(Noticed) == 1
    (notice,) = turn.notices
    assert (notice.key, notice.facts) == ("speech-converted", {"rate": 16_000, "channels": 1, "bits": 16})


async def test_one_byte_at_a_time() -> None:
    small = base64.b64encode(wav(PCM[:40])).decode()

    async def chat(call: Call) -> None:
        await call.start_stream()
        for byte in event(text("你好")) + event(audio(small)) + event(stop()):
            await call.piece(bytes([byte]))
        await call.piece(DONE.encode())
        await call.end_stream()

    async with serving(chat) as wire:
        turn = await take(wire.base_url)
    assert (turn.text, bytes(turn.pcm)) == ("你好", PCM[:40])


async def test_a_server_that_came_back_under_another_name_is_asked_once_more() -> None:
    async def chat(call: Call) -> None:
        if call.json["model"] != wire.model:
            await call.reply(
                404, {"error": {"message": f"The model `{call.json['model']}` does not exist.", "code": 404}}
            )
        else:
            await replay("0.26/chat_tts_template_stream")(call)

    wire: Wire
    async with serving(chat, model="old") as wire:
        client = ServerClient(wire.base_url)
        assert await client.model() == "old"
        wire.model = "new"
        events = [one async for one in client.stream(question())]
        assert isinstance(events[-1], Finished)
        assert [call.json["model"] for call in wire.chats] == ["old", "new"]
        assert await client.model() == "new"
        await client.close()
