"""How soon, how smoothly and how obediently the page speaks: the real app in headless Chromium, over a stub that sleeps and sends a tone.

``first_sound_ms``: the first byte of sound leaves the stub → the first non-zero sample leaves the worklet; both by this machine's clock.
``first_sound_ratio``: that median over the same for ``gr.Audio(streaming=True, autoplay=True)``, listened to behind its media element.
``underruns``: holes in 20 s of 1 s packets at RTF 0.9: with each packet up to 60 ms early or late; with the page's thread stalled for
500 ms of every 900. ``stop_to_silence_ms``: the Esc key → the first silent sample, while it speaks.
"""

from __future__ import annotations

import asyncio
import random
import shutil
import statistics
import tempfile
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import httpx
from playwright.async_api import Page, async_playwright

from tests.bench.running import running_app
from tests.browser.conftest import CHROMIUM_ARGS, process
from tests.browser.stub import Script, steady
from tests.conftest import CHROMIUM

RUNS = 20  # so that a p95 is a run that happened
BUILTIN_RUNS = 7  # each takes two seconds and more, and only their median is used
SECONDS = 20
JITTER_S = 0.06
JITTER_RUNS = 2  # of 20 s each; their holes are added up

# The worklet's messages with the clock of their block, and the key that stops.
LISTEN = """() => {
  window.log = [];
  const {deck} = omni.player, {tell} = deck;
  deck.tell = (message) => { if (message.clock) log.push({...message}); tell(message); };
  addEventListener('keydown', (event) => event.key === 'Escape'
    && log.push({type: 'stop', clock: performance.timeOrigin + event.timeStamp}), {capture: true});
}"""

# Behind every media element a worklet that notes when sound begins after `armed` was set.
TAP = """
const code = `registerProcessor('tap', class extends AudioWorkletProcessor {
  constructor() { super(); this.armed = true; this.port.onmessage = () => { this.armed = true; }; }
  process([[input]], [[output]]) {
    if (input) output.set(input);
    if (input && this.armed && input.some((sample) => Math.abs(sample) > 1e-3)) {
      this.armed = false;
      this.port.postMessage(Date.now());
    }
    return true;
  }
})`;
window.heard = [];
window.taps = [];
let context = null, ready = null;
addEventListener('pointerdown', () => {
  if (context) return;
  context = new AudioContext();
  ready = context.audioWorklet.addModule(URL.createObjectURL(new Blob([code], {type: 'text/javascript'})));
}, {capture: true});
const seen = new WeakSet();
for (const type of ['loadstart', 'loadedmetadata', 'play']) addEventListener(type, async (event) => {
  if (!(event.target instanceof HTMLMediaElement) || seen.has(event.target)) return;
  seen.add(event.target);
  await ready;
  const tap = new AudioWorkletNode(context, 'tap');
  tap.port.onmessage = ({data}) => heard.push(data);
  taps.push(tap);
  context.createMediaElementSource(event.target).connect(tap).connect(context.destination);
}, {capture: true});
"""


def measure() -> dict[str, Any]:
    """The figures by key; ``first_sound_ratio`` is ``None`` without an ``ffmpeg`` program, which Gradio's component needs."""
    return asyncio.run(_measure())


async def _measure() -> dict[str, Any]:
    with process("tests.browser.stub") as stub, tempfile.TemporaryDirectory() as runs:
        with running_app(Path(runs), "--server", stub) as app:
            async with _page(app.url) as page:
                await page.evaluate(LISTEN)
                first, stop = await _first_and_stop(page, stub)
                jitter = [await _holes(page, _jittered(seed)) for seed in range(JITTER_RUNS)]
                await page.evaluate(
                    "() => { setInterval(() => { const end = performance.now() + 500; while (performance.now() < end); }, 900); }"
                )
                stalls = await _holes(page, steady(SECONDS, 0.9))
        builtin = await _builtin(stub) if shutil.which("ffmpeg") else []
    median = statistics.median(first)
    return {
        "first_sound_ms": {"median": median, "p95": _p95(first)},
        "first_sound_ratio": median / statistics.median(builtin) if builtin else None,
        "builtin_first_sound_ms": {"median": statistics.median(builtin)} if builtin else None,
        "underruns": {"jitter": sum(jitter), "stalls": stalls},
        "stop_to_silence_ms": {"median": statistics.median(stop), "p95": _p95(stop)},
    }


