"""The Chinese voice: text → pinyin with tones → symbols → FastSpeech2 → MB-MelGAN → a wave at 24 kHz."""

from __future__ import annotations

import json
import re
from pathlib import Path

import numpy as np
from ai_edge_litert.interpreter import Interpreter
from pypinyin import Style, lazy_pinyin
from pypinyin.contrib.mmseg import seg

from launch.rehearsal.brain.zh_numbers import readable

RATE = 24_000
THREADS = 2  # the machine to serve has two cores
SPEED = 1.0  # measured: no other is understood better
HAN = r"\u3400-\u9fff\u3007"
# Syllables that pypinyin gives to a few interjections and that the voice was never taught: the nearest it knows.
NEAREST = {"n": "en", "ng": "en", "m": "mu", "hm": "heng", "hng": "heng", "ê": "ei", "fiao": "fu"}
# The corpus's marks between phrases, words, and syllables of a word. pypinyin's dictionary knows the words that need it for
# their sounds; measured, marks between these and the rest are understood better than none: 8.3 for 9.9 % wrong characters.
PHRASES, WORDS, SYLLABLES = " #3 ", " #1 ", " #0 "


def syllables(text: str) -> list[str]:
    """Pinyin with tone numbers (5: neutral), one a Chinese character, with the tones as they are spoken one after another.

    pypinyin changes 不, 一 and third tones within a word; here a third tone before a third tone of the next word changes too.
    """
    said = lazy_pinyin(
        text,
        style=Style.TONE3,
        neutral_tone_with_five=True,
        tone_sandhi=True,
        errors=list,  # pyright: ignore[reportArgumentType] # an entry for each unknown character; the stub allows only text
    )
    return [
        one[:-1] + "2" if one[-1] == "3" and after[-1] == "3" else one
        for one, after in zip(said, [*said[1:], "-"], strict=True)
    ]


class ChineseVoice:
    """Speaks one clause of Chinese characters, digits and punctuation; what it cannot read, it leaves out."""

    def __init__(self, folder: Path) -> None:
        table = json.loads((folder / "symbols.json").read_text(encoding="utf-8"))
        self._ids: dict[str, int] = table["symbol_to_id"]
        self._parts: dict[str, list[str]] = table["pinyin_dict"]
        self._acoustic = Interpreter(str(folder / "fastspeech2.tflite"), num_threads=THREADS)
        self._vocoder = Interpreter(str(folder / "mb_melgan.tflite"), num_threads=THREADS)

    def symbols(self, text: str) -> list[str]:
        """The voice's alphabet: "sil n i2 #0 h ao3 sil". Empty when nothing in the text can be read."""
        phrases = [self._phrase(phrase) for phrase in re.findall(f"[{HAN}]+", readable(text))]
        # The corpus ends with "eos" after the last "sil"; measured, that one makes the voice add a half syllable there.
        return ["sil", *PHRASES.join(filter(None, phrases)).split(), "sil"] if any(phrases) else []

    def _phrase(self, text: str) -> str:
        sounds = iter(syllables(text))
        words = [[self._syllable(next(sounds)) for _ in word] for word in seg.cut(text)]
        return WORDS.join(filter(None, (SYLLABLES.join(filter(None, word)) for word in words)))

    def _syllable(self, pinyin: str) -> str:
        sound, tone = pinyin[:-1], pinyin[-1]
        parts = self._parts.get(NEAREST.get(sound, sound))
        return f"{parts[0]} {parts[1]}{tone}" if parts else ""

    def __call__(self, text: str) -> np.ndarray:
        """The clause as float32 at ``RATE``; empty when nothing in it can be read."""
        symbols = self.symbols(text)
        if not symbols:
            return np.zeros(0, np.float32)
        ids = np.array([[self._ids[symbol] for symbol in symbols]], np.int32)
        one = np.array([SPEED], np.float32)
        speaker = np.array([0], np.int32)  # the corpus has one
        _, mel = _run(self._acoustic, [ids, speaker, one, one, one])[:2]  # before and after the post-net
        return _run(self._vocoder, [mel])[0][0, :, 0]


def _run(model: Interpreter, inputs: list[np.ndarray]) -> list[np.ndarray]:
    places = model.get_input_details()
    model.resize_tensor_input(places[0]["index"], inputs[0].shape)
    model.allocate_tensors()
    for place, value in zip(places, inputs, strict=True):
        model.set_tensor(place["index"], value)
    model.invoke()
    return [model.get_tensor(place["index"]) for place in model.get_output_details()]
