"""``python app.py duplex`` against the rehearsal engine: what it prints, what it leaves, how it ends."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import threading
import wave
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import psutil
import pytest
import soundfile

import app
from launch.errors import InputError
from launch.rehearsal.brain.canned import CannedBrain
from tests.engine import engine_thread
from ui.live.duplex_input import address, given_input, given_voice

ROOT = Path(__file__).resolve().parents[3]
GUIDE = ["ok", "model_decision", "audio_chunk_count", "output_sample_rate_hz", "latency", "transcript", "errors"]
CANNED = {"text": "counted words, said at once", "audio_s": 1.2, "first_token_s": 0, "first_audio_s": 0.05, "rtf": 0.2}

FIRST_WRITE = """
import os, sys
class Spy:
    def write(self, text):
        heavy = {"gradio", "fastapi", "numpy", "openai", "httpx2", "yaml", "pydantic", "av", "websockets"} & set(sys.modules)
        sys.__stderr__.write(" ".join(sorted(heavy)) + "|" + text)
        sys.__stderr__.flush()
        os._exit(0)
    def flush(self): pass
sys.stdout = Spy()
import app
app.main(["duplex"])
"""


@pytest.fixture(scope="module", params=["0.26", "0.30"])
def engine(request: pytest.FixtureRequest) -> Iterator[str]:
    with engine_thread(CannedBrain(**CANNED), wire=request.param) as url:
        yield url


@pytest.fixture(scope="module")
def old() -> Iterator[str]:
    with engine_thread(CannedBrain(**CANNED)) as url:
        yield url


@pytest.fixture
def question(tmp_path: Path) -> Path:
    """Something said for 0.7 s, as nobody's microphone would give it: 22.05 kHz, two channels, FLAC."""
    times = np.arange(int(0.7 * 22_050)) / 22_050
    tone = 0.3 * np.sin(2 * np.pi * 220 * times) * (1 + 0.5 * np.sin(2 * np.pi * 5 * times))
    soundfile.write(tmp_path / "question.flac", np.stack([tone, tone], axis=1), 22_050)
    return tmp_path / "question.flac"


def events(folder: Path) -> list[dict[str, Any]]:
    return [json.loads(line) for line in (folder / "events.jsonl").read_text(encoding="utf-8").splitlines()]


def result(folder: Path) -> dict[str, Any]:
    return json.loads((folder / "result.json").read_text(encoding="utf-8"))


