"""Voice by loudness alone, for a brain without models."""

from __future__ import annotations

import numpy as np

from launch.rehearsal.brain.brain import EAR_RATE, Voiced


class LoudnessDetector:
    """Anything loud counts as a voice: for a brain without models, whose visitors are tones."""

    STEP_S = 0.02
    LOUD = 0.02  # RMS of full scale, -34 dB: speech into a microphone is louder, a fan and an echo that was cancelled are not

    def __call__(self, pcm: bytes) -> Voiced:
        wave = np.frombuffer(pcm, "<i2").astype(np.float32) / 32768
        size = round(self.STEP_S * EAR_RATE)
        whole = wave[: wave.size - wave.size % size].reshape(-1, size)
        marks = (np.sqrt((whole**2).mean(axis=1)) >= self.LOUD).tolist()
        return Voiced.of(marks, self.STEP_S, len(pcm) / 2 / EAR_RATE)
