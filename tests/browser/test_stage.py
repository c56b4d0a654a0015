"""The stage through its states: what a visitor sees, presses, and no longer hears."""

from __future__ import annotations

import asyncio
import re
from itertools import pairwise

import pytest

from tests.browser.listener import Listener, follow
from tests.browser.stub import Script, steady

pytestmark = [pytest.mark.browser, pytest.mark.asyncio(loop_scope="session")]

WORDS = {"curl": "curl -N", "powershell": "curl.exe", "python": "OpenAI(", "events": '"type":"text"'}
HTML = "<img src=x onerror=alert(1)> **bold** & <script>alert(2)</script>"


async def test_empty_then_waiting_at_once_then_spoken(listener: Listener) -> None:
    page = listener.page
    assert await listener.text("hint") == "Press a sample, or ask something of your own."
    assert await page.locator("#one .omni-figs b").all_inner_texts() == ["—"] * 5
    await page.evaluate(
        "() => { window.seen = []; const stage = document.querySelector('#one .omni-stage');"
        "const {begin} = omni; omni.begin = (id) => { begin(id);"
        "requestAnimationFrame(() => seen.push(stage.dataset.state)); }; }"
    )
    text = "One two three four five six seven eight nine ten eleven twelve thirteen."
    await listener.ask(Script(text=text, chunks=steady(3, 0.5, 2.0), text_s=1.5))
    await page.wait_for_function("window.seen.length > 0")
    assert await page.evaluate("seen") == ["waiting"], "drawn before the next frame"
    assert re.fullmatch(r"Waiting for the first word · \d+\.\d s", await listener.text("status"))
    await listener.state("streaming")
    await page.wait_for_function("document.querySelector('#one .omni-said').textContent.length > 0")
    assert (await listener.text("status")).startswith("Speaking")
    assert await page.inner_text("#one .omni-next") != ""
    await listener.played()
    await listener.state("done")
    assert await listener.text("said") == text
    assert await listener.text("status") == "Spoken · 3.0 s"
    assert "—" not in await page.locator("#one .omni-figs b").all_inner_texts()
    for figure in await page.locator("#one .omni-figs > div").all():
        assert len(await figure.get_attribute("title") or "") > 20


async def test_the_caption_goes_forward_word_by_word(listener: Listener) -> None:
    await listener.page.evaluate(
        "() => { window.captions = []; const caption = document.querySelector('#one .omni-caption');"
        "const look = () => { const said = caption.querySelector('.omni-said').textContent;"
        "  if (said !== captions.at(-1)) captions.push(said); };"
        "new MutationObserver(look).observe(caption, {subtree: true, childList: true, characterData: true}); }"
    )
    text = "今天天气很好，我们一起去公园散步吧。"
    await listener.ask(Script(text=text, chunks=steady(4, 0.3)))
    await listener.played()
    captions = await listener.page.evaluate("captions")
    assert captions[-1] == text
    assert len(captions) >= 8
    assert all(longer.startswith(shorter) for shorter, longer in pairwise(captions))


async def test_the_switch_shows_the_whole_text_at_once(listener: Listener) -> None:
    await listener.ask(Script(text="One two three four five six.", chunks=steady(3, 0.5)))
    await listener.played("playing")
    page = listener.page
    colour = "getComputedStyle(document.querySelector('#one .omni-next')).color"
    dim = await page.evaluate(colour)
    await page.click("#one .omni-whole")
    assert await page.get_attribute("#one .omni-whole", "aria-pressed") == "true"
    assert await page.evaluate(colour) != dim
    assert await page.evaluate(colour) == await page.evaluate(colour.replace("omni-next", "omni-said"))


async def test_text_without_speech_streams_plainly_and_stays_text(listener: Listener) -> None:
    await listener.page.evaluate("() => { window.alert = () => { window.alerted = true; }; }")
    await listener.ask(Script(text=HTML, words_s=0.15), speech=False)
    await listener.state("streaming")
    assert (await listener.text("status")).startswith("Writing")
    await listener.state("done")
    assert (await listener.page.inner_text("#one .omni-caption")).strip() == HTML
    assert await listener.page.locator("#one .omni-caption *:not(span)").count() == 0
    assert await listener.page.evaluate("window.alerted") is None
    assert not await listener.page.is_visible("#one .omni-wave")
    assert (await listener.heard()).runs == []


async def test_stop_is_silent_within_30_ms_and_nothing_more_is_heard_or_shown(listener: Listener) -> None:
    await listener.ask(Script(text="One two three four five six seven.", chunks=steady(20, 0.9)))
    await listener.played("playing")
    await asyncio.sleep(0.3)
    await listener.page.evaluate(
        "() => { window.log = []; const {deck} = omni.player, {tell} = deck;"
        "deck.tell = (message) => { log.push(message); tell(message); };"
        "addEventListener('keydown', (event) => log.push({clock: performance.timeOrigin + event.timeStamp}), true); }"
    )
    await listener.page.keyboard.press("Escape")
    await listener.state("stopped")
    before = await listener.text("status")
    text = await listener.page.inner_text("#one .omni-caption")
    await listener.page.wait_for_function("log.some(({type}) => type === 'silent')")
    key, silent = await listener.page.evaluate(
        "[log.find(({type}) => !type).clock, log.find(({type}) => type === 'silent').clock]"
    )
    assert silent - key < 150, "30 ms on a machine that is not busy: see tests/bench/speech.py"
    await listener.mark()
    await asyncio.sleep(1.5)
    assert (await listener.heard()).runs == []
    assert (before, await listener.text("status")) == ("Stopped", "Stopped")
    assert await listener.page.inner_text("#one .omni-caption") == text
    assert (await listener.server())["open"] == 0, "nothing is left running on the server"
    await listener.page.click('#one [data-action="sound"]')
    await listener.played()
    wav = await listener.wav()
    assert len(wav) >= 24_000
    assert len(wav) - follow(await listener.heard(), wav) <= 1, "what came can be heard again"


