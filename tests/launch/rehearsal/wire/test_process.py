"""``python -m launch.rehearsal`` as a process: what it prints, and when it dies."""

from __future__ import annotations

import subprocess
import sys
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import httpx
import psutil
import pytest

from launch.rehearsal.__main__ import main
from launch.rehearsal.wire.parent import wait_by_looking
from tests.launch.rehearsal.wire.probes import CHAT, ask

ROOT = Path(__file__).resolve().parents[4]
COMMAND = [sys.executable, "-m", "launch.rehearsal", "--brain", "canned", "--port", "0"]


@contextmanager
def _engine(*arguments: str, command: list[str] = COMMAND) -> Iterator[tuple[subprocess.Popen[str], str, list[str]]]:
    """The process, its URL, and what it printed until it was ready."""
    process = subprocess.Popen(
        [*command, *arguments], cwd=ROOT, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True
    )
    try:
        assert process.stdout is not None
        printed = []
        for line in process.stdout:
            printed.append(line.strip())
            if line.startswith("ready "):
                break
        assert printed, process.stderr and process.stderr.read()
        yield process, printed[-1].removeprefix("ready "), printed
    finally:
        process.kill()
        process.wait()
        for pipe in (process.stdout, process.stderr):
            assert pipe is not None
            pipe.close()


def test_it_says_where_it_is_and_stops_when_told() -> None:
    with _engine("--text", "good day", "--audio-s", "1", "--wire", "0.30") as (process, url, printed):
        assert "not MiniCPM-o" in printed[0]
        assert printed[1:] == [f"listening {url}", "loading canned 1.00", f"ready {url}"]
        with httpx.Client(base_url=url, trust_env=False) as client:
            assert client.get("/health").json() == {"status": "healthy"}
            choice = client.post(CHAT, json=ask()).json()["choices"][0]
        assert choice["message"]["content"] == "good day"
        assert choice["audio_metadata"]["frame_count"] == 24_000
        process.terminate()
        process.wait(15)


def test_it_dies_with_its_parent_even_when_that_is_killed() -> None:
    program = (
        "import os, subprocess, sys, time\n"
        f"subprocess.Popen({COMMAND!r} + ['--parent', str(os.getpid())])\n"
        "time.sleep(60)\n"
    )
    with _engine(command=[sys.executable, "-c", program]) as (parent, url, _):
        [child] = psutil.Process(parent.pid).children()
        assert httpx.get(f"{url}/health", trust_env=False).status_code == 200
        parent.kill()
        parent.wait()
        child.wait(15)  # raises when it outlives its parent
        with pytest.raises(httpx.ConnectError):
            httpx.get(f"{url}/health", trust_env=False)


def test_it_dies_without_a_goodbye_when_asked_to() -> None:
    with _engine("--fault", "die-after:1") as (process, url, _):
        lines = []
        with (
            httpx.Client(base_url=url, trust_env=False) as client,
            client.stream("POST", CHAT, json=ask(stream=True)) as answer,
            pytest.raises(httpx.RemoteProtocolError),
        ):
            lines.extend(answer.iter_lines())
        assert process.wait(15) == -9


@pytest.mark.parametrize(
    ("arguments", "sentence"),
    [(["--fault", "nope"], "'nope' is no fault; there are: refuse"), (["--parent", "4000000"], "There is no process")],
)
def test_what_it_cannot_do_it_says_in_a_sentence(
    arguments: list[str], sentence: str, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main([*COMMAND[3:], *arguments]) == 2
    assert capsys.readouterr().err.startswith(sentence)


def test_without_weights_it_says_how_to_get_them(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["--port", "0", "--weights", str(tmp_path)]) == 1
    said = capsys.readouterr()
    assert "python -m launch.rehearsal.weights" in said.err
    assert "Traceback" not in said.err
    assert "ready" not in said.out


def test_its_first_line_comes_before_anything_heavy() -> None:
    """Otherwise whoever starts it stares at nothing for two seconds."""
    program = (
        "import sys, launch.rehearsal.__main__ as main\n"
        "main.parse(['--brain', 'canned'])\n"
        "print(sorted({'fastapi', 'uvicorn', 'av', 'PIL', 'numpy', 'pydantic'} & set(sys.modules)))\n"
    )
    done = subprocess.run([sys.executable, "-c", program], cwd=ROOT, capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "[]"


def test_the_watch_for_old_kernels_sees_an_end_that_nobody_collects() -> None:
    with subprocess.Popen(["sleep", "60"]) as process:
        threading.Timer(0.1, process.kill).start()
        wait_by_looking(psutil.Process(process.pid), poll_s=0.02)  # would hang if a zombie counted as alive
        assert process.poll() is not None
