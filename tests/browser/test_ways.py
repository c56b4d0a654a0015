"""Where the socket is broken, or the audio thread is missing, the answer is heard all the same."""

from __future__ import annotations

import asyncio
import json
from collections.abc import AsyncIterator
from typing import Any
from urllib.parse import urlsplit

import numpy as np
import pytest
import pytest_asyncio
from playwright.async_api import async_playwright

from tests.browser.conftest import CHROMIUM_ARGS
from tests.browser.listener import EDGE, Listener, follow
from tests.browser.stub import Script, steady
from tests.conftest import CHROMIUM

pytestmark = [pytest.mark.browser, pytest.mark.asyncio(loop_scope="session")]


async def broken(listener: Listener, how: str) -> None:
    await listener.page.request.get(f"{listener.page.url.split('?')[0]}break?{how}")


async def again(listener: Listener) -> None:
    """A new page: the worker remembers that sockets cannot be opened here."""
    await listener.page.reload()
    await listener.page.wait_for_selector("#one .omni-caption")
    listener.skip = 0


async def ways(listener: Listener) -> list[str]:
    """Ask, hear everything, and tell by which ways it came."""
    page = listener.page
    await listener.mark()
    await page.evaluate(
        "() => { window.ways ??= []; ways.length = 0; const {worker} = omni.player;"
        "worker.heard ??= worker.addEventListener('message', ({data}) => data.route && ways.push(data.route)) ?? true; }"
    )
    await listener.ask(Script(chunks=steady(2, 0.4)))
    await listener.played()
    await listener.state("done")
    wav = await listener.wav()
    assert len(wav) == 2 * 24_000
    assert len(wav) - follow(await listener.heard(), wav) <= 1
    snapshot: dict[str, Any] = {}
    for _ in range(100):
        snapshot = json.loads(await listener.fetch("snapshot"))
        if snapshot["played_ms"] == 2_000:
            break
        await asyncio.sleep(0.05)
    assert snapshot["figures"]["first_sound_ms"] is not None, "reported without the socket, too"
    assert snapshot["played_ms"] == 2_000
    return await page.evaluate("ways")


@pytest.mark.parametrize(
    ("how", "route"),
    [
        ("socket=3", ["socket", "stream"]),
        ("socket=3&stream=502", ["socket", "stream", "file"]),
        ("stream=502", ["socket"]),
    ],
)
async def test_a_way_that_breaks_off_is_taken_up_by_the_next(listener: Listener, how: str, route: list[str]) -> None:
    listener.quiet = True  # a request that is refused is an error on the browser's console
    await broken(listener, how)
    assert await ways(listener) == route
    await broken(listener, "")


@pytest.mark.parametrize("how", ["hang", "refuse"])
async def test_a_gateway_without_sockets_costs_its_patience_once(listener: Listener, how: str) -> None:
    listener.quiet = True
    await again(listener)
    await broken(listener, f"socket={how}")
    assert await ways(listener) == ["socket", "stream"]
    await broken(listener, f"socket={how}&stream=502")
    assert await ways(listener) == ["stream", "file"]
    await broken(listener, "")
    await again(listener)


async def test_a_session_the_app_does_not_know_says_so(listener: Listener) -> None:
    page = listener.page
    await listener.ask(Script(chunks=[(0.1, 0.3)]))
    await listener.state("done")
    await page.click("button[role=tab]:has-text('two')")
    await listener.ask(Script(chunks=[(0.1, 0.3)]), "two")
    await listener.state("done", "two")
    await listener.played()
    await page.context.clear_cookies()
    await page.click("button[role=tab]:has-text('one')")
    await page.click('#one [data-action="sound"]')
    await page.wait_for_selector("#one .omni-fault")
    assert "Reload the page" in await page.inner_text("#one .omni-fault")
    await page.reload()
    await page.wait_for_selector("#one .omni-caption")


# What every source node was told to play, in order: the fallback has no worklet to listen in.
RECORD = """
window.played = [];
const {start, stop} = AudioBufferSourceNode.prototype;
AudioBufferSourceNode.prototype.start = function (at) {
  played.push({at, samples: Array.from(this.buffer.getChannelData(0)), rate: this.buffer.sampleRate});
  return start.call(this, at);
};
"""


@pytest_asyncio.fixture(scope="module", loop_scope="session")
async def lan(dev_page: str, stub: str) -> AsyncIterator[Listener]:
    """A visitor who came by plain http to a name on the LAN: no secure origin, no AudioWorklet."""
    port = urlsplit(dev_page).port
    async with async_playwright() as playwright:
        chromium = await playwright.chromium.launch(
            executable_path=CHROMIUM, args=[*CHROMIUM_ARGS, "--host-resolver-rules=MAP demo.lan 127.0.0.1"]
        )
        page = await chromium.new_page()
        await page.add_init_script(RECORD)
        async with Listener.on(page, f"http://demo.lan:{port}", stub) as visitor:
            yield visitor
        await chromium.close()


async def test_without_audio_worklet_the_same_samples_are_scheduled_and_the_page_says_why(lan: Listener) -> None:
    page = lan.page
    assert await page.evaluate("[isSecureContext, 'audioWorklet' in AudioContext.prototype]") == [False, False]
    await lan.ask(Script(chunks=steady(2, 0.4)))
    await lan.played()
    wav = await lan.wav()
    played = await page.evaluate("played")
    samples = np.concatenate([np.array(block["samples"], np.float32) for block in played])
    # Buffers follow each other without a gap; where the machine was too slow for that, the sound fades on both sides.
    lengths = np.cumsum([len(block["samples"]) for block in played])
    gaps = [
        int(length)
        for length, one, two in zip(lengths, played, played[1:], strict=False)
        if abs(two["at"] - one["at"] - len(one["samples"]) / 24_000) > 1e-6
    ]
    near = {at for edge in (0, *gaps, len(wav)) for at in range(edge - EDGE, edge + EDGE)}
    wrong = set(np.flatnonzero(samples != wav)) if len(samples) == len(wav) else {-1}
    assert wrong <= near
    report = await lan.report()
    assert (report["underruns"], report["total"]) == (len(gaps), 48_000)
    assert report["first_sound_ms"] > 0
    note = await page.inner_text("#one .omni-note")
    port = urlsplit(page.url).port
    assert f"ssh -L {port}:127.0.0.1:{port} demo.lan" in note
    assert not lan.wrong, lan.wrong


async def test_without_audio_worklet_stop_is_silent_and_replay_works(lan: Listener) -> None:
    page = lan.page
    await page.evaluate(
        "() => { window.cut = []; const {linearRampToValueAtTime: ramp} = AudioParam.prototype;"
        "AudioParam.prototype.linearRampToValueAtTime = function (value, at) {"
        "  cut.push([value, at]); return ramp.call(this, value, at); }; }"
    )
    await lan.ask(Script(chunks=steady(6, 0.9)))
    await lan.played("playing")
    now = await page.evaluate(
        "() => { cut.length = 0; omni.stop('one'); return omni.player.deck.context.currentTime; }"
    )
    (value, at) = (await page.evaluate("cut"))[-1]
    assert value == 0
    assert at - now < 0.03
    assert await lan.text("status") == "Stopped"
    count = await page.evaluate("played.length")
    await page.wait_for_timeout(800)
    assert await page.evaluate("played.length") == count, "nothing more is booked"
    await page.click('#one [data-action="sound"]')
    await lan.played()
    assert await page.evaluate("played.length") > count
