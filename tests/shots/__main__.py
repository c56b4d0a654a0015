"""``make shots``: five tabs answered, one tab in each of its states, in four looks.

Every picture comes from the app itself over its rehearsal engine; nothing is drawn for the camera. ``--quick`` uses the
engine without models.
"""

from __future__ import annotations

import argparse
import asyncio
import shutil
import sys
from pathlib import Path

import numpy as np
import soundfile
from playwright.async_api import Browser, async_playwright

from tests.browser.caller import FAKE_DEVICES, write_wav
from tests.browser.conftest import CHROMIUM_ARGS
from tests.conftest import CHROMIUM
from tests.shots import sheet
from tests.shots.started import ROOT, app
from tests.shots.visitor import Look, Visitor

OUT = ROOT / "build" / "shots"
TABS = ("text_speech", "image", "audio", "video", "multi_turn")
# Four of the eight: any two of language, theme and width meet in one of them.
LOOKS = (Look("zh", "light", 1440), Look("en", "dark", 1440), Look("zh", "dark", 390), Look("en", "light", 390))
CANNED = ("--brain", "canned", "--first-audio-s", "0.3", "--rtf", "0.4")
WIDTHS = {1440: 960, 390: 390}  # of a picture on its sheet: what is small on a page must stay legible there
HEADLESS_SOUND = "--autoplay-policy=no-user-gesture-required"
RATE = 48_000  # Hz, of the visitors' microphone
SILENCE_S = (1.0, 20.0)  # before their question, and until they ask again

TALK_MS = 1_500  # so that words are lit and the timeline has something on it

Pictures = list[tuple[str, Path]]


def question(folder: Path) -> Path:
    """What the visitors' microphone hears: a sample question, as a WAV."""
    speech, rate = soundfile.read(ROOT / "assets" / "samples" / "question-en.flac")
    speech = np.interp(np.arange(0, len(speech), rate / RATE), np.arange(len(speech)), speech)
    before, after = (np.zeros(round(seconds * RATE)) for seconds in SILENCE_S)
    return write_wav(folder / "question.wav", np.concatenate([before, speech, after]), RATE)


async def answered(browser: Browser, url: str, look: Look) -> tuple[Pictures, Pictures]:
    """All tabs after their first sample, the duplex tab before its first word; the text tab empty, running and speaking; a conversation."""
    tabs: Pictures = []
    states: Pictures = []
    async with Visitor.on(browser, url, look, OUT / "pages") as visitor:
        states.append(("empty", await visitor.shot("empty")))
        for tab in TABS:
            await visitor.open(tab)
            await visitor.press()
            if tab == "text_speech":
                await visitor.until(tab, "waiting", "streaming", "done")
                states.append(("running", await visitor.shot("running")))
                await visitor.until_spoken("playing", "ended")
                states.append(("speaking", await visitor.shot("speaking")))
            await visitor.until(tab, "done")
            await visitor.until_spoken("ended")
            tabs.append((tab, await visitor.whole(tab)))
        await visitor.open("duplex")
        tabs.append(("duplex", await visitor.whole("duplex")))
        await visitor.converse("model")
        await visitor.page.wait_for_timeout(TALK_MS)
        states.append(("duplex", await visitor.shot("duplex-speaking")))
        await visitor.converse("ended")
    return tabs, states


async def broken(browser: Browser, url: str, look: Look, state: str) -> tuple[str, Path]:
    """The text tab over a server with a fault."""
    async with Visitor.on(browser, url, look, OUT / "pages") as visitor:
        await visitor.press()
        await visitor.until("text_speech", state)
        return state, await visitor.shot(state)


async def take(quick: bool) -> None:
    shutil.rmtree(OUT, ignore_errors=True)
    (OUT / "pages").mkdir(parents=True)
    states: dict[Look, Pictures] = {}
    async with async_playwright() as playwright:
        browser = await playwright.chromium.launch(
            executable_path=CHROMIUM,
            args=[*CHROMIUM_ARGS, HEADLESS_SOUND, *FAKE_DEVICES, f"--use-file-for-fake-audio-capture={question(OUT)}"],
        )
        with app(OUT / "runs", *(CANNED if quick else ())) as url:
            for look in LOOKS:
                tabs, states[look] = await answered(browser, url, look)
                save(f"tabs-{look}", tabs, look)
        for fault, state in (("404-model", "failed"), ("error-in-stream", "cut")):
            with app(OUT / "runs", *CANNED, "--fault", fault) as url:
                for look in LOOKS:
                    states[look].append(await broken(browser, url, look, state))
        await browser.close()
    for look in LOOKS:
        save(f"states-{look}", states[look], look)


def save(name: str, pictures: Pictures, look: Look) -> None:
    path = OUT / f"{name}.png"
    sheet.save(path, pictures, width=WIDTHS[look.width], columns=2 if look.width == 1440 else len(pictures))
    print(path.relative_to(ROOT), flush=True)


def main() -> int:
    parser = argparse.ArgumentParser(prog="python -m tests.shots", description="Contact sheets of the page.")
    parser.add_argument("--quick", action="store_true", help="use the rehearsal engine without its models")
    options = parser.parse_args()
    if CHROMIUM is None:
        print("No Chromium here: install the package 'chromium'.", file=sys.stderr)
        return 1
    asyncio.run(take(options.quick))
    return 0


if __name__ == "__main__":
    sys.exit(main())
