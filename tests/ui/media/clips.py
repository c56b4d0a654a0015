"""Clips made for the tests. Every picture carries its own number, so that a test can tell which one was taken."""

from __future__ import annotations

from fractions import Fraction
from pathlib import Path

import av
import numpy as np
from PIL import Image

BITS = 12  # numbers up to 4095
SIDE = 16  # of a bit's square: a macroblock, so that no codec blurs it into its neighbour


def tone(hertz: float, seconds: float, rate: int) -> np.ndarray:
    return np.sin(2 * np.pi * hertz * np.arange(round(seconds * rate)) / rate).astype(np.float32)


def numbered(number: int) -> np.ndarray:
    """RGB (64, 192, 3): the number's bits as black and white squares across the upper half, its parity as a grey below."""
    bits = [(number >> place) & 1 for place in range(BITS)]
    picture = np.full((4 * SIDE, BITS * SIDE, 3), 60 + 8 * (number % 16), np.uint8)
    picture[: 2 * SIDE] = np.repeat(np.array(bits, np.uint8) * 255, SIDE)[np.newaxis, :, np.newaxis]
    return picture


def number_of(picture: Image.Image) -> int:
    """The number in a picture of whatever size."""
    grey = np.asarray(picture.convert("L"))
    height, width = grey.shape
    bits = [grey[height // 4, int((place + 0.5) * width / BITS)] > 127 for place in range(BITS)]
    return sum(1 << place for place, bit in enumerate(bits) if bit)


def write_clip(
    path: Path,
    *,
    seconds: float,
    rate: int = 10,
    codec: str = "libx264",
    options: dict[str, str] | None = None,
    sound: float | None = None,
    sound_seconds: float | None = None,
    format: str | None = None,
    times: list[float] | None = None,
) -> None:
    """A clip of numbered pictures, at ``rate`` or at ``times`` (seconds), with a tone of ``sound`` Hz."""
    with av.open(path, "w", format=format) as out:
        picture = out.add_stream(codec, rate=rate, options=options or {})
        picture.width, picture.height = BITS * SIDE, 4 * SIDE
        picture.pix_fmt = "bgr8" if codec == "gif" else "yuvj420p" if codec == "mjpeg" else "yuv420p"
        track = out.add_stream("aac", rate=16000, layout="mono", options={"aac_coder": "fast"}) if sound else None
        if times is not None:
            picture.codec_context.time_base = Fraction(1, 1000)
        for number in range(len(times) if times is not None else round(seconds * rate)):
            frame = av.VideoFrame.from_ndarray(numbered(number), format="rgb24")
            frame.pts, frame.time_base = (
                (number, Fraction(1, rate)) if times is None else (round(times[number] * 1000), Fraction(1, 1000))
            )
            out.mux(picture.encode(frame))
        out.mux(picture.encode(None))
        if track is not None and sound is not None:
            wave = 0.4 * tone(sound, sound_seconds or seconds, 16000)
            for start in range(0, len(wave), 1024):
                block = av.AudioFrame.from_ndarray(wave[np.newaxis, start : start + 1024], format="fltp", layout="mono")
                block.sample_rate, block.pts, block.time_base = 16000, start, Fraction(1, 16000)
                out.mux(track.encode(block))
            out.mux(track.encode(None))
