"""What may go wrong in a conversation, each with its card, and what the page does about it."""

from __future__ import annotations

from collections.abc import AsyncIterator
from pathlib import Path

import numpy as np
import pytest
import pytest_asyncio

from tests.browser.caller import FAKE_DEVICES, Caller, script
from tests.browser.listener import EDGE, Sounded, follow
from tests.browser.test_duplex import app, microphone, wav

__all__ = ["app", "microphone"]
pytestmark = [pytest.mark.browser, pytest.mark.asyncio(loop_scope="session")]

LONG = {"at": 0.3, "text": "A long answer that goes on and on and on for a while.", "seconds": 6, "pace": 0.6}


@pytest_asyncio.fixture(scope="module", loop_scope="session")
async def visitor(app: str, microphone: Path) -> AsyncIterator[Caller]:
    async with Caller.on(app, microphone) as caller:
        yield caller


@pytest_asyncio.fixture(loop_scope="session")
async def caller(visitor: Caller) -> AsyncIterator[Caller]:
    """Somebody who talks to nobody yet. Any error of the page's scripts fails the test."""
    await visitor.talk("talk.end()")
    await visitor.until("!talk.call.live")
    visitor.wrong.clear()
    yield visitor
    assert not visitor.wrong, visitor.wrong


@pytest_asyncio.fixture(loop_scope="session")
async def guest(caller: Caller) -> AsyncIterator[Caller]:
    """A caller before a fresh page, who leaves a fresh one behind."""
    await caller.afresh()
    yield caller
    await caller.afresh()


async def ended(caller: Caller, key: str) -> None:
    """It ended with this card, cause and cure on it, and can be started again."""
    await caller.state("ended", timeout=30)
    assert await caller.card() == key
    assert len(await caller.page.inner_text(".omni-live .omni-fault")) > 20
    assert await caller.page.inner_text(".omni-live-start") == "Start"


async def test_a_gateway_that_lets_no_socket_through_is_named_soon(caller: Caller) -> None:
    await script(caller.url, socket="refuse")
    await caller.start()
    await ended(caller, "live-no-socket")
    assert (await caller.app("/heard"))["refused"] == 3


async def test_what_the_app_refuses_stands_on_the_card_in_its_own_words(caller: Caller) -> None:
    fault = {
        "cause": {"zh": "只支持一问一答。", "en": "Turns only."},
        "cure": {"zh": "换 `duplex`。", "en": "Use `duplex`."},
    }
    await script(caller.url, refusal=fault)
    await caller.start()
    await ended(caller, "app")
    card = caller.page.locator(".omni-live .omni-fault")
    assert await card.inner_text() == "Turns only. Use duplex."
    await caller.page.evaluate("import('/omni/language.js').then(({setLanguage}) => setLanguage('zh'))")
    await caller.page.wait_for_function(
        "document.querySelector('.omni-live .omni-fault').innerText.includes('一问一答')"
    )
    await caller.page.evaluate("import('/omni/language.js').then(({setLanguage}) => setLanguage('en'))")


async def test_who_waits_sees_their_place_and_then_it_begins(caller: Caller) -> None:
    full = {"type": "state", "state": "waiting", "attempt": 1, "retry_s": 2.0, "wait": 1}
    await script(caller.url, before=[{"type": "state", "state": "queued", "position": 2, "wait": 1}, full])
    await caller.start()
    await caller.state("queued")
    assert "number 2 in line" in await caller.page.inner_text(".omni-live .omni-note")
    await caller.state("waiting")
    assert await caller.card() == "live-waiting"
    await caller.state("listening", "you")
    assert await caller.page.locator(".omni-live .omni-note").count() == 0


async def test_a_session_lost_and_picked_up_again_says_so(caller: Caller) -> None:
    back = {"type": "state", "state": "open", "resumed": False, "gap_s": 2.4}
    before = [{"type": "state", "state": "open", "wait": 0.3}, {"type": "state", "state": "lost", "wait": 1}]
    await script(caller.url, before=before, open=back)
    await caller.start()
    await caller.state("lost")
    assert await caller.card() == "live-resuming"
    await caller.until("talk.call.notices.has('live-fresh')")
    assert "2.4 s" in await caller.page.inner_text(".omni-live .omni-note")


