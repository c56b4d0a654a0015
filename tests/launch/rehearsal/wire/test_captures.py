"""The requests that were put to the real servers, put to ours: same status, same keys in the same order, same words."""

from __future__ import annotations

import base64
import io
import json
from collections.abc import Iterator
from pathlib import Path

import httpx
import pytest
from PIL import Image

from launch.rehearsal.brain.canned import CannedBrain
from tests.engine import engine_thread
from tests.launch.rehearsal.wire.captures import COPIES, FOLDERS, REAL_MODEL, Capture, objects, read, shapes

TEXT = "Hi there, this is a scripted answer of the real server!"  # what the scripted model of the captures says
NOT_OURS = {
    "chat_stage_metrics",  # metrics of the real stages: a rehearsal has none to tell
    "route_tokenize",  # no tokenizer that anybody should count with
    "metrics",
    "openapi",
    "routes",
    "field_diff_vs_0.26",
}


def _cases() -> list:
    found = []
    for wire, folder in FOLDERS.items():
        copies = {file.stem: file for file in sorted((COPIES / wire).glob("*.txt"))}
        others = {file.stem: file for file in sorted(folder.glob("*.txt")) if file.stem not in copies}
        found += [
            pytest.param(wire, file, id=f"{wire}-{name}") for name, file in copies.items() if name not in NOT_OURS
        ]
        found += [
            pytest.param(wire, file, id=f"{wire}-{name}", marks=pytest.mark.shared)
            for name, file in others.items()
            if name not in NOT_OURS
        ]
    return found


@pytest.fixture(scope="module")
def engines() -> Iterator[dict[str, httpx.Client]]:
    with (
        engine_thread(CannedBrain(TEXT), wire="0.26") as old,
        engine_thread(CannedBrain(TEXT), wire="0.30") as new,
        httpx.Client(base_url=old, trust_env=False) as old_client,
        httpx.Client(base_url=new, trust_env=False) as new_client,
    ):
        yield {"0.26": old_client, "0.30": new_client}


@pytest.mark.parametrize(("wire", "file"), _cases())
def test_answers_as_the_real_server_did(wire: str, file: Path, engines: dict[str, httpx.Client], wav: bytes) -> None:
    real = read(file)
    if real.method == "GET":
        ours = engines[wire].get(real.path)
    else:
        sent = (real.sent or _unkept_body(file.stem, wav)).replace(REAL_MODEL, "rehearsal")
        ours = engines[wire].post(real.path, content=sent, headers={"content-type": "application/json"})

    assert ours.status_code == real.status
    if real.headers:
        assert ours.headers.get("content-type") == real.headers.get("content-type")
        assert ours.headers.get("transfer-encoding") == real.headers.get("transfer-encoding")
    if not real.body:
        assert ours.text == ""
    elif "error" in (first := objects(real.body)[0]):
        assert ours.json() == json.loads(_in_our_terms(json.dumps(first)))
    else:
        assert shapes(ours.text) == shapes(real.body)
    _check_lengths(real, ours.text)


def _in_our_terms(text: str) -> str:
    """The limits of the captured servers were lower than ours; the sentences are the same."""
    text = text.replace(REAL_MODEL, "rehearsal").replace("max_total_tokens=4096", "max_total_tokens=8192")
    return text.replace("At most 4 image(s)", "At most 64 image(s)")


def _check_lengths(real: Capture, ours: str) -> None:
    """Chunks of sound: a second at most, each a file of its own unless bare PCM was asked for."""
    if not real.body.startswith("data: "):
        return
    for body in (real.body, ours):
        sounds = [
            base64.b64decode(event["choices"][0]["delta"]["content"])
            for event in objects(body)
            if event != "[DONE]" and event.get("modality") == "audio"
        ]
        assert all(len(sound) <= 48_044 for sound in sounds)
    if sounds and "pcm16" not in real.sent:
        assert all(sound.startswith(b"RIFF") for sound in sounds)


def _unkept_body(name: str, wav: bytes) -> str:
    """The requests of ``chat_inputs.py``, whose captures keep the kinds of the parts only."""
    file = io.BytesIO()
    Image.new("RGB", (64, 64), "red").save(file, "PNG")
    image = {"type": "image_url", "image_url": {"url": f"data:image/png;base64,{_text(file.getvalue())}"}}
    parts = {
        "chat_image_in": [image],
        "err_too_many_images": [image] * 65,
        "chat_audio_url_in": [{"type": "audio_url", "audio_url": {"url": f"data:audio/wav;base64,{_text(wav)}"}}],
        "chat_input_audio_in": [{"type": "input_audio", "input_audio": {"data": _text(wav), "format": "wav"}}],
    }[name]
    content = [*parts, {"type": "text", "text": "what is this?"}]
    return json.dumps({"messages": [{"role": "user", "content": content}], "modalities": ["text"]})


def _text(data: bytes) -> str:
    return base64.b64encode(data).decode()


def test_the_copies_are_the_files_they_were_copied_from() -> None:
    if not FOLDERS["0.26"].is_dir():
        pytest.skip("no ../shared beside the checkout")
    for wire, folder in FOLDERS.items():
        for copy in (COPIES / wire).glob("*.txt"):
            original = folder / copy.name
            assert original.is_file(), f"{copy} was never captured"
            assert copy.read_bytes() == original.read_bytes()


def test_a_shape_tells_a_changed_wire() -> None:
    """The comparison above can fail: a missing key, another order, another constant, another type."""
    real = '{"a":1,"object":"x","b":null}'
    assert shapes(real) == shapes('{"a":7,"object":"x","b":null}')
    for other in ('{"a":1,"object":"x"}', '{"object":"x","a":1,"b":null}', '{"a":1,"object":"y","b":null}'):
        assert shapes(real) != shapes(other)
    assert shapes(real) != shapes('{"a":"1","object":"x","b":null}')
