"""Two voices in one WAV file: the user left, the model right, written as it goes."""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path

import av
import numpy as np

from ui.live.moments import MIC_RATE, SPEECH_RATE
from ui.live.track import Placed, Track
from ui.live.wav_file import WavFile


class StereoFile:
    """``path`` as a stereo WAV at 24 kHz, which can be read as it stands after every ``write_until``.

    Both channels count from the same moment. The left one is resampled from 16 kHz as one stream, silence included:
    libswresample gives sample n of 24 kHz at the time n/24000, and keeps about a millisecond back until it ends.
    """

    def __init__(self, path: Path) -> None:
        """Raises ``OSError``."""
        self.user, self.model = Track(MIC_RATE), Track(SPEECH_RATE)
        self._left, self._right = bytearray(), bytearray()
        self._resampler = av.AudioResampler(format="s16", layout="mono", rate=SPEECH_RATE)
        self._file = WavFile(path, 2)

    @property
    def seconds(self) -> float:
        """Length of what is written."""
        return self._file.seconds

    def write_until(self, time: float) -> list[Placed]:
        """Write all that belongs before ``time`` (seconds); the pieces of the model's channel that this has placed.

        Raises ``OSError``."""
        for piece in self.user.until(time):
            self._left += self._resampled(piece.samples)
        placed = self._model(self.model.until(time))
        self._write(min(len(self._left), len(self._right)))
        return placed

    def close(self, end: float) -> list[Placed]:
        """Write the rest, both channels at least ``end`` seconds long, and close the file. Raises ``OSError``."""
        for piece in (*self.user.rest(), *self.user.until(end)):
            self._left += self._resampled(piece.samples)
        self._left += _bytes(self._resampler.resample(None))
        placed = self._model((*self.model.rest(), *self.model.until(end)))
        length = max(len(self._left), len(self._right))
        self._left.extend(bytes(length - len(self._left)))
        self._right.extend(bytes(length - len(self._right)))
        self._write(length)
        self._file.close()
        return placed

    def abandon(self) -> None:
        """Close the file after a failure, as it is."""
        self._file.abandon()

    def _model(self, pieces: Iterable[Placed]) -> list[Placed]:
        named = []
        for piece in pieces:
            self._right += piece.samples.tobytes()
            if piece.name is not None:
                named.append(piece)
        return named

    def _resampled(self, samples: np.ndarray) -> bytes:
        frame = av.AudioFrame.from_ndarray(samples.reshape(1, -1), format="s16", layout="mono")
        frame.sample_rate = MIC_RATE
        return _bytes(self._resampler.resample(frame))

    def _write(self, length: int) -> None:
        """``length``: bytes of each channel."""
        both = np.empty((length // 2, 2), "<i2")
        both[:, 0] = np.frombuffer(self._left[:length], "<i2")
        both[:, 1] = np.frombuffer(self._right[:length], "<i2")
        del self._left[:length], self._right[:length]
        self._file.write(both.tobytes())


def _bytes(frames: Iterable[av.AudioFrame]) -> bytes:
    return b"".join(frame.to_ndarray().tobytes() for frame in frames)
