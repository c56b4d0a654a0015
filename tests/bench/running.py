"""The app as a user starts it, in a process of its own, over a canned engine: what the bench looks at from outside."""

from __future__ import annotations

import socket
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

import httpx

ROOT = Path(__file__).resolve().parent.parent.parent
PATIENCE_S = 90  # importing Gradio takes 6 s of CPU, more on a loaded machine


@dataclass(frozen=True)
class App:
    url: str
    pid: int


def free_port() -> int:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return probe.getsockname()[1]


@contextmanager
def running_app(runs: Path, *args: str) -> Iterator[App]:
    """An app that answers on its page; ended when the block ends."""
    port = free_port()
    command = [sys.executable, "app.py", "--port", str(port), "--runs", str(runs), *args]
    process = subprocess.Popen(command, cwd=ROOT, stdout=subprocess.DEVNULL)
    try:
        url = f"http://127.0.0.1:{port}"
        deadline = time.monotonic() + PATIENCE_S
        while True:
            assert process.poll() is None, f"the app ended with {process.returncode}"
            assert time.monotonic() < deadline, "the app does not answer"
            try:
                if httpx.get(url, trust_env=False, timeout=2).status_code == 200:
                    break
            except httpx.TransportError:
                time.sleep(0.2)
        yield App(url, process.pid)
    finally:
        process.terminate()
        process.wait(20)
