"""The door: what is said at once, where options come from, what happens at the end."""

from __future__ import annotations

import json
import os
import signal
import socket
import subprocess
import sys
import time
import urllib.request
from pathlib import Path
from typing import IO

import psutil
import pytest

import app
from tests.running import ROOT, RunningApp, running_app, shared_app

FIRST_WRITE = """
import os, sys
class Spy:
    def write(self, text):
        heavy = {"gradio", "fastapi", "numpy", "pandas", "openai", "httpx2", "yaml", "psutil", "uvicorn"} & set(sys.modules)
        sys.__stderr__.write(" ".join(sorted(heavy)) + "|" + text)
        sys.__stderr__.flush()
        os._exit(0)
    def flush(self): pass
sys.stdout = Spy()
import app
app.main(["--port", "0"])
"""


@pytest.fixture(scope="module")
def running() -> RunningApp:
    return shared_app()


def test_the_first_line_comes_before_anything_heavy_is_imported() -> None:
    done = subprocess.run([sys.executable, "-c", FIRST_WRITE], cwd=ROOT, stderr=subprocess.PIPE, text=True, timeout=60)
    heavy, _, said = done.stderr.partition("|")
    assert heavy == ""
    assert said.startswith("Omni Showcase")


def test_a_port_that_is_taken_is_told_with_its_holder_and_a_cure() -> None:
    with socket.socket() as other:
        other.bind(("127.0.0.1", 0))
        other.listen()
        port = other.getsockname()[1]
        command = [sys.executable, "app.py", "--port", str(port), "--lang", "en"]
        done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, timeout=60)
    assert done.returncode == 1
    assert f"(pid {os.getpid()})" in done.stderr
    assert f"--port {port + 1}" in done.stderr
    assert len(done.stderr.strip().splitlines()) == 1


def test_ctrl_c_while_it_loads_ends_it_without_a_traceback(tmp_path: Path) -> None:
    command = [sys.executable, "app.py", "--port", "0", "--runs", str(tmp_path), "--rehearsal-args=--brain canned"]
    process = subprocess.Popen(command, cwd=ROOT, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)
    assert process.stdout is not None
    process.stdout.readline()
    process.stdout.readline()  # the rehearsal is announced: its engine is about to start, then Gradio is imported
    time.sleep(0.5)
    process.send_signal(signal.SIGINT)
    rest = process.stdout.read()
    assert process.wait(30) == 0
    assert "Traceback" not in rest


def test_the_pill_follows_the_engine_and_the_engine_comes_back(running: RunningApp) -> None:
    ready = running.wait_for_pill("ready")
    assert (ready["model"], ready["wire"], ready["rehearsal"], ready["fault"]) == ("rehearsal", "0.26", True, None)
    assert ready["round_trip_ms"] > 0
    running.engine.kill()
    gone = running.wait_for_pill("gone")
    assert "rehearsal engine" in gone["fault"]["en"]["cause"]
    assert "排练引擎" in gone["fault"]["zh"]["cause"]
    assert running.wait_for_pill("ready")["fault"] is None


def test_the_pill_is_for_the_page_only(running: RunningApp) -> None:
    stranger = RunningApp(running.process, running.url, running.runs)
    assert stranger.get("/server")[0] == 403


def test_a_closed_page_and_an_ended_app_leave_nothing_running() -> None:
    with running_app(canned="--brain canned --first-token-s 0 --first-audio-s 0 --audio-s 60 --rtf 1") as it:
        it.wait_for_pill("ready")
        heartbeat = begin_a_long_answer(it, page="closing-page")
        it.wait_for_pill("busy")
        heartbeat.close()  # what a browser leaves that is gone without a word
        it.wait_for_pill("ready", seconds=20)

        heartbeat = begin_a_long_answer(it, page="open-page")
        it.wait_for_pill("busy")
        engine = it.engine
        began = time.monotonic()
        it.process.send_signal(signal.SIGINT)
        assert it.process.wait(30) == 0
        took = time.monotonic() - began
        heartbeat.close()
        assert it.process.stdout is not None
        assert "Traceback" not in it.process.stdout.read()
        assert len(it.requests("text_speech")) == 2  # both are on record, though neither came to its end
    assert not engine.is_running() or engine.status() == psutil.STATUS_ZOMBIE
    # The promise is 2 s; the suite's cores may be busy with other tests, so this only catches a wait for something.
    assert took < 10


