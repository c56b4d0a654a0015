"""``app.py`` as a user starts it: a process of its own on a free port, with the canned rehearsal engine."""

from __future__ import annotations

import atexit
import http.client
import json
import os
import re
import signal
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator, Mapping
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass, field
from functools import cache
from http.cookies import SimpleCookie
from pathlib import Path
from typing import Any

import psutil

ROOT = Path(__file__).resolve().parent.parent
READY_S = 120  # importing Gradio takes seconds on an idle core, and the suite's cores are not idle
# Quick, and long enough that a test can do something meanwhile.
CANNED = "--brain canned --text counted --first-token-s 0 --first-audio-s 0.1 --audio-s 1 --rtf 0.1"


@dataclass
class RunningApp:
    """``url`` without a slash at its end."""

    process: subprocess.Popen[str]
    url: str
    runs: Path
    cookies: str = field(default="")

    def get(self, path: str, *, accept_language: str = "en") -> tuple[int, str]:
        """Status and text of a GET, with the session that the page brought."""
        connection = http.client.HTTPConnection(self.url.removeprefix("http://"), timeout=30)
        headers = {"Cookie": self.cookies, "Accept-Language": accept_language}
        connection.request("GET", path, headers=headers)
        answer = connection.getresponse()
        text = answer.read().decode()
        for line in answer.headers.get_all("set-cookie") or ():
            self.cookies = SimpleCookie(line).output(header="", attrs=[]).strip()
        connection.close()
        return answer.status, text

    def pill(self) -> dict[str, Any]:
        if not self.cookies:
            self.get("/")
        return json.loads(self.get("/server")[1])

    def wait_for_pill(self, state: str, seconds: float = 60) -> dict[str, Any]:
        """The pill once it says ``state``."""
        until = time.monotonic() + seconds
        while (pill := self.pill())["state"] != state:
            assert time.monotonic() < until, f"waited {seconds} s for {state!r}, the pill says {pill}"
            time.sleep(0.1)
        return pill

    def requests(self, what: str) -> list[dict[str, Any]]:
        """What was sent, of all recorded turns of one tab, oldest first."""
        folders = sorted(self.runs.glob(f"*{what}*"), key=lambda folder: folder.stat().st_mtime)
        return [json.loads((folder / "request.json").read_text(encoding="utf-8")) for folder in folders]

    @property
    def engine(self) -> psutil.Process:
        """The rehearsal engine: the app's one child."""
        (child,) = psutil.Process(self.process.pid).children()
        return child


@contextmanager
def running_app(
    *options: str, canned: str | None = CANNED, environ: Mapping[str, str] | None = None
) -> Iterator[RunningApp]:
    """The app, ready; ended by Ctrl-C's signal. ``canned``: the engine's options, ``None`` when ``options`` name a server.
    ``environ``: more of the environment."""
    with tempfile.TemporaryDirectory() as folder:
        command = [sys.executable, "app.py", "--port", "0", "--runs", folder, *options]
        command += [f"--rehearsal-args={canned}"] if canned else []
        clean = {name: value for name, value in os.environ.items() if not name.startswith("OMNI_")}
        process = subprocess.Popen(
            command,
            cwd=ROOT,
            env={**clean, **(environ or {})},
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
        )
        try:
            yield RunningApp(process, _url(process), Path(folder))
        finally:
            process.send_signal(signal.SIGINT)
            try:
                process.wait(30)
            except subprocess.TimeoutExpired:
                process.kill()
                raise


@cache
def shared_app() -> RunningApp:
    """One app for all tests that only ask it something; it starts with the first of them and ends with the run."""
    stack = ExitStack()
    atexit.register(stack.close)
    return stack.enter_context(running_app())


def _url(process: subprocess.Popen[str]) -> str:
    assert process.stdout is not None
    said = []
    until = time.monotonic() + READY_S
    for line in process.stdout:
        said.append(line)
        if found := re.search(r"^(?:Open|打开) (http://\S+)$", line):
            return found[1]
        assert time.monotonic() < until, f"not ready after {READY_S} s: {said}"
    raise AssertionError(f"the app ended: {''.join(said)}")
