"""Someone at the page in one look (language, theme, width): presses, waits for a state, and takes its picture."""

from __future__ import annotations

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Literal

from playwright.async_api import Browser, Locator, Page
from playwright.async_api import TimeoutError as PlaywrightTimeout

from ui.texts import texts

PATIENCE_MS = 90_000  # an answer of the rehearsal engine about a clip, on a busy machine
SETTLE_MS = 400  # transitions end and thumbnails arrive


@dataclass(frozen=True)
class Look:
    language: Literal["zh", "en"]
    theme: Literal["light", "dark"]
    width: Literal[1440, 390]

    def __str__(self) -> str:
        return f"{self.language}-{self.theme}-{self.width}"


HEIGHTS = {1440: 900, 390: 844}  # a laptop's window, a phone's


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
            viewport={"width": look.width, "height": HEIGHTS[look.width]},
            locale={"zh": "zh-CN", "en": "en-US"}[look.language],
            color_scheme=look.theme,
            has_touch=look.width == 390,
            is_mobile=look.width == 390,
        )
        try:
            page = await context.new_page()
            await page.goto(url)
            await page.wait_for_selector("#stage-text-speech .omni-stage .omni-caption", timeout=PATIENCE_MS)
            await page.wait_for_selector('#omni-pill[data-state="ready"]', timeout=PATIENCE_MS)
            visitor = cls(page, look, folder)
            try:
                yield visitor
            except PlaywrightTimeout:
                print(f"{look}: stuck, see {await visitor.whole('stuck')}", flush=True)
                raise
        finally:
            await context.close()

    async def open(self, tab: str) -> None:
        """Bring a tab to the front; on a narrow page it may stand in Gradio's overflow menu."""
        name = texts()(f"page.tab.{tab}", self.look.language)
        target = self.page.locator("#omni-tabs [role=tab]:visible", has_text=name)
        if not await target.count():
            await self._press(self.page.locator("#omni-tabs .overflow-menu > button"))
            target = self.page.locator("#omni-tabs .overflow-dropdown button", has_text=name)
        await self._press(target.first)
        stage = self.page.locator(".omni-live-stage") if tab == "duplex" else self._stage(tab)
        await stage.wait_for(state="visible", timeout=PATIENCE_MS)

    async def press(self) -> None:
        """The first sample card of the tab."""
        await self._press(self.page.locator(".omni-sample:visible").first)

    async def until(self, tab: str, *states: str) -> None:
        """The turn of the tab is in one of the stage's states."""
        await self._stage(tab, *states).wait_for(timeout=PATIENCE_MS)

    async def converse(self, state: str) -> None:
        """Starts a live conversation, or ends it, and waits for a state of it (``data-state`` of the duplex tab's stage)."""
        await self._press(self.page.locator(".omni-live-start"))
        await self.page.wait_for_selector(f'.omni-live-stage[data-state="{state}"]', timeout=PATIENCE_MS)

    async def until_spoken(self, *states: str) -> None:
        """The player's tape is in one of these states."""
        wanted = list(states)
        await self.page.wait_for_function(
            "(wanted) => wanted.includes(omni.player.last?.state)", arg=wanted, timeout=PATIENCE_MS
        )

    async def shot(self, name: str) -> Path:
        """What the window shows, as a PNG."""
        await self.page.wait_for_timeout(SETTLE_MS)
        path = self._folder / f"{self.look}-{name}.png"
        await self.page.screenshot(path=path)
        return path

    async def whole(self, name: str) -> Path:
        """The whole page, in a window as tall as it is: what sticks to the window's edge stands where it belongs."""
        height = await self.page.evaluate("document.documentElement.scrollHeight")
        await self.page.set_viewport_size({"width": self.look.width, "height": max(height, HEIGHTS[self.look.width])})
        path = await self.shot(name)
        await self.page.set_viewport_size({"width": self.look.width, "height": HEIGHTS[self.look.width]})
        return path

    async def _press(self, target: Locator) -> None:
        """By a finger on a phone; by a mouse that then leaves, so that nothing stays hovered."""
        if self.look.width == 390:
            await target.tap()
        else:
            await target.click()
            await self.page.mouse.move(0, 0)

    def _stage(self, tab: str, *states: str) -> Locator:
        root = f"#stage-{tab.replace('_', '-')} .omni-stage"
        return self.page.locator(", ".join(f'{root}[data-state="{state}"]' for state in states) or root)
