"""The fake server: writes the real server's start-up lines at a pace, runs stage processes under their real titles, opens its
port, and misbehaves as `FAKE_VLLM_*` in its environment ask.

FAKE_VLLM_PACE: seconds that the start takes. FAKE_VLLM_DIE_AT: words of the line after which it dies, leaving its stages;
FAKE_VLLM_LAST_WORDS: what it writes then. FAKE_VLLM_DEAF: it and its stages ignore SIGTERM. FAKE_VLLM_STRAY: SIGTERM ends
it alone and leaves its stages. FAKE_VLLM_ANSWERED: requests it says it has answered. FAKE_VLLM_SICK_FILE: while this file
is there, /health says 503. FAKE_VLLM_WIRE: 0.26 or 0.30 serves the rehearsal wire over the canned brain.
"""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import time
from collections.abc import Callable
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path

LOG = Path(__file__).resolve().parents[2] / "data" / "launch" / "real-serve.log"
LIFE_S = 120  # nothing of it outlives a test run that was broken off
TITLE = "VLLM::StageEngineCoreProc_stage{}_replica0_DP0"
PORT_OPENS = b"Waiting for application startup."


class Fake:
    def __init__(self, words: list[str], environ: dict[str, str]) -> None:
        self.port = int(words[words.index("--port") + 1])
        self.environ = environ
        self.stages: list[subprocess.Popen[bytes]] = []

    def asked(self, name: str) -> str:
        return self.environ.get(f"FAKE_VLLM_{name}", "")

    def run(self) -> None:
        signal.alarm(LIFE_S)
        signal.signal(signal.SIGTERM, self.leave)
        lines = LOG.read_bytes().splitlines(keepends=True)
        pause = float(self.asked("PACE") or 0.2) / len(lines)
        due = time.monotonic()
        for line in lines:
            due += pause
            time.sleep(max(0.0, due - time.monotonic()))
            if PORT_OPENS in line:
                server = self.server()
            os.write(1, line)
            if b"set runtime devices" in line:
                self.begin_stage(len(self.stages))
            if self.asked("DIE_AT") and self.asked("DIE_AT").encode() in line:
                os.write(1, (self.asked("LAST_WORDS") + "\n").encode())
                os._exit(1)
        server()

    def begin_stage(self, number: int) -> None:
        # `sleep` under a stage's title, as setproctitle leaves it: the title alone, and no environment.
        ignore = (lambda: signal.signal(signal.SIGTERM, signal.SIG_IGN)) if self.asked("DEAF") else None
        command = [TITLE.format(number), str(LIFE_S)]
        self.stages.append(
            subprocess.Popen(command, executable="/bin/sleep", env={}, preexec_fn=ignore, stdin=subprocess.DEVNULL)
        )

    def leave(self, *_: object) -> None:
        if self.asked("DEAF"):
            return
        if not self.asked("STRAY"):
            for stage in self.stages:
                stage.terminate()
                stage.wait()
        os._exit(0)

    def server(self) -> Callable[[], None]:
        if self.asked("WIRE"):
            return self.wire()
        fake = self

        class Handler(BaseHTTPRequestHandler):
            def do_GET(self) -> None:
                sick = fake.asked("SICK_FILE") and Path(fake.asked("SICK_FILE")).exists()
                count = fake.asked("ANSWERED") or "0"
                metrics = f'vllm_omni:requests_success_total{{finished_reason="stop",model_name="m"}} {count}.0\n'
                self.send_response(503 if sick else 200)
                self.end_headers()
                self.wfile.write(metrics.encode() if self.path == "/metrics" else b"")

            def log_message(self, *_: object) -> None:
                pass

        return ThreadingHTTPServer(("127.0.0.1", self.port), Handler).serve_forever

    def wire(self) -> Callable[[], None]:
        import asyncio

        from launch.rehearsal.brain.canned import CannedBrain
        from launch.rehearsal.wire.app import create_app
        from launch.rehearsal.wire.serve import Server, listen

        app = create_app(CannedBrain(text="yes", audio_s=0.6), wire=self.asked("WIRE"))
        server = Server(app, listen("127.0.0.1", self.port))
        return lambda: asyncio.run(server.run_here())


def main() -> None:
    if "serve" not in sys.argv or "--omni" not in sys.argv:
        sys.exit(2)
    Fake(sys.argv, dict(os.environ)).run()
