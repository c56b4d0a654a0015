"""The page of a live conversation, in headless Chromium over a scripted app (``tests/browser/live_stub.py``).

``flush_ms``: the press of Esc → the first silent block in the worklet, while an answer sounds; both by this machine's clock.
``mic_frames_lost``: 200 ms frames missing in the numbers that arrived. ``speech_bytes_lost``: bytes of the answers that were sent
and did not sound, sample by sample. Plainly, and with the page's main thread stalled for 500 ms of every 900. Half a minute
each here; ten minutes each in ``make soak`` (``live_browser_long``).
"""

from __future__ import annotations

import asyncio
import statistics
import tempfile
from pathlib import Path
from typing import Any

import numpy as np

from tests.browser.caller import Caller, script, write_wav
from tests.browser.conftest import process
from tests.browser.listener import EDGE
from tests.browser.stub import signal

FLUSHES = 20  # so that a p95 is one that happened
SHORT_S = 30
ANSWER_S = 5.0
EVERY_S = 7.0  # an answer, and a pause in which the user would speak
PACE = 0.9  # of real time: what a server on its limit sends
STALLS = "setInterval(() => { const end = performance.now() + 500; while (performance.now() < end); }, 900)"


def measure() -> dict[str, Any]:
    return asyncio.run(_measure())


async def _measure() -> dict[str, Any]:
    with process("tests.browser.live_stub") as url, tempfile.TemporaryDirectory() as folder:
        microphone = hum(Path(folder))
        flushes = await _flushes(url, microphone)
        quiet = await losses(url, microphone, SHORT_S, stalled=False)
        stalled = await losses(url, microphone, SHORT_S, stalled=True)
    p95 = statistics.quantiles(flushes, n=20, method="inclusive")[-1]
    return {
        "flush_ms": {"median": statistics.median(flushes), "p95": p95},
        "mic_frames_lost": {"quiet": quiet[0], "stalls": stalled[0]},
        "speech_bytes_lost": {"quiet": quiet[1], "stalls": stalled[1]},
    }


def hum(folder: Path) -> Path:
    """A microphone with something in it."""
    at = np.arange(48_000 * 10) / 48_000
    return write_wav(folder / "hum.wav", 0.2 * np.sin(2 * np.pi * 210 * at), 48_000)


async def _flushes(url: str, microphone: Path) -> list[float]:
    answer = {"at": 0, "text": "on and on", "seconds": 6, "pace": 0.25, "in_turn": True}
    await script(url, answers=[answer] * FLUSHES)
    async with Caller.on(url, microphone) as caller:
        await caller.start()
        for n in range(1, FLUSHES + 1):
            await caller.until(f"talk.call.dialogue.answers.get({n})?.heard > 300", timeout=60)
            await caller.page.keyboard.press("Escape")
            await caller.until(f"talk.flushed.length === {n}")
        return await caller.talk("talk.flushed")


async def losses(url: str, microphone: Path, seconds: float, *, stalled: bool) -> tuple[int, int]:
    """Microphone frames and speech bytes that were lost in a conversation of so many seconds."""
    count = int(seconds / EVERY_S)
    answers = [{"at": 1 + EVERY_S * n, "text": "on and on", "seconds": ANSWER_S, "pace": PACE} for n in range(count)]
    await script(url, answers=answers)
    async with Caller.on(url, microphone) as caller:
        if stalled:
            await caller.page.evaluate(STALLS)
        await caller.start()
        over = f"talk.call.dialogue.answers.get({count})?.heard === {ANSWER_S * 1000}"
        await caller.until(over, timeout=seconds + 120)
        numbers = (await caller.app("/heard"))["mic"]
        tapped = await caller.tap()
    lost = sum(missing(tapped.answer(number)) for number in range(1, count + 1))
    return numbers[-1] - numbers[0] + 1 - len(numbers), lost


def missing(sounded: np.ndarray) -> int:
    """Bytes of one answer that did not sound where they belong; a hole between them loses nothing, fades are no loss."""
    sent = np.frombuffer(signal(ANSWER_S), "<i2").astype(np.float32) / 32_768
    at = lost = 0
    quiet = np.abs(sounded) > 0
    edges = np.flatnonzero(np.diff(np.concatenate([[0], quiet.astype(np.int8), [0]])))
    pieces = [(a, b) for a, b in zip(edges[::2], edges[1::2], strict=True)]
    joined: list[list[int]] = []
    for first, last in pieces:  # a single zero sample is part of the sound
        if joined and first - joined[-1][1] < EDGE:
            joined[-1][1] = last
        else:
            joined.append([first, last])
    for first, last in joined:
        piece = sounded[max(0, first - 1) : last]  # a fade-in begins with a zero of its own
        size = min(len(piece), len(sent) - at)
        wrong = np.flatnonzero(piece[:size] != sent[at : at + size])
        lost += sum(1 for place in wrong if EDGE < place < size - EDGE) * 2
        at += size
    return lost + max(0, len(sent) - at - EDGE) * 2
