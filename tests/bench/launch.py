"""What the launcher costs: `status` against an import, `up --wait` against the start it watches, watching itself, `explain`."""

from __future__ import annotations

import json
import os
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import psutil

from launch import probe
from tests.launch.running import ROOT, Box, box, free_port

PAIRS = 9  # odd, so that a median is a pair that happened; in turn, so that the machine's mood hits both alike
START_S = 2.0  # of the fake server
WATCHED_S = 15.0
SILENT_PACE_S = 3_000.0  # a line in 8 s: as good as silence
LOG_MB = 50
PYTHON = sys.executable
LAUNCH = [PYTHON, "-m", "launch"]
FAULT = (
    "(StageEngineCoreProc_stage1_replica0 pid=9) ERROR 11-30 21:00:00 [core.py:1] ValueError: No available memory for the "
    "cache blocks. Try increasing `gpu_memory_utilization` when initializing the engine.\n"
)


@dataclass(frozen=True)
class Cost:
    """A process that ran to its end: seconds by the clock and of the processor, its largest size, what it printed."""

    wall_s: float
    cpu_s: float
    peak_mb: float
    printed: str


def run(command: Sequence[str], environ: Mapping[str, str]) -> Cost:
    with tempfile.TemporaryFile("w+") as out:
        began = time.perf_counter()
        process = subprocess.Popen(command, cwd=ROOT, env=dict(environ), stdout=out)
        _, code, used = os.wait4(process.pid, 0)
        wall = time.perf_counter() - began
        process.returncode = os.waitstatus_to_exitcode(code)
        out.seek(0)
        return Cost(wall, used.ru_utime + used.ru_stime, used.ru_maxrss / 1024, out.read())


def status(machine: Box) -> dict[str, Any]:
    """With one server running, as it is used."""
    machine.up(pace=0.2)
    environ = machine.shell()
    typer, ours = [], []
    for _ in range(PAIRS):
        typer.append(run([PYTHON, "-c", "import typer"], environ))
        ours.append(run([*LAUNCH, "status"], environ))
    assert "ready" in ours[-1].printed
    machine.launch("down")
    return {
        "launch_status_ratio": statistics.median(b.wall_s for b in ours) / statistics.median(a.wall_s for a in typer),
        "launch_status_cpu_ratio": statistics.median(b.cpu_s for b in ours) / statistics.median(a.cpu_s for a in typer),
        "launch_status_s": statistics.median(b.wall_s for b in ours),
    }


def bare_start(machine: Box) -> float:
    """Seconds until the fake server answers when nobody watches its log."""
    port = free_port()
    environ = {**machine.shell(pace=START_S), "VLLM_LOGGING_COLOR": "0"}
    command = [str(machine.vllm), "serve", "m", "--omni", "--port", str(port)]
    began = time.perf_counter()
    with subprocess.Popen(command, env=environ, stdout=subprocess.DEVNULL) as server:
        while not probe.healthy(f"http://127.0.0.1:{port}"):
            time.sleep(0.01)
        took = time.perf_counter() - began
        server.terminate()
    return took


def waiting(machine: Box) -> dict[str, Any]:
    added = []
    for _ in range(PAIRS):
        bare = bare_start(machine)
        watched = run([*LAUNCH, *machine.words()], machine.shell(pace=START_S)).wall_s
        machine.launch("down")
        added.append(watched - bare)
    return {"up_wait_adds_s": statistics.median(added), "up_wait_adds_spread_s": f"{min(added):.2f}-{max(added):.2f}"}


def watching(machine: Box) -> dict[str, Any]:
    """Per cent of a core that `up --wait` takes while the server is silent, and `logs -f` of a server that idles."""
    figures = {}
    for name, command, pace in (
        ("watch_start_pct", machine.words(), SILENT_PACE_S),
        ("watch_log_pct", ["logs", "-f"], None),
    ):
        if pace is None:
            machine.up(pace=0.2)
        environ = machine.shell(**({"pace": pace} if pace else {}))
        with subprocess.Popen([*LAUNCH, *command], cwd=ROOT, env=environ, stdout=subprocess.DEVNULL) as watcher:
            time.sleep(3)  # its imports and its plan are no watching
            process = psutil.Process(watcher.pid)
            before, began = process.cpu_times(), time.perf_counter()
            time.sleep(WATCHED_S)
            after, took = process.cpu_times(), time.perf_counter() - began
            figures[name] = 100 * (after.user + after.system - before.user - before.system) / took
            machine.launch("down")
            with suppress(subprocess.TimeoutExpired):
                watcher.wait(10)
            watcher.kill()
    return figures


def big_log(path: Path) -> None:
    """A start, the life of a busy server, a fault at a third of it, and more life."""
    lines = (ROOT / "tests" / "data" / "launch" / "real-serve.log").read_text(encoding="utf-8")
    with path.open("w", encoding="utf-8") as log:
        log.write(lines)
        number, said = 0, False
        while log.tell() < LOG_MB << 20:
            for _ in range(1000):
                number += 1
                log.write(
                    f"(APIServer pid=1) INFO:     127.0.0.1:{30_000 + number % 30_000} - "
                    f'"POST /v1/chat/completions HTTP/1.1" 200 OK\n'
                    f"(APIServer pid=1) INFO 11-30 21:{number % 60:02d}:00 [loggers.py:259] Engine 000: Avg prompt throughput: "
                    f"{number % 977 / 10} tokens/s, Avg generation throughput: {number % 313 / 10} tokens/s, Running: 1 reqs\n"
                )
            if not said and log.tell() > (LOG_MB << 20) // 3:
                said = True
                log.write(FAULT)


def explaining(folder: Path, environ: Mapping[str, str]) -> dict[str, Any]:
    path = folder / "big.log"
    big_log(path)
    runs = [run([*LAUNCH, "explain", str(path), "--json"], environ) for _ in range(3)]
    assert json.loads(runs[0].printed)[0]["id"] == "kv-cache-no-room"
    return {
        "explain_50mb_s": statistics.median(cost.wall_s for cost in runs),
        "explain_50mb_cpu_s": statistics.median(cost.cpu_s for cost in runs),
        "explain_50mb_peak_mb": max(cost.peak_mb for cost in runs),
    }


def measure() -> dict[str, Any]:
    """Ratios, seconds, per cent of a core, megabytes."""
    with tempfile.TemporaryDirectory() as folder, box(Path(folder)) as machine:
        return {
            **status(machine),
            **waiting(machine),
            **watching(machine),
            **explaining(Path(folder), machine.shell()),
        }