def _p95(values: list[float]) -> float:
    return statistics.quantiles(values, n=20, method="inclusive")[-1]


def _jittered(seed: int) -> list[tuple[float, float]]:
    random_late = random.Random(seed)
    return steady(SECONDS, 0.9, late=[random_late.uniform(-JITTER_S, JITTER_S) for _ in range(SECONDS)])


@asynccontextmanager
async def _page(url: str, script: str = "") -> AsyncIterator[Page]:
    async with async_playwright() as playwright:
        chromium = await playwright.chromium.launch(executable_path=CHROMIUM, args=CHROMIUM_ARGS)
        page = await chromium.new_page(viewport={"width": 1440, "height": 900})
        if script:
            await page.add_init_script(script)
        await page.goto(url)
        await page.wait_for_selector(".omni-caption, #run")
        yield page
        await chromium.close()


async def _ask(page: Page, script: Script) -> int:
    """Ask in the first tab; the number its answer will have."""
    before = await page.evaluate("omni.player.answer")
    await page.locator(".omni-ask textarea").first.fill(script.prompt())
    await page.locator(".omni-run").first.click()
    return before + 1


async def _first_byte_ms(stub: str) -> float:
    async with httpx.AsyncClient(trust_env=False) as client:
        return (await client.get(f"{stub}/sent")).json()["first_byte"] * 1000


async def _first_and_stop(page: Page, stub: str) -> tuple[list[float], list[float]]:
    first, stop = [], []
    for run in range(RUNS + 1):
        answer = await _ask(page, Script(chunks=steady(4, 0.9, 0.5)))
        await page.wait_for_function(f"log.some(({{type, answer}}) => type === 'sound' && answer === {answer})")
        left = await _first_byte_ms(stub)
        await page.keyboard.press("Escape")
        await page.wait_for_function(f"log.some(({{type, answer}}) => type === 'silent' && answer === {answer})")
        sound, silent, key = await page.evaluate(
            f"[...['sound', 'silent'].map((what) => log.findLast(({{type, answer}}) => type === what && answer === {answer}).clock),"
            "log.findLast(({type}) => type === 'stop').clock]"
        )
        if run:  # the first opens the sound card
            first.append(sound - left)
            stop.append(silent - key)
        await asyncio.sleep(0.3)
    return first, stop


async def _holes(page: Page, chunks: list[tuple[float, float]]) -> int:
    answer = await _ask(page, Script(chunks=chunks))
    over = f"omni.player.answer === {answer} && omni.player.last?.state === 'ended'"
    await page.wait_for_function(over, timeout=(SECONDS + 30) * 1000)
    played = await page.evaluate("omni.player.last")
    assert played["total"] == SECONDS * 24_000, played
    return played["underruns"]


async def _builtin(stub: str) -> list[float]:
    first = []
    with process("tests.bench.builtin_page", stub) as url:
        async with _page(url, TAP) as page:
            for run in range(BUILTIN_RUNS + 1):
                await page.locator("#prompt textarea, #prompt input").first.fill(
                    Script(chunks=steady(4, 0.9, 0.5)).prompt()
                )
                count = await page.evaluate(
                    "() => { taps.forEach((tap) => tap.port.postMessage('arm')); return heard.length; }"
                )
                await page.click("#run")
                await page.wait_for_function(f"heard.length > {count}", timeout=30_000)
                if run:
                    first.append(await page.evaluate(f"heard[{count}]") - await _first_byte_ms(stub))
                await asyncio.sleep(5)  # until it has spoken
    return first
