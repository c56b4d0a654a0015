"""A conversation in the browser: what the microphone hears arrives, what is sent is heard, and Stop is silent."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import numpy as np
import pytest

from tests.browser.caller import Caller, likeness, script, write_wav
from tests.browser.conftest import process
from tests.browser.listener import EDGE
from tests.browser.stub import signal

pytestmark = [pytest.mark.browser, pytest.mark.asyncio(loop_scope="session")]

SWEEP_S = 6


@pytest.fixture(scope="session")
def app() -> Iterator[str]:
    with process("tests.browser.live_stub") as url:
        yield url


def sweep(rate: int, seconds: float = SWEEP_S) -> np.ndarray:
    """A tone from 200 to 2,000 Hz that comes and goes: no two places are alike, and noise suppression lets it pass."""
    at = np.arange(round(rate * seconds)) / rate
    return 0.3 * np.sin(2 * np.pi * (200 * at + 900 / seconds * at**2)) * (0.6 + 0.4 * np.sin(2 * np.pi * 3 * at))


@pytest.fixture(scope="session")
def microphone(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return write_wav(tmp_path_factory.mktemp("live") / "sweep.wav", sweep(48_000), 48_000)


def wav(number_of_seconds: float) -> np.ndarray:
    return np.frombuffer(signal(number_of_seconds), "<i2").astype(np.float32) / 32_768


async def test_a_conversation_is_heard_both_ways_and_stop_cuts_sound_and_words_where_they_were(
    app: str, microphone: Path
) -> None:
    first, second = "Hello there, this is a first answer.", "And here is a second one, which is cut before its end."
    await script(
        app,
        answers=[{"at": 0.8, "text": first, "seconds": 1.5}, {"at": 1.2, "text": second, "seconds": 6, "pace": 0.3}],
    )
    async with Caller.on(app, microphone) as caller:
        await caller.start()
        await caller.until("talk.call.dialogue.answers.get(2)?.heard > 1500")
        await caller.page.keyboard.press("Escape")
        await caller.until("talk.flushed.length")
        await caller.page.wait_for_timeout(700)
        heard, tapped = await caller.app("/heard"), await caller.tap()
        flushed, two = await caller.talk("[talk.flushed, talk.call.dialogue.answers.get(2)]")
        lines = await caller.page.inner_text(".omni-live-lines")
        await caller.page.click(".omni-live-start")
        await caller.state("ended")
        assert (await caller.app("/heard"))["done"]
        assert not caller.wrong

    assert heard["mic"] == list(range(len(heard["mic"]))), "no frame is missing"
    mic = np.frombuffer(await caller.app("/mic"), "<i2")
    assert np.array_equal(mic[: len(tapped.microphone)], tapped.microphone[: len(mic)])
    assert likeness(mic, sweep(16_000)) > 0.5

    sent = wav(1.5)
    assert np.array_equal(tapped.answer(1)[EDGE : len(sent) - EDGE], sent[EDGE:-EDGE]), "every sample, in its place"
    sent, sounded = wav(6), tapped.answer(2)
    stopped = int(np.flatnonzero(sounded)[-1])
    assert np.array_equal(sounded[EDGE : stopped - 200], sent[EDGE : stopped - 200])
    assert two["state"] == "cut"
    assert abs(stopped / 24 - two["heard"]) < 300, "the ear is what counts"
    assert flushed[0] <= 60

    played = {
        response: [w["ms"] for w in heard["words"] if w["type"] == "played" and w["response"] == response]
        for response in (1, 2)
    }
    assert played[1][-1] == 1_500
    assert played[2][-1] == round(two["heard"])
    assert all(values == sorted(values) and len(values) > 4 for values in played.values())
    assert first in lines
    assert second not in lines
    assert second.startswith(lines.split("\n")[-2].removeprefix("Model").strip()[:10])
