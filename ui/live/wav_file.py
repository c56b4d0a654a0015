"""A WAV file that grows and can be read at any time."""

from __future__ import annotations

import struct
from contextlib import suppress
from pathlib import Path

from ui.live.moments import SPEECH_RATE

_FULL_S = 12 * 3600
"""Seconds after which the file is full: a RIFF size has 32 bits, which are 12.4 hours of stereo. The rest is not written."""


class WavFile:
    """s16le at 24 kHz. The header's sizes are written again after the samples, so a crash costs what was not written
    yet and no more."""

    def __init__(self, path: Path, channels: int) -> None:
        """Raises ``OSError``."""
        self.seconds = 0.0
        """Length of what is written."""
        self._channels = channels
        self._frames = 0
        self._file = path.open("wb")
        self._file.write(self._header())

    def write(self, pcm: bytes) -> None:
        """Whole frames. Raises ``OSError``."""
        if not pcm or self.seconds > _FULL_S:
            return
        self._file.write(pcm)
        self._frames += len(pcm) // (2 * self._channels)
        self._file.seek(0)
        self._file.write(self._header())
        self._file.seek(0, 2)
        self._file.flush()
        self.seconds = self._frames / SPEECH_RATE

    def close(self) -> None:
        """Raises ``OSError``."""
        self._file.close()

    def abandon(self) -> None:
        """Close it after a failure, as it is."""
        with suppress(OSError):  # what the disk could not take, it cannot take now
            self._file.close()

    def _header(self) -> bytes:
        """The 44 bytes before the samples of a PCM WAV: RIFF, one ``fmt `` chunk, the head of one ``data`` chunk."""
        frame = 2 * self._channels
        size = self._frames * frame
        form = struct.pack("<4sIHHIIHH", b"fmt ", 16, 1, self._channels, SPEECH_RATE, SPEECH_RATE * frame, frame, 16)
        return struct.pack("<4sI4s", b"RIFF", 36 + size, b"WAVE") + form + struct.pack("<4sI", b"data", size)
