"""Sound in and out: any file → 16 kHz mono for the ear, a voice's wave → s16le at the wire's rate. Waves are float32, -1..1."""

from __future__ import annotations

import io
from typing import Literal

import av
import av.error
import numpy as np

from launch.rehearsal.brain.brain import EAR_RATE, SAMPLE_RATE, UndecodableMedia

LONGEST_S = 180  # no part of a request is longer (audio parts 30 s, clips 64 s); the rest of a longer file is not read
CEILING = 0.95  # of full scale: a wave above it is turned down as a whole, so that nothing is ever clipped
# A playlist can name other files and hosts; a part is only what its bytes say, so no protocol may be opened from within.
FROM_MEMORY = {"protocol_whitelist": "none"}


def decode(data: bytes, kind: Literal["audio", "video"]) -> np.ndarray:
    """The first sound stream of a file as mono at ``EAR_RATE``; empty for a video without sound. Raises ``UndecodableMedia``."""
    try:
        with av.open(io.BytesIO(data), "r", options=FROM_MEMORY) as container:
            if not container.streams.audio:
                if kind == "video":
                    return np.zeros(0, np.float32)
                raise UndecodableMedia(kind, "no audio stream")
            resampler = av.AudioResampler(format="fltp", rate=EAR_RATE)  # its own way to mono makes stereo 3 dB louder
            pieces, left = [], LONGEST_S * EAR_RATE
            for frame in container.decode(audio=0):
                pieces += [out.to_ndarray().mean(axis=0) for out in resampler.resample(frame)]
                left -= frame.samples * EAR_RATE // frame.sample_rate
                if left <= 0:
                    break
            pieces += [out.to_ndarray().mean(axis=0) for out in resampler.resample(None)]
    except (av.error.FFmpegError, ValueError) as error:  # ValueError: the file changes its format in the middle
        raise UndecodableMedia(kind, str(error)) from error
    if not any(piece.size for piece in pieces):
        raise UndecodableMedia(kind, "no samples")
    return np.concatenate(pieces)


def resample(wave: np.ndarray, source: int, target: int) -> np.ndarray:
    """The wave at another rate (band-limited, by FFmpeg's resampler)."""
    if source == target or not wave.size:
        return wave
    frame = av.AudioFrame.from_ndarray(np.ascontiguousarray(wave[None], np.float32), format="fltp", layout="mono")
    frame.sample_rate = source
    resampler = av.AudioResampler(format="fltp", layout="mono", rate=target)
    return np.concatenate([out.to_ndarray()[0] for given in (frame, None) for out in resampler.resample(given)])


def to_pcm(wave: np.ndarray) -> bytes:
    """s16le at the rate the wave has."""
    loudest = float(np.abs(wave).max(initial=0.0))
    if loudest > CEILING:
        wave = wave * (CEILING / loudest)
    return np.round(wave * 32767).astype("<i2").tobytes()


def silence(seconds: float, rate: int = SAMPLE_RATE) -> np.ndarray:
    return np.zeros(round(seconds * rate), np.float32)
