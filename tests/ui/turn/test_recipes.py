"""The request by hand is the request: each text is run, and what reaches the server is compared with the body."""

import asyncio
import base64
import json
import os
import re
import shutil
import sys
import wave
from pathlib import Path

import pytest

from tests.ui.turn.asking import question, wav
from tests.ui.turn.wire import DONE, Call, audio, serving, stop, text
from ui.turn.parts import Audio, Image, Voice
from ui.turn.recipes import as_curl, as_powershell, as_python, put_media_aside
from ui.turn.request import Request

PICTURE = Image(os.urandom(300_000), 10, 10)  # larger than one argument of a command may be
HOSTILE = "$HOME `id` \\$(id) \\\\ \"quotes\" 'single' \n'@\nJSON\n ;base64,<<image1.jpg>> {braces} %s 你好 🎵"
VOICE = Voice("en", "Speak like this:", "Be brief.", Audio(wav(b"\1\2" * 400), 0.1))
QUESTION = question(
    PICTURE, PICTURE, Audio(wav(b"\0\1" * 800), 0.1), HOSTILE, voice=VOICE, temperature=0.5, max_tokens=9
)


async def _answer(call: Call) -> None:
    packet = base64.b64encode(wav(b"\1\2" * 240)).decode()
    await call.sse(text("hi"), audio(packet), audio(""), audio(packet), stop(), DONE)


async def _run(folder: Path, *command: str) -> str:
    environment = {"PATH": os.environ["PATH"], "http_proxy": "http://127.0.0.1:9"}
    process = await asyncio.create_subprocess_exec(
        *command, cwd=folder, env=environment, stdout=asyncio.subprocess.PIPE, stderr=asyncio.subprocess.PIPE
    )
    out, err = await asyncio.wait_for(process.communicate(), 30)
    assert process.returncode == 0, err.decode()
    return out.decode()


def _unpack(request: Request, folder: Path) -> None:
    for name, data in put_media_aside(request.body("m", "0.30"))[1].items():
        (folder / name).write_bytes(data)


def test_media_stand_aside_once_each() -> None:
    short, files = put_media_aside(QUESTION.body("m", "0.30"))
    assert sorted(files) == ["audio1.wav", "audio2.wav", "image1.jpg"]
    assert files["image1.jpg"] == PICTURE.data
    assert len(json.dumps(short)) < 2000
    assert short["ref_audio"] == short["messages"][0]["content"][1]["audio_url"]["url"]


@pytest.mark.skipif(shutil.which("curl") is None, reason="needs curl")
async def test_curl_sends_this_very_request(tmp_path: Path) -> None:
    _unpack(QUESTION, tmp_path)
    async with serving(_answer) as wire:
        script = as_curl(QUESTION.body("m", "0.30"), wire.base_url)
        printed = await _run(tmp_path, "bash", "-c", script)
        (call,) = wire.chats
    assert call.json == QUESTION.body("m", "0.30")
    assert "data: [DONE]" in printed
    assert len(script) < 3000


async def test_python_sends_this_very_request_and_keeps_the_speech(tmp_path: Path) -> None:
    _unpack(QUESTION, tmp_path)
    async with serving(_answer) as wire:
        (tmp_path / "request.py").write_text(as_python(QUESTION.body("m", "0.30"), wire.base_url), encoding="utf-8")
        printed = await _run(tmp_path, sys.executable, "request.py")
        (call,) = wire.chats
    assert call.json == QUESTION.body("m", "0.30")
    assert printed.strip() == "hi"
    with wave.open(str(tmp_path / "answer.wav")) as answer:
        assert (answer.getframerate(), answer.getnframes()) == (24_000, 480)


def test_powershell_writes_this_very_request_into_a_file(tmp_path: Path) -> None:
    """Read as PowerShell reads it (none runs here): a literal here-string, then literal replacements."""
    body = QUESTION.body("m", "0.30")
    script = as_powershell(body, "http://127.0.0.1:8091")
    assert script.isascii()
    literal = re.search(r"(?s)\$body = @'\n(.*?)\n'@\n", script)
    assert literal
    assert not [line for line in literal[1].splitlines() if line.startswith("'@")]
    written = literal[1]
    _, files = put_media_aside(body)
    for old, name in re.findall(r"\.Replace\('([^']*)', ';base64,' \+ .*?\\([\w.]+)\"", script):
        assert old in written
        written = written.replace(old, ";base64," + base64.b64encode(files.pop(name)).decode() + '"')
    assert not files
    assert json.loads(written) == body
    assert '--data-binary "@body.json"' in script


def test_a_key_is_named_and_never_written() -> None:
    body = question("hi").body("m", None)
    assert "Authorization: Bearer $OPENAI_API_KEY" in as_curl(body, "http://h", key=True)
    assert "Authorization: Bearer $env:OPENAI_API_KEY" in as_powershell(body, "http://h", key=True)
    assert "Authorization" not in as_curl(body, "http://h")
