"""The body of a question, field by field (protocol §2.1-2.3)."""

import base64
import json

import pytest

from tests.ui.turn.asking import question
from ui.turn.parts import Audio, Image, Message, Settings, Text, Video, Voice
from ui.turn.recipes import put_media_aside
from ui.turn.request import Request, Wire

JPEG = Image(b"\xff\xd8jpeg", 4, 3)
WAV = Audio(b"RIFFsound", 1.0)
MP4 = Video(b"\0\0\0\x18ftyp", 2.0)
VOICE = Voice("zh", "模仿下面的声音。", "你是助手。", Audio(b"RIFFvoice", 3.0))


def test_the_smallest_question_with_speech() -> None:
    assert question("你好").body("m", "0.26") == {
        "model": "m",
        "messages": [{"role": "user", "content": "你好"}],
        "modalities": ["text", "audio"],
        "stream": True,
        "stream_options": {"include_usage": True},
        "chat_template_kwargs": {"use_tts_template": True, "enable_thinking": False},
    }


def test_without_speech_the_template_is_left_alone() -> None:
    body = question("hi", speech=False).body("m", "0.30")
    assert body["modalities"] == ["text"]
    assert "chat_template_kwargs" not in body


def test_only_what_was_set_is_sent() -> None:
    body = question("hi", max_tokens=64, temperature=0.0, seed=0).body("m", None)
    assert (body["max_tokens"], body["temperature"], body["seed"]) == (64, 0.0, 0)
    assert not {"max_tokens", "temperature", "seed"} & question("hi").body("m", None).keys()


def test_each_medium_is_a_data_url_in_the_order_given() -> None:
    (message,) = question(JPEG, WAV, MP4, "what is it?").body("m", None)["messages"]
    assert message["content"] == [
        {"type": "image_url", "image_url": {"url": "data:image/jpeg;base64,/9hqcGVn"}},
        {"type": "audio_url", "audio_url": {"url": "data:audio/wav;base64,UklGRnNvdW5k"}},
        {"type": "video_url", "video_url": {"url": "data:video/mp4;base64,AAAAGGZ0eXA="}},
        {"type": "text", "text": "what is it?"},
    ]


def test_the_voice_is_text_sound_text_and_its_timbre_goes_only_to_a_server_that_reads_it() -> None:
    sound = {"type": "audio_url", "audio_url": {"url": "data:audio/wav;base64,UklGRnZvaWNl"}}
    expected: dict[Wire | None, str | None] = {"0.26": None, None: None, "0.30": "data:audio/wav;base64,UklGRnZvaWNl"}
    for wire, at_root in expected.items():
        body = question("hi", voice=VOICE).body("m", wire)
        assert body["messages"][0] == {
            "role": "system",
            "content": [{"type": "text", "text": "模仿下面的声音。"}, sound, {"type": "text", "text": "你是助手。"}],
        }
        assert body.get("ref_audio") == at_root


def test_a_voice_without_a_sound_or_without_speech_is_a_text() -> None:
    for request in (
        question("hi", voice=Voice("en", "Be brief.", "In English.")),
        question("hi", voice=VOICE, speech=False),
    ):
        body = request.body("m", "0.30")
        assert isinstance(body["messages"][0]["content"], str)
        assert "ref_audio" not in body
    assert question("hi", voice=Voice("en", "")).body("m", None)["messages"][0]["role"] == "user"


def test_the_whole_history_goes_out_with_its_media() -> None:
    history = (
        Message("user", (JPEG, Text("what?"))),
        Message("assistant", (Text("a cat"),)),
        Message("user", (Text("why?"),)),
    )
    sent = Request(history, Settings()).body("m", None)["messages"]
    assert [message["role"] for message in sent] == ["user", "assistant", "user"]
    assert sent[0]["content"][0]["type"] == "image_url"
    assert sent[1]["content"] == "a cat"


def test_media_are_counted_as_the_server_counts_them() -> None:
    request = question(JPEG, JPEG, WAV, "hi", voice=VOICE)
    assert (request.count(Image), request.count(Audio), request.count(Video)) == (2, 2, 0)
    assert question(WAV, voice=VOICE, speech=False).count(Audio) == 1


def test_short_is_the_body_with_its_media_beside_it() -> None:
    request = question(JPEG, JPEG, WAV, MP4, "what is it?", voice=VOICE)
    assert request.short("m", "0.30") == put_media_aside(request.body("m", "0.30"))
    assert list(request.short("m", "0.30")[1]) == ["audio1.wav", "image1.jpg", "audio2.wav", "video1.mp4"]


@pytest.mark.parametrize("size", [0, 1, 2, 3, 1_000_000])
def test_encoded_is_the_body(size: int) -> None:
    request = question(
        Video(bytes(range(256)) * (size // 256 + 1), 1.0), '引号 " 和 \\ 和 \n 换行', "\ud83d", voice=VOICE
    )
    sent = json.loads(request.encoded("m", "0.30"))
    assert sent == request.body("m", "0.30")
    url = sent["messages"][1]["content"][0]["video_url"]["url"]
    assert base64.b64decode(url.partition(",")[2]) == request.messages[0].parts[0].data  # type: ignore[union-attr]


def test_a_reference_voice_is_never_one_sound_too_many() -> None:
    full = Request((Message("user", (WAV,) * 64),), Settings(), VOICE)
    assert full.count(Audio) == 64
    assert full.body("m", "0.26")["messages"][0] == {"role": "system", "content": "模仿下面的声音。\n你是助手。"}
    assert "ref_audio" not in full.body("m", "0.30")
    assert Request((Message("user", (WAV,) * 63),), Settings(), VOICE).count(Audio) == 64
