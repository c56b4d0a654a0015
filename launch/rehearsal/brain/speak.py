"""Speaking: a text of Chinese and English → s16le at ``SAMPLE_RATE``, a breath at a time."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import numpy as np

from launch.rehearsal.brain import voice_zh
from launch.rehearsal.brain.brain import SAMPLE_RATE
from launch.rehearsal.brain.clauses import clauses, is_chinese, runs
from launch.rehearsal.brain.sound import resample, silence, to_pcm
from launch.rehearsal.brain.voice_en import EnglishVoice
from launch.rehearsal.brain.voice_zh import ChineseVoice

# Both voices come at -20 dBFS while they speak: measured, the Chinese one is there by itself, the English one 1.8 dB below.
ENGLISH_GAIN = 1.23
QUIET = 0.004  # of full scale: below it the edge of a clause is silence (the voices' noise floor is under 0.001)
EDGE_S = 0.02  # silence kept around a clause, so that no plosive loses its start
FADE_S = 0.005  # ramps at both edges, so that a cut never clicks
SEAM_S = 0.03  # between two scripts within a breath


class Speaker:
    """Both voices."""

    def __init__(self, weights: Path) -> None:
        self._chinese = ChineseVoice(weights / "voice-zh")
        self._english = EnglishVoice(weights / "voice-en")

    def __call__(self, text: str) -> Iterator[bytes]:
        """The text's sound, each breath as soon as it is ready; nothing for a text without a word."""
        chinese = is_chinese(text)
        for clause in clauses(text):
            said = [trimmed(self._voice(language, run)) for language, run in runs(clause.text, chinese)]
            waves = [wave for wave in said if wave.size]
            if waves:
                seams = [part for wave in waves for part in (silence(SEAM_S), wave)][1:]
                yield to_pcm(np.concatenate([*seams, silence(clause.pause)]))

    def _voice(self, language: str, text: str) -> np.ndarray:
        if language == "zh":
            return resample(self._chinese(text), voice_zh.RATE, SAMPLE_RATE)
        return resample(self._english(text), self._english.rate, SAMPLE_RATE) * ENGLISH_GAIN


def trimmed(wave: np.ndarray) -> np.ndarray:
    """The wave with at most ``EDGE_S`` of silence at either edge, and faded there."""
    loud = np.flatnonzero(np.abs(wave) > QUIET)
    if not loud.size:
        return wave[:0]
    edge, fade = round(EDGE_S * SAMPLE_RATE), round(FADE_S * SAMPLE_RATE)
    kept = wave[max(0, loud[0] - edge) : loud[-1] + edge].copy()
    ramp = np.linspace(0, 1, min(fade, kept.size), dtype=np.float32)
    kept[: ramp.size] *= ramp
    kept[-ramp.size :] *= ramp[::-1]
    return kept
