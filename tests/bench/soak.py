"""``make soak``: does the app grow? Three hundred turns with media; its memory after the first fifty against its memory at the end."""

from __future__ import annotations

import statistics
import tempfile
from pathlib import Path
from typing import Any

import gradio_client
import psutil

from tests.bench import inputs
from tests.bench.running import running_app

TURNS = 300
WARM = 50  # caches, pools and the allocator's arenas settle in the first fifty
WINDOW = 20  # medians over as many readings, since memory breathes
CANNED = "--brain canned --audio-s 2"


def measure() -> dict[str, Any]:
    """``growth_pct``: per cent of resident memory from turn 50 to turn 300 (medians of twenty readings)."""
    with tempfile.TemporaryDirectory() as folder:
        files = {"/image": inputs.picture(Path(folder)), "/video": inputs.clip(Path(folder))}
        with running_app(Path(folder) / "runs", "--rehearsal-args", CANNED) as app:
            client = gradio_client.Client(app.url, verbose=False)
            process = psutil.Process(app.pid)
            readings: list[float] = []
            for n in range(TURNS):
                endpoint = list(files)[n % len(files)]
                client.predict(f"turn {n}", gradio_client.handle_file(str(files[endpoint])), api_name=endpoint)
                readings.append(process.memory_info().rss / 2**20)
    start = statistics.median(readings[WARM : WARM + WINDOW])
    end = statistics.median(readings[-WINDOW:])
    return {"growth_pct": round(100 * (end / start - 1), 2), "growth_from_mb": round(start), "growth_to_mb": round(end)}
