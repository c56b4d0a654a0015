"""Every tab of the real page: its first sample is pressed, and what the worklet put out is the answer's WAV, sample by sample."""

from __future__ import annotations

from collections.abc import AsyncIterator

import pytest
import pytest_asyncio
from playwright.async_api import async_playwright

from tests.browser.conftest import CHROMIUM_ARGS
from tests.browser.listener import Listener, follow
from tests.conftest import CHROMIUM
from tests.running import shared_app

pytestmark = [pytest.mark.browser, pytest.mark.asyncio(loop_scope="module")]

PATIENCE_MS = 60_000  # a video is prepared before it is asked about, on cores that run the browser, too


@pytest_asyncio.fixture(scope="module", loop_scope="module")
async def visitor() -> AsyncIterator[Listener]:
    app = shared_app()
    app.wait_for_pill("ready")
    async with async_playwright() as driver:
        browser = await driver.chromium.launch(executable_path=CHROMIUM, args=CHROMIUM_ARGS)
        page = await browser.new_page(viewport={"width": 1440, "height": 900}, locale="en-US")
        page.set_default_timeout(PATIENCE_MS)
        await page.goto(f"{app.url}/?tap=1")
        await page.locator(".omni-run:visible").wait_for()
        yield Listener(page, app.url)
        await browser.close()


@pytest.mark.parametrize("number", range(5), ids=["text_speech", "image", "audio", "video", "multi_turn"])
async def test_the_first_sample_of_a_tab_is_heard_as_its_wav(visitor: Listener, number: int) -> None:
    page = visitor.page
    await page.get_by_role("tab").nth(number).click()
    await page.locator(".omni-sample:visible").first.wait_for()
    await page.wait_for_function("window.omni !== undefined")
    await visitor.mark()
    visitor.before = await page.evaluate("omni.player.answer")
    await page.locator(".omni-sample:visible").first.click()
    await page.locator(
        '.omni-stage[data-state="waiting"]:visible, .omni-stage[data-state="done"]:visible'
    ).first.wait_for()
    await visitor.played(timeout=PATIENCE_MS / 1000)
    await page.locator('.omni-stage[data-state="done"]:visible').wait_for()
    stage = await page.locator(".omni-stage:visible").evaluate("(element) => element.closest('[id]').id")
    wav = await visitor.wav(stage)
    assert len(wav) == 24_000  # the canned engine's second of tone
    assert len(wav) - follow(await visitor.heard(), wav) <= 1
    assert await page.locator(".omni-stage:visible .omni-said").inner_text()
    assert visitor.wrong == []
