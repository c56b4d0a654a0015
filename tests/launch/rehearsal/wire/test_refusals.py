"""Requests that must not reach the brain, in the server's words (those that were captured are in test_captures)."""

from __future__ import annotations

import io
from typing import Any

import pytest
from PIL import Image

from launch.rehearsal.brain.brain import UndecodableMedia
from launch.rehearsal.wire.dialect import CONTEXT
from tests.launch.rehearsal.wire.conftest import Engine
from tests.launch.rehearsal.wire.probes import CHAT, ProbeBrain, ask, ask_with, chunks, media


def _url(kind: str, url: str) -> dict[str, Any]:
    return ask_with({"type": f"{kind}_url", f"{kind}_url": {"url": url}})


REFUSED = [
    (ask(modalities="text"), 400, "'modalities' must be a list of strings."),
    (ask(audio={"format": "aac"}), 400, "Invalid audio format 'aac'. Supported formats: ['flac', 'mp3', 'opus',"),
    (ask(messages=[]), 400, "list object has no element 0"),
    (ask(messages=[{"role": "user", "content": [{"type": "smell"}]}]), 400, "Unknown part type: smell"),
    (_url("image", "file:///etc/hostname"), 400, "Cannot load local files without `--allowed-local-media-path`."),
    (_url("video", "file:///etc/hostname"), 400, "Cannot load local files without `--allowed-local-media-path`."),
    (_url("image", "ftp://host/a.png"), 400, "The URL must be either a HTTP, data or file URL."),
    (_url("image", "data:image/png,AAAA"), 400, "Only base64 data URLs are supported for now."),
    (_url("image", "data:image/png;base64,A"), 400, ""),
    (_url("audio", "data:audio/wav;base64,AAAA"), 400, "Invalid or unsupported audio file."),
    (_url("video", "data:video/mp4;base64,AAAA"), 400, "Could not open video stream"),
    (_url("image", "https://example.invalid/a.png"), 500, "Cannot connect to host example.invalid:443 ssl:default ["),
    (_url("image", "http://host:port/a.png"), 400, "Failed to fetch media from URL: Invalid URL"),
    (_url("image", "data:image/png;base64"), 400, "Invalid data URL 'data:image/png;base64': missing ','"),
    (ask_with({"type": "image_url", "image_url": 7}), 400, "The URL must be either a HTTP, data or file URL."),
    (ask_with(*[{"type": "video_url", "video_url": {"url": "data:,"}}] * 2), 400, "At most 1 video(s) may be provided"),
    (ask(max_tokens=0), 400, "max_tokens must be at least 1, got 0."),
    (ask(top_p=1.5), 400, "top_p must be in (0, 1], got 1.5."),
]


@pytest.mark.parametrize(
    ("body", "status", "message"), REFUSED, ids=[message[:24] or "base64" for *_, message in REFUSED]
)
@pytest.mark.parametrize("streamed", [True, False])
async def test_refused(engine: Engine, body: dict[str, Any], status: int, message: str, streamed: bool) -> None:
    brain = ProbeBrain()
    async with engine(brain) as client:
        answer = await client.post(CHAT, json={**body, "stream": streamed})
    assert answer.status_code == status
    assert answer.headers["content-type"] == "application/json"
    error = answer.json()["error"]
    assert error["message"].startswith(message)
    assert error["code"] == status
    assert not brain.asked


@pytest.mark.parametrize(("wire", "status"), [("0.26", 400), ("0.30", 500)])
async def test_a_prompt_that_is_too_long_is_refused_with_its_size(engine: Engine, wire: str, status: int) -> None:
    async with engine(ProbeBrain(), wire=wire) as client:
        fits = await client.post(CHAT, json=ask(messages=[{"role": "user", "content": "字" * 8000}]))
        over = await client.post(CHAT, json=ask(messages=[{"role": "user", "content": "字" * 9000}], max_tokens=100))
        both = await client.post(CHAT, json=ask(messages=[{"role": "user", "content": "字" * 8000}], max_tokens=500))
    assert fits.status_code == 200
    assert over.status_code == both.status_code == status
    assert over.json()["error"]["message"].startswith(
        f"This model's maximum context length is {CONTEXT} tokens. However, you requested 100 output tokens and your"
        " prompt contains at least 9010 input tokens, for a total of at least 9110 tokens."
    )


async def test_a_truncated_picture_is_refused(engine: Engine) -> None:
    file = io.BytesIO()
    Image.effect_noise((300, 300), 50).save(file, "JPEG")
    async with engine(ProbeBrain()) as client:
        answer = await client.post(CHAT, json=ask_with(media("image", file.getvalue()[:5000], "image/jpeg")))
    assert answer.status_code == 400
    assert answer.json()["error"]["message"].startswith("Failed to load image: image file is truncated")


async def test_the_old_wire_does_not_look_at_the_reference_voice(engine: Engine) -> None:
    async with engine(ProbeBrain(), wire="0.26") as client:
        assert (await client.post(CHAT, json=ask(ref_audio={"url": "x"}))).status_code == 200


async def test_the_new_wire_looks_at_it_even_inside_a_literal_extra_body(engine: Engine) -> None:
    async with engine(ProbeBrain(), wire="0.30") as client:
        answer = await client.post(CHAT, json=ask(extra_body={"ref_audio": "file:///etc/hostname"}))
    assert answer.json()["error"]["message"] == "Cannot load local files without `--allowed-local-media-path`."


async def test_a_body_that_is_not_json_by_its_type(engine: Engine) -> None:
    async with engine() as client:
        answer = await client.post(CHAT, content=b"{}", headers={"content-type": "text/plain"})
    assert answer.status_code == 400
    assert "Unsupported Media Type: Only 'application/json' is allowed" in answer.json()["error"]["message"]


class _Blind(ProbeBrain):
    async def think(self, conversation, sampling, *, spoken):
        raise UndecodableMedia("image", "it is black")
        yield


class _Broken(ProbeBrain):
    async def think(self, conversation, sampling, *, spoken):
        raise ZeroDivisionError("by zero")
        yield


@pytest.mark.parametrize(("brain", "status"), [(_Blind(), 400), (_Broken(), 500)])
async def test_what_the_brain_refuses_is_told_in_the_stream_or_by_status(
    engine: Engine, brain: ProbeBrain, status: int
) -> None:
    async with engine(brain) as client:
        whole = await client.post(CHAT, json=ask())
        stream = chunks(await client.post(CHAT, json=ask(stream=True)))
    assert whole.status_code == status
    assert stream == [whole.json()]
    assert stream[0]["error"]["code"] == status
