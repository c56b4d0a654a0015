"""The sound samples: two spoken questions, a message, a row of beeps; and the reference voice of the assistant."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import numpy as np

from assets.samples.make.sound import RATE, pause, save, tone
from launch.rehearsal.brain.sound import resample

Say = Callable[[str], np.ndarray]

WHY_BLUE = "请用一句话告诉我，为什么天空是蓝色的？"
RAINY_WEEKEND = "What three things should I pack for a rainy weekend?"
MESSAGE = "你好，我是小王。明天下午三点，我们在图书馆门口见面，记得带上雨伞。"
GREETING = (
    "Hello, it is good to hear from you.",
    "Tell me what you would like to do, and we will take it one step at a time.",
)
BEEPS_HZ = (440, 523, 659, 784, 988)  # A4 C5 E5 G5 B5: five, each clearly above the last
REFERENCE_RATE = 16_000  # what the model's own reference recordings have; ui/voices.py takes it as it is


def questions(folder: Path, chinese: Say, english: Say) -> None:
    save(spoken(chinese(WHY_BLUE)), folder / "question-zh.flac")
    save(spoken(english(RAINY_WEEKEND)), folder / "question-en.flac")


def message(folder: Path, chinese: Say) -> None:
    save(spoken(chinese(MESSAGE)), folder / "message-zh.flac")


def beeps(folder: Path) -> None:
    row = [part for hertz in BEEPS_HZ for part in (tone(hertz, 0.3), pause(0.4))]
    save(np.concatenate([pause(0.3), *row]), folder / "beeps.flac")


def reference(folder: Path, english: Say) -> None:
    """Six to eight seconds of the English voice, for ``<persona>-<language>.wav``."""
    wave = np.concatenate([part for line in GREETING for part in (english(line), pause(0.3))])
    save(resample(wave, RATE, REFERENCE_RATE), folder / "assistant-en.wav", REFERENCE_RATE)


def spoken(wave: np.ndarray) -> np.ndarray:
    """With a breath before and after, as a microphone leaves it."""
    return np.concatenate([pause(0.25), wave, pause(0.35)])
