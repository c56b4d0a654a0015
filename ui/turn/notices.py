"""What a finished answer should be told about: an answer that ended well can still be wrong."""

from __future__ import annotations

import re

import numpy as np

from launch.errors import OmniError, ServerError
from ui.turn.events import SAMPLE_RATE

# The fastest of the seventeen languages measured by Coupé et al. (2019) is spoken at 8 syllables a second, Mandarin and
# English at 5 to 6. Speech that would need more than that has left something out: about 40 % of speech at a usual pace.
_SYLLABLES_PER_S = 8.0
_GRACE_S = 0.5  # a short "ok" is never called short
_HAN_OR_DIGIT = re.compile(r"[\u3400-\u9fff\uf900-\ufaff\d]")
_LATIN_WORD = re.compile(r"[A-Za-zÀ-ÖØ-öø-ÿ]+")
_VOWELS = re.compile(r"[aeiouyà-öø-ÿ]+")
_SILENT_E = re.compile(r"[^aeiouy]e$")
_SILENT_PEAK = 33  # of 32767: -60 dBFS, below the hiss of a quiet room; a voice peaks 40 dB higher


def syllables(text: str) -> int:
    """How many syllables ``text`` has at least: one a Han character or digit, in words one a group of vowels (a last
    ``e`` is silent). Marks, symbols and other scripts count nothing: what is not counted can raise no alarm."""
    return len(_HAN_OR_DIGIT.findall(text)) + sum(map(_in_word, _LATIN_WORD.findall(text.lower())))


def _in_word(word: str) -> int:
    groups = len(_VOWELS.findall(word))
    return max(1, groups - bool(_SILENT_E.search(word)))


def of_answer(text: str, pcm: bytes | bytearray, *, speech: bool, reason: str) -> list[OmniError]:
    """What is odd about an answer that ended as it should. ``pcm``: s16le mono 24 kHz; ``speech``: it was asked for."""
    odd: list[OmniError] = []
    if not text and not pcm:
        odd.append(ServerError("empty-answer"))
    elif speech:
        odd += _of_speech(text, pcm)
    if reason == "length":
        odd.append(ServerError("answer-at-limit"))
    return odd


def _of_speech(text: str, pcm: bytes | bytearray) -> list[OmniError]:
    if not pcm:
        return [ServerError("no-audio-in-answer")]
    samples = np.frombuffer(bytes(pcm[: len(pcm) // 2 * 2]), "<i2")
    if int(np.abs(samples.astype(np.int32)).max(initial=0)) <= _SILENT_PEAK:
        return [ServerError("speech-silent")]
    seconds = len(samples) / SAMPLE_RATE
    least = syllables(text) / _SYLLABLES_PER_S
    if seconds + _GRACE_S < least:
        return [ServerError("speech-shorter-than-text", seconds=f"{seconds:.1f}", least=f"{least:.1f}")]
    return []