def test_a_question_is_answered_and_leaves_the_guides_files(
    engine: str, question: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    out = tmp_path / "out"
    (out / "audio_chunks").mkdir(parents=True)
    (out / "audio_chunks" / "chunk_0009.wav").write_bytes(b"of an earlier run")
    url = engine.replace("http", "ws") + "/v1/realtime?duplex=1"
    code = app.main(
        [
            "duplex",
            "--url",
            url,
            "--input-wav",
            str(question),
            "--output-dir",
            str(out),
            "--lang",
            "en",
            "--require-audio",
        ]
    )
    said = capsys.readouterr().out
    assert code == 0, said
    told = result(out)
    assert list(told)[: len(GUIDE)] == GUIDE
    assert (told["ok"], told["model_decision"], told["errors"], told["rehearsal"]) == (True, "speak", [], True)
    assert told["output_sample_rate_hz"] == 24_000
    assert told["latency"]["ttfp_ms"] > 0
    assert told["latency"]["measurement_origin"]
    chunks = sorted((out / "audio_chunks").iterdir())
    assert [path.name for path in chunks] == [f"chunk_{n:04}.wav" for n in range(1, told["audio_chunk_count"] + 1)]
    output, rate = soundfile.read(out / "output.wav", dtype="int16")
    assert rate == 24_000
    assert np.array_equal(output, np.concatenate([soundfile.read(path, dtype="int16")[0] for path in chunks]))
    both, _ = soundfile.read(out / "audio.wav", dtype="int16")
    heard = np.flatnonzero(both[:, 1])
    assert abs(int(heard[-1] - heard[0]) - len(output)) < 2_400  # all of it was heard, without a hole of 100 ms
    assert np.abs(both[: 24_000 * 2, 0]).max() > 5_000
    assert told["transcript"] == told["heard_transcript"] == CANNED["text"]
    assert CANNED["text"].split()[0] in (out / "transcript.srt").read_text(encoding="utf-8")
    wire = events(out)
    assert {row["way"] for row in wire} == {"in", "out"}
    assert {"session.update", "session.close"} <= {row["event"]["type"] for row in wire if row["way"] == "out"}
    token = next(row["event"]["resume_token"] for row in wire if row["event"]["type"] == "session.created")
    assert token == "***"
    assert all(len(json.dumps(row)) < 20_000 for row in wire)
    for word in ("listening", "speaking", CANNED["text"], "first sound", "rehearsal"):
        assert word in said


def test_silence_is_listened_to_which_is_good_unless_sound_was_required(
    old: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    with wave.open(str(tmp_path / "silence.wav"), "wb") as file:
        file.setparams((1, 2, 16_000, 0, "NONE", ""))
        file.writeframes(bytes(16_000))
    silence = ["duplex", "--url", old, "--input-wav", str(tmp_path / "silence.wav"), "--no-realtime-pacing"]
    assert app.main([*silence, "--output-dir", str(tmp_path / "a"), "--lang", "zh"]) == 0
    said = capsys.readouterr().out
    assert "在听" in said
    assert "不是故障" in said
    told = result(tmp_path / "a")
    assert (told["ok"], told["model_decision"], told["audio_chunk_count"]) == (True, "listen", 0)
    required = [*silence, "--output-dir", str(tmp_path / "b"), "--require-audio", "--timeout-s", "1", "--lang", "en"]
    assert app.main(required) == 1
    assert "--require-audio" in capsys.readouterr().out
    assert [row["key"] for row in result(tmp_path / "b")["errors"]] == ["duplex-no-sound"]


def test_ctrl_c_closes_the_session_and_leaves_whole_files(
    old: str, question: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    timer = threading.Timer(2.0, os.kill, (os.getpid(), signal.SIGINT))
    timer.start()
    try:
        app.main(["duplex", "--url", old, "--input-wav", str(question), "--output-dir", str(tmp_path), "--lang", "en"])
    finally:
        timer.cancel()
    assert "Closing the session" in capsys.readouterr().out
    assert result(tmp_path)["finished"] is True
    assert events(tmp_path)[-1]["event"]["type"] in ("session.close", "session.closed")
    both, _ = soundfile.read(tmp_path / "audio.wav")
    assert 1.0 < len(both) / 24_000 < 4.0


def test_without_a_server_the_rehearsal_engine_answers_a_sample_and_ends_with_it(tmp_path: Path) -> None:
    canned = "--brain canned --text hello --audio-s 0.5 --first-token-s 0 --first-audio-s 0 --rtf 0.1"
    command = [sys.executable, "app.py", "duplex", f"--rehearsal-args={canned}", "--output-dir", str(tmp_path / "out")]
    done = subprocess.run(
        [*command, "--lang", "en", "--no-realtime-pacing"], cwd=ROOT, capture_output=True, text=True, timeout=60
    )
    assert done.returncode == 0, done.stdout + done.stderr
    assert "not MiniCPM-o" in done.stdout
    told = result(tmp_path / "out")
    assert (told["rehearsal"], told["transcript"]) == (True, "hello")
    port = told["server"].rpartition(":")[2]
    engines = [one for one in psutil.process_iter(["cmdline"]) if "launch.rehearsal" in (one.info["cmdline"] or [])]
    assert not [one for one in engines if port in one.info["cmdline"]]


def test_the_first_line_comes_before_anything_heavy_is_imported() -> None:
    done = subprocess.run([sys.executable, "-c", FIRST_WRITE], cwd=ROOT, stderr=subprocess.PIPE, text=True, timeout=60)
    heavy, _, said = done.stderr.partition("|")
    assert heavy == ""
    assert said.startswith("Omni Showcase")


@pytest.mark.parametrize(
    "argv",
    [
        ["--input-wav", "nowhere.wav"],
        ["--chunk-ms", "5"],
        ["--chunk-ms", "short"],
        ["--timeout-s", "0"],
        ["--timeout-s", "soon"],
        ["--mic", "--input-wav", __file__],
        ["--x"],
    ],
)
def test_a_command_line_that_cannot_be_is_usage(argv: list[str], capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit) as end:
        app.main(["duplex", *argv])
    assert end.value.code == 2
    said = capsys.readouterr().err
    assert "usage" in said
    assert "value: " not in said  # argparse's own words, "invalid _seconds value: …"


def test_what_is_no_sound_and_who_is_not_there_are_findings(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (tmp_path / "words.wav").write_text("not a sound", encoding="utf-8")
    base = ["duplex", "--url", "ws://127.0.0.1:9", "--lang", "en", "--output-dir", str(tmp_path / "out")]
    assert app.main([*base, "--input-wav", str(tmp_path / "words.wav")]) == 1
    assert app.main(base) == 1
    assert "127.0.0.1:9" in capsys.readouterr().out
    assert not (tmp_path / "out").exists()


@pytest.mark.parametrize(
    ("typed", "base"),
    [
        ("ws://localhost:8091/v1/realtime?duplex=1", "http://localhost:8091"),
        ("wss://gate.example/box/v1/realtime", "https://gate.example/box"),
        ("http://127.0.0.1:8091/v1/", "http://127.0.0.1:8091"),
        ("https://gate.example", "https://gate.example"),
        ("127.0.0.1:8091", "http://127.0.0.1:8091"),
    ],
)
def test_an_address_may_be_typed_as_the_guide_does(typed: str, base: str) -> None:
    assert address(typed) == base


@pytest.mark.parametrize("typed", ["ftp://x", "ws://", "ws://name:secret@host/"])
def test_what_is_no_address_is_told(typed: str) -> None:
    with pytest.raises(InputError) as wrong:
        address(typed)
    assert wrong.value.key == "server-address"


def test_any_file_becomes_what_the_server_takes(question: Path) -> None:
    said = given_input(question, "en")
    assert abs(said.seconds - 0.7) < 0.01
    assert len(said.data) == round(said.seconds * 32_000)
    voice = given_voice(question)
    assert voice.data[:4] == b"RIFF"
    assert [notice.key for notice in voice.notices] == ["live-voice-short"]
