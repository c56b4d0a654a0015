import time

import numpy as np
import pytest

from launch.rehearsal.brain.brain import SAMPLE_RATE, Brain, Part, Said, Sampling
from launch.rehearsal.brain.canned import CannedBrain, counted, tone, tone_hz
from launch.rehearsal.brain.tokens import tokens

ASKED = [Said("user", (Part("text", b"hello"),))]


async def answer(brain: Brain, sampling: Sampling | None = None) -> list[str]:
    return [token.text async for token in brain.think(ASKED, sampling or Sampling(), spoken=True)]


async def sound(brain: Brain, text: str) -> list[bytes]:
    return [piece async for piece in brain.speak(text)]


@pytest.mark.parametrize("text", ["1 2 3", "你好，我在排练。", "vLLM 是 a server\n", " two  spaces "])
async def test_tokens_join_to_the_text(text: str) -> None:
    assert "".join(await answer(CannedBrain(text))) == text


async def test_counted_counts_and_max_tokens_cuts() -> None:
    assert len(tokens(counted(200))) == 200
    assert await answer(CannedBrain(counted(9)), Sampling(max_tokens=3)) == ["1", " 2", " 3"]


async def test_sound_has_the_asked_length_in_pieces() -> None:
    pieces = await sound(CannedBrain(audio_s=2.35), "x")
    assert [len(piece) / 2 / SAMPLE_RATE for piece in pieces] == pytest.approx([1, 1, 0.35])
    assert len(await sound(CannedBrain(audio_s=2.0, piece_s=0.1), "x")) == 20
    assert await sound(CannedBrain(), "") == []


async def test_each_second_is_known_by_its_pitch_and_nothing_clicks() -> None:
    wave = np.frombuffer(b"".join(await sound(CannedBrain(audio_s=4, piece_s=0.7), "x")), "<i2").astype(float)
    assert wave[0] > 5000
    for second in range(4):
        spectrum = np.abs(np.fft.rfft(wave[second * SAMPLE_RATE : (second + 1) * SAMPLE_RATE]))
        assert spectrum.argmax() == tone_hz(second)
    steepest = 2 * np.pi * tone_hz(3) / SAMPLE_RATE * wave.max()
    assert np.abs(np.diff(wave)).max() <= steepest * 1.01
    assert tone(1.7, 0.3) == wave.astype("<i2").tobytes()[int(1.7 * SAMPLE_RATE) * 2 : 2 * SAMPLE_RATE * 2]


async def test_pace_is_kept() -> None:
    started = time.monotonic()
    await answer(CannedBrain("a b c", first_token_s=0.1, token_s=0.05))
    thought = time.monotonic()
    await sound(CannedBrain(audio_s=0.5, first_audio_s=0.1, rtf=0.5, piece_s=0.1), "x")
    assert 0.2 <= thought - started < 0.6
    assert 0.3 <= time.monotonic() - thought < 0.9
