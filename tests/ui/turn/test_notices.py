"""An answer that ended well can still be wrong; a right one is never called so."""

import numpy as np
import pytest

from ui.turn.notices import of_answer, syllables

RATE = 24_000


def tone(seconds: float, peak: int = 6000) -> bytes:
    return (np.sin(np.arange(int(seconds * RATE)) * 0.1) * peak).astype("<i2").tobytes()


def keys(text: str, pcm: bytes, speech: bool = True, reason: str = "stop") -> list[str]:
    return [notice.key for notice in of_answer(text, pcm, speech=speech, reason=reason)]


@pytest.mark.parametrize(
    ("text", "least", "most"),
    [
        ("你好，世界！", 4, 4),
        ("Hello there", 3, 3),
        ("make time", 2, 2),
        ("2026 年", 5, 5),
        ("rhythm & blues", 2, 3),
        ("！？ 🎵 —", 0, 0),
        ("naïve café", 3, 4),
    ],
)
def test_syllables(text: str, least: int, most: int) -> None:
    assert least <= syllables(text) <= most


ZH = "今天天气很好，我们一起去公园散步，看看湖边的花，再去喝一杯热茶，聊聊最近读的书。"  # 35 characters
# 26 syllables
EN = "It is a fine day today, so let us walk through the park, look at the flowers and have a cup of tea."


@pytest.mark.parametrize(("text", "usual_s"), [(ZH, 7.5), (EN, 5.5)])
def test_speech_at_any_usual_pace_is_long_enough_and_half_of_it_is_not(text: str, usual_s: float) -> None:
    assert keys(text, tone(usual_s)) == []
    assert keys(text, tone(usual_s * 0.75)) == []  # a fast speaker
    assert keys(text, tone(usual_s * 0.4)) == ["speech-shorter-than-text"]


def test_the_notice_says_both_lengths() -> None:
    (notice,) = of_answer(ZH, tone(2.0), speech=True, reason="stop")
    assert notice.facts == {"seconds": "2.0", "least": "4.4"}


def test_a_short_answer_is_never_short() -> None:
    assert keys("好的，没问题。", tone(0.3)) == []
    assert keys("Sure.", tone(0.2)) == []


def test_silence() -> None:
    assert keys("你好", bytes(48_000)) == ["speech-silent"]
    assert keys("你好", tone(1.0, peak=20)) == ["speech-silent"]
    assert keys("你好", tone(1.0, peak=300)) == []  # a whisper at -40 dBFS


def test_no_sound_and_nothing_at_all() -> None:
    assert keys("你好", b"") == ["no-audio-in-answer"]
    assert keys("你好", b"", speech=False) == []
    assert keys("", b"") == ["empty-answer"]
    assert keys("", b"", speech=False) == ["empty-answer"]
    assert keys("", tone(1.0)) == []


def test_an_answer_cut_by_max_tokens_says_so() -> None:
    assert keys("1 2 3", tone(2.0), reason="length") == ["answer-at-limit"]
