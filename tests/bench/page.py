"""What the page weighs and whom it calls, and what the app weighs after twenty turns."""

from __future__ import annotations

import tempfile
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

import gradio_client
import psutil
from playwright.sync_api import sync_playwright

from tests.bench.running import running_app
from tests.browser.conftest import CHROMIUM_ARGS
from tests.conftest import CHROMIUM

TURNS = 20
SAMPLE_MEDIA = "/samples/"  # the issue counts the page without its sample media
CANNED = "--brain canned --audio-s 3"


def load_page(url: str) -> dict[str, Any]:
    """A cold visit of the first tab: kilobytes on the wire and requests to anywhere else."""
    sizes: dict[str, float] = {}
    strangers: set[str] = set()
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=CHROMIUM, args=CHROMIUM_ARGS)
        page = browser.new_page()
        devtools = page.context.new_cdp_session(page)
        devtools.send("Network.enable")
        urls: dict[str, str] = {}

        def requested(event: dict[str, Any]) -> None:
            address = event["request"]["url"]
            urls[event["requestId"]] = address
            if address.startswith(("http", "ws")) and urlsplit(address).hostname != urlsplit(url).hostname:
                strangers.add(address)

        devtools.on("Network.requestWillBeSent", requested)
        devtools.on(
            "Network.loadingFinished",
            lambda event: sizes.update({event["requestId"]: event["encodedDataLength"]}),
        )
        page.goto(url)
        page.wait_for_selector(".omni-run:visible", timeout=60_000)
        page.wait_for_timeout(3_000)  # late modules and the first polls of the pill
        browser.close()
    counted = [size for request, size in sizes.items() if SAMPLE_MEDIA not in urls.get(request, "")]
    return {"page_kb": round(sum(counted) / 1024), "page_requests": len(counted), "external_urls": len(strangers)}


def measure() -> dict[str, Any]:
    """``page_kb``, ``external_urls`` (a count) and ``app_rss_mb`` (the app's own process after ``TURNS`` turns)."""
    with tempfile.TemporaryDirectory() as folder, running_app(Path(folder), "--rehearsal-args", CANNED) as app:
        figures = load_page(app.url)
        client = gradio_client.Client(app.url, verbose=False)
        for n in range(TURNS):
            client.predict(f"turn {n}", api_name="/text_speech")
        figures["app_rss_mb"] = round(psutil.Process(app.pid).memory_info().rss / 2**20)
    return figures
