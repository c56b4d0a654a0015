"""Someone at the page in one look (language, theme, width): presses, waits for a state, and takes its picture."""

from __future__ import annotations

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Literal

from playwright.async_api import Browser, Locator, Page

PATIENCE_MS = 90_000  # an answer of the rehearsal engine about a clip, on a busy machine
SETTLE_MS = 400  # transitions end and thumbnails arrive


@dataclass(frozen=True)
class Look:
    language: Literal["zh", "en"]
    theme: Literal["light", "dark"]
    width: Literal[1440, 390]

    def __str__(self) -> str:
        return f"{self.language}-{self.theme}-{self.width}"


class Visitor:
    """On an open page. ``folder``: where its pictures go."""

    def __init__(self, page: Page, look: Look, folder: Path) -> None:
        self.page = page
        self.look = look
        self._folder = folder

    @classmethod
    @asynccontextmanager
    async def on(cls, browser: Browser, url: str, look: Look, folder: Path) -> AsyncIterator[Visitor]:
        """A fresh visitor, whose browser has the look's locale and colours, on a page whose server is ready."""
        context = await browser.new_context(
            viewport={"width": look.width, "height": 900 if look.width == 1440 else 844},
            locale={"zh": "zh-CN", "en": "en-US"}[look.language],
            color_scheme=look.theme,
            has_touch=look.width == 390,
        )
        try:
            page = await context.new_page()
            await page.goto(url)
            await page.wait_for_selector("#stage-text-speech .omni-stage .omni-caption", timeout=PATIENCE_MS)
            await page.wait_for_selector('#omni-pill[data-state="ready"]', timeout=PATIENCE_MS)
            yield cls(page, look, folder)
        finally:
            await context.close()

    async def open(self, tab: str) -> None:
        """Bring a tab to the front; on a narrow page it may stand in Gradio's overflow menu."""
        names = {"text_speech": 0, "image": 1, "audio": 2, "video": 3, "multi_turn": 4}
        await self.page.locator("#omni-tabs [role=tab]").nth(names[tab]).click()
        await self._stage(tab).wait_for(state="visible", timeout=PATIENCE_MS)

    async def press(self, tab: str) -> None:
        """The first sample card of the tab."""
        await self.page.locator(".omni-sample:visible").first.click()

    async def until(self, tab: str, *states: str) -> None:
        """The turn of the tab is in one of the stage's states."""
        await self._stage(tab, *states).wait_for(timeout=PATIENCE_MS)

    async def until_spoken(self, *states: str) -> None:
        """The player's tape is in one of these states."""
        wanted = list(states)
        await self.page.wait_for_function(
            "(wanted) => wanted.includes(omni.player.last?.state)", arg=wanted, timeout=PATIENCE_MS
        )

    async def shot(self, name: str) -> Path:
        """The whole page as a PNG."""
        await self.page.wait_for_timeout(SETTLE_MS)
        path = self._folder / f"{self.look}-{name}.png"
        await self.page.screenshot(path=path, full_page=True)
        return path

    def _stage(self, tab: str, *states: str) -> Locator:
        root = f"#stage-{tab.replace('_', '-')} .omni-stage"
        return self.page.locator(", ".join(f'{root}[data-state="{state}"]' for state in states) or root)
