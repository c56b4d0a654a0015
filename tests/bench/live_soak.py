"""``make soak``: four conversations at once for an hour (``OMNI_SOAK_MIN`` sets the minutes); does the app grow?

The stub server speaks nearly all the time; each page talks, reports what it heard, and loses its socket once a minute.
"""

from __future__ import annotations

import asyncio
import json
import os
import statistics
import tempfile
import time
from pathlib import Path
from typing import Any

import psutil
import websockets

from tests.bench.live import process
from tests.bench.live_page import Visitor, report, speak, stamped
from tests.bench.running import running_app
from ui.live.page_wire import HEADER

SESSIONS = 4
MINUTES = float(os.environ.get("OMNI_SOAK_MIN", "60"))
WARM = 0.1  # of the time: caches, pools and the allocator's arenas settle
READING_S = 2.0
WINDOW = 20  # medians over as many readings, since memory breathes
SOCKET_S = 60.0


class Count:
    """What came to one page. A frame twice, or one too few, would make its numbers wrong."""

    def __init__(self) -> None:
        self.last = 0
        self.bytes = 0
        self.response = 0

    async def read(self, socket: websockets.ClientConnection) -> None:
        async for frame in socket:
            if isinstance(frame, bytes):
                self.last += 1
                self.bytes += len(frame) - HEADER.size
                self.response = HEADER.unpack_from(frame)[1]
                continue
            word = json.loads(frame)
            assert word["seq"] == self.last + 1, f"{word['seq']} after {self.last}"
            assert word["type"] != "ended", word
            self.last = word["seq"]


async def page(visitor: Visitor, until: float, count: Count) -> None:
    number = 0
    while time.monotonic() < until:
        async with visitor.socket(after=count.last or None) as socket:
            work = [count.read(socket), speak(socket, stamped, first=number), report(socket, lambda: count.response)]
            tasks = [asyncio.create_task(it) for it in work]
            done, _ = await asyncio.wait(
                tasks, timeout=min(SOCKET_S, until - time.monotonic()), return_when=asyncio.FIRST_COMPLETED
            )
            for task in tasks:
                task.cancel()
            await asyncio.wait(tasks)
            for task in done:
                task.result()
            socket.transport.abort()
        number += 1_000  # a gap, as after a loss


async def _measure() -> dict[str, Any]:
    with process("tests.bench.live_stub") as stub, tempfile.TemporaryDirectory() as runs:
        server = f"http://127.0.0.1:{stub}"
        with running_app(Path(runs), "--server", server, "--max-sessions", str(SESSIONS)) as app:
            measured, readings = psutil.Process(app.pid), []
            until = time.monotonic() + MINUTES * 60
            visitors = [await Visitor.arrive(app.url) for _ in range(SESSIONS)]
            counts = [Count() for _ in visitors]
            pages = [
                asyncio.create_task(page(visitor, until, count))
                for visitor, count in zip(visitors, counts, strict=True)
            ]
            while time.monotonic() < until and not any(it.done() for it in pages):
                await asyncio.sleep(READING_S)
                readings.append(measured.memory_info().rss / 2**20)
            await asyncio.gather(*pages)
            files = measured.num_fds()
            for visitor in visitors:
                await visitor.leave()
    warm = int(len(readings) * WARM)
    start, end = (statistics.median(it) for it in (readings[warm : warm + WINDOW], readings[-WINDOW:]))
    return {
        "live_growth_pct": round(100 * (end / start - 1), 2),
        "live_growth_from_mb": round(start),
        "live_growth_to_mb": round(end),
        "live_soak_min": MINUTES,
        "live_soak_sessions": SESSIONS,
        "live_soak_speech_mb": round(sum(count.bytes for count in counts) / 2**20),
        "live_soak_fds": files,
    }


def measure() -> dict[str, Any]:
    """``live_growth_pct``: per cent of resident memory from the end of the first tenth to the end."""
    return asyncio.run(_measure())
