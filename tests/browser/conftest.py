"""A stub server, a page of stages and Chromium, each in a process of its own, so that no test thread slows the sound
down."""

from __future__ import annotations

import subprocess
import sys
from collections.abc import AsyncIterator, Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest
import pytest_asyncio
from playwright.async_api import Browser, async_playwright

from tests.browser.listener import Listener
from tests.conftest import CHROMIUM

ROOT = Path(__file__).resolve().parents[2]
CHROMIUM_ARGS = [
    "--no-sandbox",  # tests may run as root in a container
    "--disable-gpu",
    "--disable-quic",
    "--no-first-run",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
    "--autoplay-policy=document-user-activation-required",  # as on a desktop: without a gesture no sound
]


@contextmanager
def process(*command: str) -> Iterator[str]:
    """A Python module as a server: the address it prints in its first line; ended at the end."""
    server = subprocess.Popen([sys.executable, "-m", *command], stdout=subprocess.PIPE, text=True, cwd=ROOT)
    try:
        assert server.stdout is not None
        yield server.stdout.readline().strip()
    finally:
        server.terminate()
        server.wait(20)


@pytest.fixture(scope="session")
def stub() -> Iterator[str]:
    with process("tests.browser.stub") as url:
        yield url


@pytest.fixture(scope="session")
def dev_page(stub: str) -> Iterator[str]:
    with process("tests.browser.dev_page", stub) as url:
        yield url


@pytest_asyncio.fixture(scope="session", loop_scope="session")
async def browser() -> AsyncIterator[Browser]:
    async with async_playwright() as playwright:
        chromium = await playwright.chromium.launch(executable_path=CHROMIUM, args=CHROMIUM_ARGS)
        yield chromium
        await chromium.close()


@pytest_asyncio.fixture(scope="session", loop_scope="session")
async def visitor(browser: Browser, dev_page: str, stub: str) -> AsyncIterator[Listener]:
    """Somebody on the page of stages, whose worklet keeps what it plays. Opening it takes seconds: once for all."""
    context = await browser.new_context(viewport={"width": 1440, "height": 900})
    async with Listener.on(await context.new_page(), dev_page, stub) as visitor:
        yield visitor
    await context.close()


@pytest_asyncio.fixture(loop_scope="session")
async def listener(visitor: Listener) -> AsyncIterator[Listener]:
    """The visitor before empty stages, with nothing heard yet. Any error of the page's scripts fails the test."""
    await visitor.afresh()
    yield visitor
    assert not visitor.wrong, visitor.wrong
