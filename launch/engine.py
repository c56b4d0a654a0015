"""The rehearsal engine as a child of the app: started, watched, started again when it dies, ended with the app."""

from __future__ import annotations

import os
import re
import socket
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Sequence
from pathlib import Path

from launch.errors import LaunchError, OmniError

ROOT = Path(__file__).resolve().parent.parent
_PAUSE_S = 1.0  # before a restart: its port is free again, and a crash loop does not fill the terminal
_DEATHS = 3  # that many within _SPAN_S is a crash loop, which needs a person
_SPAN_S = 60.0
_PATIENCE_S = 1.5  # between asking it to end and ending it: Ctrl-C promises 2 s
_LOADING = re.compile(r"loading (?P<what>.+ \d+%)$")


class RehearsalEngine:
    """``python -m launch.rehearsal`` on a free loopback port. ``say`` gets a line for the terminal when it dies.

    It has a session of its own, so that Ctrl-C in the terminal reaches the app alone; the app's death is noticed by the child itself
    (``--parent``). Its address is known before it is up: whoever asks meanwhile finds nobody, or a 503.
    """

    def __init__(self, args: Sequence[str] = (), *, say: Callable[[OmniError], None] = lambda _: None) -> None:
        self._port = _free_port()
        self._args = args
        self._say = say
        self._process: subprocess.Popen[str] | None = None
        self._ending = threading.Event()
        self._deaths: list[float] = []
        self.loading: str | None = None
        """What it is loading and the share done, in its own words ("hearing 40%"); ``None`` before and after."""
        self.error: OmniError | None = None
        """Why it is not there, once it has died by itself; ``None`` again when it is back."""

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self._port}"

    @property
    def pid(self) -> int | None:
        return None if self._process is None else self._process.pid

    def start(self) -> None:
        """Start it and watch it from a thread of its own; returns at once."""
        self._spawn()
        threading.Thread(target=self._watch, name="rehearsal engine", daemon=True).start()

    def stop(self) -> None:
        """End it. Returns when it has ended."""
        self._ending.set()
        if self._process is None or self._process.poll() is not None:
            return
        self._process.terminate()
        try:
            self._process.wait(_PATIENCE_S)
        except subprocess.TimeoutExpired:
            self._process.kill()
            self._process.wait()

    def _spawn(self) -> None:
        command = [
            sys.executable,
            "-m",
            "launch.rehearsal",
            "--port",
            str(self._port),
            "--parent",
            str(os.getpid()),
            *self._args,
        ]
        self._process = subprocess.Popen(command, cwd=ROOT, stdout=subprocess.PIPE, text=True, start_new_session=True)

    def _watch(self) -> None:
        while self._process is not None:
            was_ready = self._listen(self._process)
            code = self._process.wait()
            if self._ending.is_set():
                return
            self.error = LaunchError("rehearsal-engine-died", code=code)
            self._say(self.error)
            now = time.monotonic()
            self._deaths = [*(at for at in self._deaths if now - at < _SPAN_S), now]
            # One that never was ready would not be the next time either: its last words stand in the terminal.
            if not was_ready or len(self._deaths) >= _DEATHS or self._ending.wait(_PAUSE_S):
                return
            self._spawn()

    def _listen(self, process: subprocess.Popen[str]) -> bool:
        """Follow its lines until it ends. Whether it was ready at some time."""
        assert process.stdout is not None
        was_ready = False
        for line in process.stdout:
            if line.startswith("ready "):
                self.loading, self.error, was_ready = None, None, True
            elif found := _LOADING.match(line.strip()):
                self.loading = found["what"]
        self.loading = None
        return was_ready


def _free_port() -> int:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return probe.getsockname()[1]
