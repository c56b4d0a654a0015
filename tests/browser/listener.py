"""A visitor who presses, reads and listens: what a test wants from the page, and how it compares what it heard."""

from __future__ import annotations

import base64
import io
import wave
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import dataclass
from typing import Any

import httpx
import numpy as np
from playwright.async_api import Page

from tests.browser.stub import Script

BASE64 = (
    "(buffer) => { const bytes = new Uint8Array(buffer); let text = '';"
    "for (let i = 0; i < bytes.length; i += 9999) text += String.fromCharCode(...bytes.subarray(i, i + 9999));"
    "return btoa(text); }"
)
EDGE = 48  # frames of a fade, as in tape.js


@dataclass(frozen=True)
class Sounded:
    """What the worklet put out, in order. ``runs``: the stretches between exact silence longer than a block, as
    (first context frame, samples)."""

    blocks: np.ndarray
    starts: np.ndarray

    @property
    def runs(self) -> list[tuple[int, np.ndarray]]:
        sounding = np.abs(self.blocks).max(axis=1) > 0 if len(self.blocks) else np.zeros(0, bool)
        edges = np.flatnonzero(np.diff(np.concatenate([[0], sounding.astype(np.int8), [0]])))
        found = []
        for first, last in zip(edges[::2], edges[1::2], strict=True):
            found.append((int(self.starts[first]), self.blocks[first:last].reshape(-1)))
        return found


class Listener:
    def __init__(self, page: Page, stub: str) -> None:
        self.page = page
        self.stub = stub
        self.wrong: list[str] = []
        self.quiet = False
        self.before = 0
        self.skip = 0
        page.on("pageerror", lambda error: self.wrong.append(str(error)))
        page.on("console", lambda message: message.type == "error" and self._complain(message.text))

    @classmethod
    @asynccontextmanager
    async def on(cls, page: Page, url: str, stub: str, id: str = "one") -> AsyncIterator[Listener]:
        visitor = cls(page, stub)
        await page.goto(f"{url}/?tap=1")
        await page.wait_for_selector(f"#{id} .omni-caption")
        await page.wait_for_function("window.omni !== undefined")
        yield visitor

    def _complain(self, text: str) -> None:
        if not self.quiet:
            self.wrong.append(text)

    async def afresh(self) -> None:
        """Forget what was shown and heard."""
        await self.page.evaluate("['one', 'two'].forEach((id) => omni.clear(id))")
        await self.page.click("button[role=tab]:has-text('one')")
        await self.page.fill("#one-prompt textarea", "")
        self.wrong.clear()
        self.quiet = False
        await self.mark()

    async def mark(self) -> None:
        """From here on counts what is heard."""
        self.skip = 0
        self.skip = len((await self.heard()).blocks)

    async def ask(self, script: Script, id: str = "one", *, speech: bool = True) -> None:
        """Fills in the script and presses Run."""
        await self.page.fill(f"#{id}-prompt textarea", script.prompt())
        await self.page.set_checked(f"#{id}-speech input", speech)
        self.before = await self.page.evaluate("omni.player.answer")
        await self.page.click(f"#{id}-run")

    async def state(self, state: str, id: str = "one", timeout: float = 20) -> None:
        await self.page.wait_for_selector(f'#{id} .omni-stage[data-state="{state}"]', timeout=timeout * 1000)

    async def played(self, state: str = "ended", timeout: float = 40) -> None:
        """Until the tape is in ``state`` with an answer that came after the last question."""
        done = f"omni.player.answer > {self.before} && omni.player.last?.state === '{state}'"
        await self.page.wait_for_function(done, timeout=timeout * 1000)

    async def text(self, part: str, id: str = "one") -> str:
        return await self.page.inner_text(f"#{id} .omni-{part}")

    async def report(self) -> dict[str, Any]:
        return await self.page.evaluate("({...omni.player.report, ...omni.player.last})")

    async def heard(self) -> Sounded:
        """What the worklet has put out so far."""
        taken = await self.page.evaluate(
            "async () => { if (!omni.player.deck.deck) return ['', []]; const {blocks, starts} = await omni.tap();"
            "const all = new Float32Array(blocks.length * 128); blocks.forEach((b, i) => all.set(b, i * 128));"
            f"return [({BASE64})(all.buffer), starts]; }}"
        )
        blocks = np.frombuffer(base64.b64decode(taken[0]), "<f4").reshape(-1, 128)
        return Sounded(blocks[self.skip :], np.array(taken[1], int)[self.skip :])

    async def fetch(self, path: str, id: str = "one") -> bytes:
        """Something of the turn shown, with the page's own cookie."""
        taken = await self.page.evaluate(
            "async ([id, path]) => { const link = document.querySelector(`#${id} [data-file='answer.wav']`).href;"
            "const answer = await fetch(new URL(path, link)); if (!answer.ok) throw new Error(answer.status);"
            f"return ({BASE64})(await answer.arrayBuffer()); }}",
            [id, path],
        )
        return base64.b64decode(taken)

    async def wav(self, id: str = "one") -> np.ndarray:
        """The samples of the finished WAV, as the worklet would put them out."""
        with wave.open(io.BytesIO(await self.fetch("answer.wav", id))) as file:
            assert (file.getnchannels(), file.getsampwidth(), file.getframerate()) == (1, 2, 24_000)
            return np.frombuffer(file.readframes(file.getnframes()), "<i2").astype(np.float32) / 32_768

    async def server(self) -> dict[str, Any]:
        """What the stub counted."""
        async with httpx.AsyncClient(trust_env=False) as client:
            return (await client.get(f"{self.stub}/sent")).json()


def follow(sounded: Sounded, wav: np.ndarray, start: int | None = 0) -> int:
    """Checks that what sounded is ``wav`` from frame ``start`` on (``None``: from wherever it begins), sample by sample, through any
    number of holes: nothing skipped, nothing twice, nothing altered but ``EDGE`` frames of fade on both sides of each silence.

    The frame reached.
    """
    assert sounded.runs, "nothing was heard"
    at = start
    for _, run in sounded.runs:
        loud = np.flatnonzero(run)
        run = run[loud[0] : loud[-1] + 1]  # the first sample of a fade-in is 0
        inner = run[EDGE : len(run) - EDGE]
        if at is None:
            at = next(first for first in np.flatnonzero(wav == inner[0]) if same(inner, wav[first:])) - EDGE - 1
        for shift in (1, 0, 2):  # the wave itself may be 0 where a fade begins or ends
            if same(inner, wav[at + shift + EDGE :]):
                at += shift + len(run)
                break
        else:
            raise AssertionError(f"a run of {len(run)} frames is not what stands at frame {at}")
    assert at is not None
    return at


def same(piece: np.ndarray, whole: np.ndarray) -> bool:
    return bool(np.array_equal(piece, whole[: len(piece)]))