async def test_clear_leaves_nothing_and_no_late_word_appears(listener: Listener) -> None:
    await listener.ask(Script(chunks=steady(20, 0.9)))
    await listener.state("streaming")
    await listener.page.click("#one-clear")
    await listener.state("empty")
    await asyncio.sleep(0.1)
    await listener.mark()
    await asyncio.sleep(1.5)
    assert (await listener.heard()).runs == []
    assert await listener.text("hint") != ""
    assert await listener.text("said") == ""
    assert (await listener.server())["open"] == 0


async def test_a_double_click_asks_once(listener: Listener) -> None:
    before = (await listener.server())["requests"]
    await listener.page.fill("#one-prompt textarea", Script(chunks=[(0.1, 0.3)]).prompt())
    await listener.page.dblclick("#one-run")
    await listener.played()
    await listener.state("done")
    assert (await listener.server())["requests"] == before + 1


async def test_the_keyboard_runs_and_one_answer_silences_the_other(listener: Listener) -> None:
    page = listener.page
    await listener.ask(Script(text="The first answer.", chunks=steady(4, 0.5)))
    await listener.played("playing")
    await page.click("button[role=tab]:has-text('two')")
    await page.fill("#two-prompt textarea", Script(text="The second answer.", chunks=[(2.0, 1.0)], text_s=1.5).prompt())
    await page.keyboard.press("Control+Enter")
    await listener.state("waiting", "two")
    await asyncio.sleep(0.1)
    await listener.mark()
    await listener.state("done", "two")
    await page.wait_for_function("document.querySelector('#two .omni-status').textContent.startsWith('Spoken')")
    assert not (await page.text_content("#one .omni-status") or "").startswith("Speaking")
    wav = await listener.wav("two")
    assert len(wav) - follow(await listener.heard(), wav) <= 1


async def test_a_cut_answer_stays_playable_and_offers_to_retry(listener: Listener) -> None:
    page = listener.page
    await listener.ask(Script(chunks=steady(4, 0.2), break_after=2))
    await listener.state("cut")
    assert await page.get_attribute("#one .omni-fault", "role") == "alert"
    assert len(await page.inner_text("#one .omni-fault p")) > 30
    await listener.played()
    assert (await listener.report())["total"] == 48_000
    assert await listener.text("status") == "Cut off; what came is kept"
    assert len(await listener.wav()) == 48_000
    await page.fill("#one-prompt textarea", Script(chunks=[(0.1, 0.3)]).prompt())
    await page.click('#one [data-action="retry"]')
    await listener.state("done")
    assert not await page.is_visible("#one .omni-fault")


async def test_a_press_on_the_waveform_plays_from_there_and_counts_no_stall(listener: Listener) -> None:
    page = listener.page
    await listener.ask(Script(chunks=steady(4, 0.2)))
    await listener.played()
    report = await listener.report()
    box = await page.locator("#one .omni-wave").bounding_box()
    assert box is not None
    await listener.mark()
    await page.mouse.click(box["x"] + box["width"] * 0.75, box["y"] + box["height"] / 2)
    await listener.played("playing")
    await listener.played()
    wav = await listener.wav()
    heard = await listener.heard()
    assert len(wav) - follow(heard, wav, None) <= 1
    assert sum(len(run) for _, run in heard.runs) == pytest.approx(len(wav) / 4, abs=1_000)
    assert {key: (await listener.report())[key] for key in ("stall_ms", "played_ms")} == {
        key: report[key] for key in ("stall_ms", "played_ms")
    }
    await page.focus("#one .omni-wave")
    await page.keyboard.press("Home")
    await listener.played("playing")
    await page.click('#one [data-action="sound"]')
    await listener.played("paused")
    at = (await listener.report())["frame"]
    await asyncio.sleep(0.3)
    assert (await listener.report())["frame"] == at
    await page.click('#one [data-action="sound"]')
    await page.wait_for_function(f"omni.player.last.frame > {at} + 4800")


async def test_details_are_fetched_when_unfolded_and_downloads_work(listener: Listener) -> None:
    page = listener.page
    await listener.ask(Script(text="Hello there.", chunks=[(0.1, 0.5)]))
    await listener.state("done")
    for kind, word in WORDS.items():
        await page.click(f'#one [data-kind="{kind}"] summary')
        await page.wait_for_function(
            f"document.querySelector('#one [data-kind={kind}] code').textContent.includes({word!r})"
        )
    async with page.expect_download() as download:
        await page.click('#one [data-file="turn.zip"]')
    assert (await download.value).suggested_filename.startswith("omni-one-")
    await listener.ask(Script(text="Another.", chunks=[(2.0, 0.5)], text_s=1.5))
    await listener.state("waiting")
    assert await page.locator("#one details[open]").count() == 0


async def test_the_same_refusal_twice_is_shown_twice(listener: Listener) -> None:
    await listener.page.fill("#one-prompt textarea", "")
    for _ in range(2):
        await listener.page.click("#one-run")
        await listener.state("failed")
        assert await listener.page.is_visible("#one .omni-fault")
        assert await listener.page.locator('#one [data-action="retry"]').count() == 0
        await asyncio.sleep(0.5)