async def test_the_page_comes_back_by_itself_and_misses_no_word_and_no_sample(guest: Caller) -> None:
    await script(guest.url, answers=[LONG], cut_after=12)
    await guest.start()
    await guest.until("talk.call.broken", timeout=10)
    await guest.until("!talk.call.broken && talk.call.dialogue.answers.get(1)?.heard === 6000", timeout=30)
    heard, tapped = await guest.app("/heard"), await guest.tap()
    assert heard["sockets"] == 2
    blocks = tapped.answer(1)
    blocks = blocks[: len(blocks) // 128 * 128].reshape(-1, 128)
    assert follow(Sounded(blocks, np.arange(len(blocks)) * 128), wav(6)) > 6 * 24_000 - 200, (
        "through any hole of the break"
    )
    assert (
        await guest.talk("talk.call.dialogue.answers.get(1).pieces.map(({text}) => text).join('').trim()")
        == LONG["text"]
    )
    # What was spoken while the socket was down is counted, by the gap in its numbers, on both sides.
    numbers = heard["mic"]
    assert numbers[-1] - numbers[0] + 1 - len(numbers) == await guest.talk("talk.call.dropped")


async def test_stalls_of_the_page_lose_nothing_on_either_way(guest: Caller) -> None:
    await script(guest.url, answers=[{**LONG, "pace": 0.9}])
    await guest.page.evaluate(
        "() => { window.stalling = setInterval(() => { const end = performance.now() + 500; while (performance.now() < end); }, 900); }"
    )
    await guest.start()
    await guest.until("talk.call.dialogue.answers.get(1)?.heard === 6000", timeout=40)
    await guest.page.evaluate("clearInterval(stalling)")
    heard, tapped = await guest.app("/heard"), await guest.tap()
    assert heard["mic"] == list(range(heard["mic"][0], heard["mic"][0] + len(heard["mic"])))
    assert len(heard["mic"]) > 25
    assert await guest.talk("[talk.call.dropped, talk.call.stall]") == [0, 0]
    assert np.array_equal(tapped.answer(1)[EDGE : 6 * 24_000 - EDGE], wav(6)[EDGE:-EDGE])


async def test_muted_and_unheld_the_microphone_sends_silence_and_never_stops(guest: Caller) -> None:
    page = guest.page
    await script(guest.url)
    await guest.start()
    await guest.state("listening", "you")
    await page.keyboard.press("m")
    await page.evaluate("document.activeElement.blur()")
    await page.keyboard.press("m")
    await guest.until("talk.muted")
    count = len((await guest.app("/heard"))["mic"])
    await page.wait_for_timeout(1_300)
    heard = await guest.app("/heard")
    frames = np.frombuffer(await guest.app("/mic"), "<i2").reshape(-1, 3_200)
    assert len(heard["mic"]) >= count + 5, "frames go on"
    assert not frames[count + 2 :].any(), "of silence"
    assert [word["on"] for word in heard["words"] if word["type"] == "mute"] == [True]
    await page.keyboard.press("m")
    await page.check('[data-wish="push"]')
    await page.evaluate("document.activeElement.blur()")
    await page.wait_for_timeout(800)
    count = len((await guest.app("/heard"))["mic"])
    await page.keyboard.down(" ")
    await page.wait_for_timeout(900)
    await page.keyboard.up(" ")
    frames = np.frombuffer(await guest.app("/mic"), "<i2").reshape(-1, 3_200)
    assert not frames[count - 2 : count].any()
    assert frames[count + 1 :].any(), "heard while it is held"


async def test_a_microphone_that_is_unplugged_is_named_and_silence_goes_on(guest: Caller) -> None:
    await script(guest.url)
    await guest.start()
    await guest.state("listening", "you")
    await guest.page.evaluate(
        "omniLive.talk.sound.stream.getTracks().forEach((track) => { track.stop(); track.onended(); })"
    )
    assert await guest.card() == "live-microphone-lost"
    count = len((await guest.app("/heard"))["mic"])
    await guest.page.wait_for_timeout(1_000)
    assert len((await guest.app("/heard"))["mic"]) >= count + 3
    first = await guest.page.evaluate("omniLive.talk.microphones[0].deviceId")
    await guest.page.select_option('[data-wish="device"]', first)
    await guest.until("!talk.call.notices.size")
    await guest.until("talk.level.peak > 0.01")


async def test_a_page_in_the_background_says_what_that_means(guest: Caller) -> None:
    await script(guest.url)
    await guest.start()
    await guest.state("listening", "you")
    await guest.page.evaluate(
        "() => { Object.defineProperty(document, 'hidden', {value: true, configurable: true});"
        "document.dispatchEvent(new Event('visibilitychange')); }"
    )
    assert await guest.card() == "live-tab-hidden"


async def test_whoever_did_not_allow_the_microphone_reads_how_to(guest: Caller) -> None:
    await script(guest.url)
    refuse = "navigator.mediaDevices.getUserMedia = () => Promise.reject(new DOMException('no', 'NotAllowedError'))"
    await guest.page.evaluate(f"() => {{ {refuse}; }}")
    await guest.start()
    await ended(guest, "live-microphone-refused")
    assert not (await guest.app("/heard")).get("mic"), "nothing was opened"


async def test_a_machine_without_a_microphone_is_told_so(app: str) -> None:
    await script(app)
    async with Caller.on(app, None, devices=("--use-fake-ui-for-media-stream",)) as caller:
        await caller.start()
        await ended(caller, "live-no-microphone")


async def test_a_page_from_no_secure_address_reads_how_to_get_one(app: str) -> None:
    port = app.rsplit(":", 1)[1]
    devices = (*FAKE_DEVICES, "--host-resolver-rules=MAP demo.lan 127.0.0.1")
    async with Caller.on(f"http://demo.lan:{port}", None, devices=devices) as caller:
        await caller.start()
        await ended(caller, "mic-insecure-origin")


async def test_the_camera_goes_along_once_a_second_and_explains_itself_where_it_may_not(caller: Caller) -> None:
    await script(caller.url)
    await caller.start()
    await caller.state("listening", "you")
    await caller.page.check('[data-wish="camera"]')
    await caller.page.wait_for_timeout(3_300)
    assert 2 <= (await caller.app("/heard"))["cameras"] <= 4
    await caller.start()
    await caller.state("ended")
    opened = {"type": "state", "state": "open", "wire": "0.26", "barge_in": False, "camera": False, "idle_s": 300.0}
    await script(caller.url, open=opened)
    await caller.start()
    await caller.state("listening", "you")
    assert await caller.page.is_disabled('[data-wish="camera"]')
    assert "0.30" in await caller.page.inner_text(".omni-live-wishes > .omni-live-small")
