"""The Server tab on the real page: a start with its progress, its log, a stop after a question, and the forward guide."""

from __future__ import annotations

from pathlib import Path

import pytest
from playwright.async_api import Browser, Page, Route, expect

from tests.launch.running import Box, box
from tests.running import running_app

LONG_MS = 60_000  # a start of the fake takes two seconds; the launcher's own processes come on top, on busy cores


async def opened(page: Page, url: str) -> None:
    await page.set_viewport_size({"width": 1280, "height": 900})
    await page.goto(url)
    await page.get_by_role("tab", name="Server", exact=True).first.click()
    await expect(page.locator(".omni-server option")).not_to_have_count(0)


@pytest.mark.asyncio(loop_scope="session")
async def test_a_server_is_started_watched_and_stopped(browser: Browser, tmp_path: Path) -> None:
    with box(tmp_path) as machine:
        machine.path = f"{machine.vllm.parent}:/usr/bin:/bin"
        with running_app("--lang", "en", environ=machine.shell(pace="0.3")) as app:
            page = await browser.new_page()
            wrong: list[str] = []
            page.on("pageerror", lambda error: wrong.append(str(error)))
            await opened(page, app.url)
            await start(page, machine)
            card = page.locator(".omni-server-card")
            await expect(card).to_have_attribute("data-state", "ready", timeout=LONG_MS)
            await expect(card).to_contain_text(f"python app.py --server http://127.0.0.1:{machine.port}")
            await card.locator("summary").click()
            await expect(card.locator(".omni-server-log")).to_contain_text("APIServer pid", timeout=LONG_MS)
            await card.get_by_role("button", name="Stop").click()
            await card.get_by_role("button", name="No").click()
            assert len(machine.ours()) == 1, "nothing is stopped before it is confirmed"
            await card.get_by_role("button", name="Stop").click()
            await card.get_by_role("button", name="Yes").click()
            await expect(card).to_have_count(0, timeout=LONG_MS)
            assert machine.ours() == []
            await barred(page, app.url)
            await guide(page)
            await page.close()
            assert not wrong


async def start(page: Page, machine: Box) -> None:
    form = page.locator(".omni-server-right .omni-server-part").first
    await form.locator("select").select_option("2card")
    await expect(form.locator(".omni-server-box")).to_have_count(2)
    await form.locator("select").select_option("1card")
    await form.get_by_label("Folder of the weights").fill(str(machine.root / "model"))
    await form.get_by_label("Port").fill(str(machine.port))
    await form.get_by_role("button", name="Show the command").click()
    await expect(form.locator(".omni-server-line code")).to_contain_text("vllm serve", timeout=LONG_MS)
    await form.get_by_role("button", name="Start").click()
    await form.get_by_role("button", name="Yes").click()


async def guide(page: Page) -> None:
    """The forward form fills in host and port; on a phone nothing is wider than the page."""
    part = page.locator(".omni-server-right .omni-server-part").last
    await part.get_by_label("User and machine").fill("root@10.1.2.3")
    await part.get_by_role("button", name="Show the line").click()
    await expect(part.locator("code").first).to_contain_text("root@10.1.2.3", timeout=LONG_MS)
    await page.locator("[data-language=zh]").last.click()
    await expect(part.locator("h2")).to_have_text("在自己的电脑上打开本页")
    await page.set_viewport_size({"width": 390, "height": 800})
    assert await page.evaluate("document.documentElement.scrollWidth <= innerWidth")


async def barred(page: Page, url: str) -> None:
    """Where the app does not let the page start anything, the buttons are off and it is said why."""

    async def forbid(route: Route) -> None:
        answer = await route.fetch()
        await route.fulfill(json={**await answer.json(), "why_not": "asked"})

    await page.route("**/control?*", forbid)
    await opened(page, url)
    form = page.locator(".omni-server-right .omni-server-part").first
    await expect(form).to_contain_text("The page was started with --no-control.")
    await expect(form.get_by_role("button", name="Start")).to_be_disabled()
