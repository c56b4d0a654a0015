"""Somebody in a live conversation: a Chromium whose microphone is a WAV, on the duplex tab of a page."""

from __future__ import annotations

import base64
import wave
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import httpx
import numpy as np
from playwright.async_api import Page, async_playwright

from tests.browser.conftest import CHROMIUM_ARGS
from tests.browser.listener import BASE64
from tests.conftest import CHROMIUM

FAKE_DEVICES = ("--use-fake-device-for-media-stream", "--use-fake-ui-for-media-stream")
TAP = (
    "async () => { const {microphone, voice} = await omniLive.tap(); const text = " + BASE64 + ";"
    "const all = new Int16Array(microphone.frames.length * 3200);"
    "microphone.frames.forEach((frame, i) => all.set(frame, i * 3200));"
    "return [text(all.buffer), text(voice.samples.buffer), voice.marks]; }"
)


@dataclass(frozen=True)
class Tapped:
    """What left the microphone's worklet (s16 at 16 kHz), what sounded (at 24 kHz), and where each answer began in it."""

    microphone: np.ndarray
    voice: np.ndarray
    marks: dict[int, int]

    def answer(self, number: int) -> np.ndarray:
        """What sounded of one answer: from its first sample to the next long silence, or to the next answer."""
        later = [at for other, at in self.marks.items() if other > number]
        return self.voice[self.marks[number] : min(later, default=len(self.voice))]


class Caller:
    def __init__(self, page: Page, url: str) -> None:
        self.page = page
        self.url = url
        self.wrong: list[str] = []
        page.on("pageerror", lambda error: self.wrong.append(str(error)))

    @classmethod
    @asynccontextmanager
    async def on(
        cls,
        url: str,
        microphone: Path | None,
        *,
        tab: str | None = None,
        devices: tuple[str, ...] = FAKE_DEVICES,
        **context: Any,
    ) -> AsyncIterator[Caller]:
        """``microphone``: a WAV that begins with each opening of the device, and is not repeated. ``tab``: to open first."""
        args = [*CHROMIUM_ARGS, *devices]
        args += [f"--use-file-for-fake-audio-capture={microphone}%noloop"] if microphone else []
        async with async_playwright() as playwright:
            chromium = await playwright.chromium.launch(executable_path=CHROMIUM, args=args)
            page = await chromium.new_page(locale="en-US", **context)
            caller = cls(page, url)
            await page.goto(f"{url}/?tap=1")
            if tab:
                await page.click(f"#omni-tabs button[role=tab]:has-text('{tab}')")
            await page.wait_for_function("window.omniLive !== undefined", timeout=30_000)
            yield caller
            await chromium.close()

    async def afresh(self) -> None:
        """Loads the page anew."""
        await self.page.reload()
        await self.page.wait_for_function("window.omniLive !== undefined", timeout=30_000)

    async def start(self) -> None:
        await self.page.click(".omni-live-start")

    async def state(self, *states: str, timeout: float = 20) -> None:
        """Until the stage shows one of ``states`` (``stateOf`` in face.js)."""
        wanted = ", ".join(f'.omni-live-stage[data-state="{state}"]' for state in states)
        await self.page.wait_for_selector(wanted, timeout=timeout * 1000)

    async def until(self, condition: str, timeout: float = 20) -> None:
        """Until a JavaScript condition on ``talk`` holds."""
        await self.page.wait_for_function(
            f"(() => {{ const {{talk}} = omniLive; return {condition}; }})()", timeout=timeout * 1000
        )

    async def talk(self, expression: str) -> Any:
        return await self.page.evaluate(f"(() => {{ const {{talk}} = omniLive; return {expression}; }})()")

    async def card(self) -> str:
        """The key of the first card, once there is one."""
        await self.page.wait_for_selector(".omni-live .omni-note", timeout=30_000)
        return await self.page.get_attribute(".omni-live .omni-note", "data-fault") or ""

    async def tap(self) -> Tapped:
        microphone, voice, marks = await self.page.evaluate(TAP)
        return Tapped(
            np.frombuffer(base64.b64decode(microphone), "<i2"),
            np.frombuffer(base64.b64decode(voice), "<f4"),
            {int(number): int(at) for number, at in marks},
        )

    async def app(self, path: str) -> Any:
        """What the stub tells."""
        async with httpx.AsyncClient(trust_env=False) as client:
            answer = await client.get(self.url + path)
            return answer.json() if "json" in answer.headers["content-type"] else answer.content


async def script(url: str, **what: Any) -> None:
    """What the stub does in the next conversation."""
    async with httpx.AsyncClient(trust_env=False) as client:
        (await client.post(f"{url}/script", json=what)).raise_for_status()


def write_wav(path: Path, samples: np.ndarray, rate: int) -> Path:
    """Mono, s16le; ``samples`` in -1..1."""
    with wave.open(str(path), "wb") as file:
        file.setparams((1, 2, rate, 0, "NONE", ""))
        file.writeframes((np.clip(samples, -1, 1) * 32_767).astype("<i2").tobytes())
    return path


def likeness(one: np.ndarray, two: np.ndarray) -> float:
    """The highest correlation of two sounds at any shift, 0..1."""
    size = 1 << int(np.ceil(np.log2(len(one) + len(two))))
    both = np.fft.irfft(np.fft.rfft(one.astype(float), size) * np.conj(np.fft.rfft(two.astype(float), size)), size)
    return float(np.abs(both).max() / max(1e-9, np.linalg.norm(one) * np.linalg.norm(two)))
