"""``make soak``: ten minutes of conversation in the browser, and ten more with the page's main thread stalled, and nothing lost."""

from __future__ import annotations

import asyncio
import tempfile
from pathlib import Path
from typing import Any

from tests.bench.live_browser import hum, losses
from tests.browser.conftest import process

LONG_S = 600


def measure() -> dict[str, Any]:
    return asyncio.run(_measure())


async def _measure() -> dict[str, Any]:
    with process("tests.browser.live_stub") as url, tempfile.TemporaryDirectory() as folder:
        microphone = hum(Path(folder))
        quiet = await losses(url, microphone, LONG_S, stalled=False)
        stalled = await losses(url, microphone, LONG_S, stalled=True)
    return {
        "mic_frames_lost_long": {"quiet": quiet[0], "stalls": stalled[0]},
        "speech_bytes_lost_long": {"quiet": quiet[1], "stalls": stalled[1]},
    }