def begin_a_long_answer(it: RunningApp, page: str) -> IO[bytes]:
    """Press Run as the front end does; the page's heartbeat."""
    heartbeat = urllib.request.urlopen(f"{it.url}/gradio_api/heartbeat/{page}", timeout=30)
    config = json.loads(it.get("/config")[1])
    run = next(one["id"] for one in config["dependencies"] if "omni.begin('stage-text-speech')" in str(one["js"]))
    body = {"data": ["a long one", True, "auto", "assistant", "", "", ""], "fn_index": run, "session_hash": page}
    headers = {"content-type": "application/json", "cookie": it.cookies}
    request = urllib.request.Request(f"{it.url}/gradio_api/run/predict", json.dumps(body).encode(), headers)
    with urllib.request.urlopen(request, timeout=30) as answer:
        assert json.load(answer)["data"][0]["state"] == "waiting"
    return heartbeat


@pytest.mark.parametrize(
    ("flag", "environment", "file", "wanted"),
    [
        (["--port", "1111"], {"OMNI_PORT": "2222"}, "port: 3333", 1111),
        ([], {"OMNI_PORT": "2222"}, "port: 3333", 2222),
        ([], {}, "port: 3333", 3333),
        ([], {}, "rehearsal: {wire: '0.30'}", 7862),
    ],
)
def test_options_come_by_flag_environment_file_default(
    flag: list[str], environment: dict[str, str], file: str, wanted: int, tmp_path: Path
) -> None:
    (tmp_path / "omni.yaml").write_text(file, encoding="utf-8")
    assert app.options(flag, environment, tmp_path).port == wanted


@pytest.mark.parametrize(
    ("argv", "word"),
    [
        (["--port", "70000"], "70000"),
        (["--port", "7862x"], "a port is"),
        (["--max-sessions", "two"], "1 or more"),
        (["--first-event-s", "soon"], "seconds"),
        (["--first-event-s", "nan"], "seconds"),
        (["--first-event-s", "0"], "more than 0"),
        (["--server", "localhost:8091"], "http://"),
        (["--api-key-file", "nowhere"], "nowhere"),
        (["--max-sessions", "0"], "1 or more"),
        (["--public-realtime-url", "https://public.example"], "wss://"),
        (["--public-realtime-url", "wss://public.example/?token=1"], "wss://"),
    ],
)
def test_an_option_that_cannot_be_used_is_told(
    argv: list[str], word: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    with pytest.raises(SystemExit) as end:
        app.options(argv, {}, tmp_path)
    assert end.value.code == 2
    assert word in capsys.readouterr().err


def test_the_server_may_be_given_as_the_sdk_would(tmp_path: Path) -> None:
    assert app.options(["--server", "http://127.0.0.1:8091/v1/"], {}, tmp_path).server == "http://127.0.0.1:8091"


def test_how_many_talk_and_where_their_sockets_go(tmp_path: Path) -> None:
    given = app.options(["--max-sessions", "4", "--public-realtime-url", "wss://public.example/app/"], {}, tmp_path)
    assert (given.max_sessions, given.public_realtime_url) == (4, "wss://public.example/app")
    assert (app.options([], {}, tmp_path).max_sessions, app.options([], {}, tmp_path).public_realtime_url) == (
        None,
        None,
    )


def test_an_unknown_line_of_the_file_is_told(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (tmp_path / "omni.yaml").write_text("prot: 7000", encoding="utf-8")
    with pytest.raises(SystemExit):
        app.options([], {}, tmp_path)
    assert "prot" in capsys.readouterr().err


@pytest.mark.parametrize("held", [b"", b"\xff\xfe\x00", b"two words", b"two\nlines"])
def test_a_file_without_a_key_is_told(tmp_path: Path, held: bytes, capsys: pytest.CaptureFixture[str]) -> None:
    (tmp_path / "key").write_bytes(held)
    with pytest.raises(SystemExit):
        app.options(["--api-key-file", str(tmp_path / "key")], {}, tmp_path)
    assert "the key and nothing else" in capsys.readouterr().err


def test_the_key_is_read_from_its_file(tmp_path: Path) -> None:
    (tmp_path / "key").write_text("secret\n", encoding="utf-8")
    assert app.options(["--api-key-file", str(tmp_path / "key")], {}, tmp_path).api_key == "secret"


@pytest.mark.parametrize(
    ("lang", "environment", "wanted"),
    [("auto", {"LANG": "zh_CN.UTF-8"}, "zh"), ("auto", {}, "en"), ("en", {"LANG": "zh_CN.UTF-8"}, "en")],
)
def test_the_terminal_is_spoken_to_in_its_language(lang: str, environment: dict[str, str], wanted: str) -> None:
    assert app.console_language(lang, environment) == wanted
