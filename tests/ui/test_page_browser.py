"""The page in Chromium: one language at a time, all of it; usable on a phone; nothing from elsewhere."""

from __future__ import annotations

from collections.abc import AsyncIterator, Callable
from contextlib import AbstractAsyncContextManager, asynccontextmanager
from typing import Any

import pytest
import pytest_asyncio
from playwright.async_api import Page, async_playwright

from tests.conftest import CHROMIUM
from tests.running import RunningApp, shared_app
from ui.page import TABS
from ui.texts import texts

pytestmark = [pytest.mark.browser, pytest.mark.asyncio(loop_scope="module")]

# Words of the page that hold Latin letters, outside of what people and the model wrote, and of the stage, which has tests of its own.
LATIN = """() => {
  const found = new Set();
  const walker = document.createTreeWalker(document.body, NodeFilter.SHOW_ELEMENT | NodeFilter.SHOW_TEXT);
  for (let node = walker.currentNode; node; node = walker.nextNode()) {
    const element = node.nodeType === 3 ? node.parentElement : node;
    if (element.closest(".omni-stage, [data-verbatim], [data-language], script, style")) continue;
    const words = node.nodeType === 3 ? [node.data] : ["aria-label", "title", "placeholder", "alt"].map((a) => node.getAttribute(a));
    for (const text of words) if (/[A-Za-z]{2}/.test(text ?? "")) found.add(text.trim());
  }
  return [...found];
}"""
HAN = """() => [...document.querySelectorAll(".omni-header h1, .omni-pill, .omni-main, #omni-banners, [role=tablist]")]
  .some((element) => element.offsetParent && /[\\u3400-\\u9fff]/.test(element.innerText))"""
# What stays as it is in Chinese sentences.
NAMES = ("Omni Showcase", "vLLM", "MiniCPM-o", "limit_mm_per_prompt", "--interleave-mm-strings")


PageOf = Callable[..., AbstractAsyncContextManager[Page]]


@pytest.fixture(scope="module")
def running() -> RunningApp:
    app = shared_app()
    app.wait_for_pill("ready")
    return app


@pytest_asyncio.fixture(scope="module", loop_scope="module")
async def page_of(running: RunningApp) -> AsyncIterator[PageOf]:
    """Opens the page in a window of its own."""
    async with async_playwright() as driver:
        browser = await driver.chromium.launch(executable_path=CHROMIUM, args=["--no-sandbox"])

        @asynccontextmanager
        async def window(**context: Any) -> AsyncIterator[Page]:
            own = await browser.new_context(
                **{"viewport": {"width": 1440, "height": 900}, "locale": "zh-CN", **context}
            )
            page = await own.new_page()
            await page.goto(running.url)
            await page.locator(".omni-run:visible").wait_for(timeout=60_000)
            await page.wait_for_function("document.querySelector('#omni-pill').dataset.state === 'ready'")
            yield page
            await own.close()

        yield window
        await browser.close()


async def open_tab(page: Page, number: int) -> None:
    name = texts()(f"page.tab.{TABS[number].id}", await page.evaluate("document.documentElement.dataset.language"))
    tab = page.locator("#omni-tabs [role=tab]:visible", has_text=name)
    if not await tab.count():  # a phone has no room for all of them
        await page.locator("#omni-tabs .overflow-menu > button").click()
        tab = page.locator("#omni-tabs .overflow-dropdown button", has_text=name)
    await tab.first.click()
    await page.locator(".omni-sample:visible").first.wait_for()


async def test_in_chinese_no_english_is_left(page_of: PageOf) -> None:
    async with page_of() as page:
        for number in range(5):
            await open_tab(page, number)
            left = [text for text in await page.evaluate(LATIN) if not any(name in text for name in NAMES)]
            assert left == []


async def test_the_switch_turns_everything_and_loses_nothing(page_of: PageOf) -> None:
    async with page_of() as page:
        await page.locator(".omni-run:visible").click()
        await page.get_by_text("还没有问题。").wait_for()
        await page.locator(".omni-question textarea:visible").fill("你好 hello")
        await page.locator("[data-language=en]").click()
        await page.get_by_text("There is no question yet.").wait_for()
        typed = page.locator(".omni-question textarea:visible")
        assert await typed.input_value() == "你好 hello"
        assert await typed.get_attribute("placeholder") == "Ask something, or press a sample"
        assert await page.evaluate("document.documentElement.lang") == "en"
        assert not await page.evaluate(HAN)
        await page.locator("[data-language=zh]").click()
        await page.get_by_text("还没有问题。").wait_for()
        assert await page.evaluate("performance.getEntriesByType('navigation')[0].type") == "navigate"


async def test_the_choice_is_remembered(page_of: PageOf) -> None:
    async with page_of(locale="en-US") as page:
        assert not await page.evaluate(HAN)
        await page.locator("[data-language=zh]").click()
        await page.reload()
        await page.get_by_role("tab", name="图像").wait_for()


async def test_looking_under_more_changes_nothing(page_of: PageOf) -> None:
    async with page_of(locale="en-US") as page:
        await page.get_by_text("More: length").click()
        fields = page.locator(".omni-number textarea:visible, .omni-number input:visible")
        await fields.first.wait_for()
        assert [await field.input_value() for field in await fields.all()] == ["", "", ""]
        await page.locator(".omni-sample:visible").first.click()
        await page.wait_for_function("document.querySelector('.omni-stage').dataset.state === 'done'")


async def test_all_of_it_comes_from_here(page_of: PageOf, running: RunningApp) -> None:
    asked: list[str] = []
    async with page_of() as page:
        page.on("request", lambda request: asked.append(request.url))
        await page.reload()
        await page.locator(".omni-run:visible").wait_for(timeout=60_000)
        for number in range(5):
            await open_tab(page, number)
    assert asked
    assert [url for url in asked if not url.startswith((running.url, "data:", "blob:"))] == []


@pytest.mark.parametrize("locale", ["zh-CN", "en-US"])
async def test_on_a_phone_run_is_in_reach_and_nothing_runs_off_the_side(page_of: PageOf, locale: str) -> None:
    async with page_of(locale=locale, viewport={"width": 390, "height": 844}, has_touch=True) as page:
        for number in range(5):
            await open_tab(page, number)
            assert await page.evaluate("document.documentElement.scrollWidth") <= 390
            box = await page.locator(".omni-run:visible").bounding_box()
            assert box is not None
            assert box["height"] >= 44  # a thumb
            assert 700 < box["y"] < 844 - box["height"]
        await page.locator(".omni-sample:visible").first.click()
        await page.wait_for_function(
            "[...document.querySelectorAll('.omni-stage')].find(e => e.offsetParent).getBoundingClientRect().top < 700"
        )


async def test_a_sentence_of_gradios_with_something_of_the_moment_in_it_is_turned_too(page_of: PageOf) -> None:
    async with page_of() as page:
        await page.evaluate("document.body.append('File(s) exceed the maximum allowed size of 512.0 mb: a.mp4')")
        await page.get_by_text("文件超过了 512.0 mb 的上限：a.mp4").wait_for()
