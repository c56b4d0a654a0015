"""The whole way: a microphone of two questions and an interruption, the page, the app, the rehearsal engine, and back to the ear."""

from __future__ import annotations

from collections.abc import AsyncIterator, Iterator
from pathlib import Path

import numpy as np
import pytest

from launch.rehearsal.brain.brain import Detector, Voiced
from launch.rehearsal.brain.canned import CannedBrain, counted, tone
from tests.browser.caller import Caller, likeness, write_wav
from tests.browser.listener import EDGE
from tests.engine import engine_thread
from tests.running import running_app

pytestmark = [pytest.mark.browser, pytest.mark.asyncio(loop_scope="session")]

RATE = 48_000
ROUNDING = 1  # of 32,768: the engine takes sound apart as floats
OUT = 200  # frames of the fade of a flush, and some

# Seconds of the microphone. The session is open well before the first; a decision falls up to a second late, and the interruption
# must find the second answer speaking.
QUESTIONS = ((3.0, 250.0), (8.5, 500.0))
OVER = (12.6, 900.0)
SPOKEN_S = 1.3
ANSWERS_S = (2.0, 6.0, 2.0)


class Ear(CannedBrain):
    """Keeps every second that reached the model."""

    def __init__(self) -> None:
        super().__init__(counted(10))
        self.heard: list[bytes] = []
        self.answers = 0

    async def speak(self, text: str) -> AsyncIterator[bytes]:
        self.audio_s = ANSWERS_S[min(self.answers, 2)]
        self.answers += 1
        async for piece in super().speak(text):
            yield piece

    def detector(self) -> Detector:
        inner = super().detector()

        def hear(pcm: bytes) -> Voiced:
            self.heard.append(pcm)
            return inner(pcm)

        return hear


@pytest.fixture(scope="module")
def ear() -> Ear:
    return Ear()


@pytest.fixture(scope="module")
def app(ear: Ear) -> Iterator[str]:
    with engine_thread(ear) as engine, running_app("--server", engine, canned=None) as app:
        yield app.url


def voice(lowest: float) -> np.ndarray:
    """Something voiced that rises by an octave, as loud and as unsteady as speech, without a pause."""
    at = np.arange(round(RATE * SPOKEN_S)) / RATE
    phase = 2 * np.pi * (lowest * at + lowest / SPOKEN_S / 2 * at**2)
    return 0.35 * np.sin(phase) * (0.7 + 0.3 * np.sin(2 * np.pi * 4 * at))


def room(seconds: float) -> np.ndarray:
    """What the microphone hears: a quiet room, and somebody in it three times."""
    samples = 0.0005 * np.random.default_rng(0).standard_normal(round(seconds * RATE))
    for at, lowest in (*QUESTIONS, OVER):
        first = round(at * RATE)
        samples[first : first + round(RATE * SPOKEN_S)] += voice(lowest)
    return samples


async def test_two_questions_and_an_interruption(app: str, ear: Ear, tmp_path: Path) -> None:
    said = room(20)
    ear.heard.clear()
    ear.answers = 0
    async with Caller.on(app, write_wav(tmp_path / "room.wav", said, RATE), tab="Duplex") as caller:
        await caller.page.check('[data-wish="record"]')
        await caller.page.check('[data-wish="barge"]')
        await caller.start()
        await caller.until("talk.call.dialogue.answers.get(3)?.heard > 500", timeout=45)
        tapped = await caller.tap()
        answers = await caller.talk("[...talk.call.dialogue.answers.values()]")
        flushed, dropped = await caller.talk("[talk.flushed, talk.call.dropped]")
        lines = (await caller.page.inner_text(".omni-live-lines")).split("\n")
        await caller.start()  # the same button ends it
        await caller.state("ended")
        await caller.page.wait_for_selector(".omni-live-after audio")
        links = await caller.page.eval_on_selector_all(
            ".omni-live-after [data-file]", "(all) => all.map(({href}) => href)"
        )
        kept = {link.rsplit("/", 1)[1]: await (await caller.page.request.get(link)).body() for link in links}
        assert not caller.wrong

    # What reached the model is what the microphone heard, without a hole.
    heard = np.frombuffer(b"".join(ear.heard), "<i2")
    left = tapped.microphone[shift(heard, tapped.microphone) :]
    both = min(len(left), len(heard))
    assert both > 10 * 16_000
    assert np.abs(left[:both].astype(int) - heard[:both]).max() <= ROUNDING
    assert likeness(heard, said[::3]) > 0.5
    assert dropped == 0

    # What sounded is what was sent, up to the interruption.
    for number in (1, 2):
        sent = np.frombuffer(tone(0, ANSWERS_S[number - 1]), "<i2").astype(np.float32) / 32_768
        sounded = tapped.answer(number)
        sounded = sounded[: np.flatnonzero(sounded)[-1] + 1]
        assert np.array_equal(sounded[EDGE : len(sounded) - OUT], sent[EDGE : len(sounded) - OUT]), number
        assert abs(len(sounded) / 24 - answers[number - 1]["heard"]) < 300, "the ear is what counts"
    assert [answer["state"] for answer in answers[:2]] == ["said", "cut"]
    assert answers[0]["heard"] == 2_000
    assert answers[1]["by"] == "voice"
    assert 500 < answers[1]["heard"] < 4_500
    assert len(flushed) == 1
    assert lines.count("you spoke") == 1, "the note at the answer that was cut"
    assert lines.count("You") == 3
    assert counted(10) in lines
    assert set(kept) >= {"audio.wav", "transcript.srt", "events.jsonl", "result.json", "recording.zip"}
    assert kept["audio.wav"][:4] == b"RIFF"
    assert b"-->" in kept["transcript.srt"]


def shift(part: np.ndarray, whole: np.ndarray) -> int:
    """Where ``part`` begins in ``whole``: the best correlation."""
    size = 1 << int(np.ceil(np.log2(len(part) + len(whole))))
    both = np.fft.irfft(np.fft.rfft(whole.astype(float), size) * np.conj(np.fft.rfft(part.astype(float), size)), size)
    return int(np.argmax(both[: len(whole)]))
