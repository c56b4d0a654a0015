"""Frames and a track of sound → a small H.264 + AAC clip that every browser plays."""

from __future__ import annotations

from collections.abc import Callable
from fractions import Fraction
from pathlib import Path

import av
import numpy as np
from PIL import Image

from assets.samples.make.sound import RATE

WIDTH, HEIGHT = 640, 360
FPS = 20  # smooth enough for things that slide, and few frames to keep
FINE = 2  # frames are drawn at twice their size: Pillow's shapes have no soft edges of their own
QUALITY = {"crf": "24", "preset": "slow"}  # flat colours stay flat; the clips stay under 200 kB
SOUND_BITS = 64_000  # AAC mono: speech without audible artefacts

Draw = Callable[[float], Image.Image]
"""The picture at a second, ``WIDTH × FINE`` by ``HEIGHT × FINE`` px."""


def save(path: Path, seconds: float, draw: Draw, track: np.ndarray) -> None:
    """Write the clip. ``track``: float32 mono at 24 kHz, as long as the clip."""
    with av.open(str(path), "w", options={"movflags": "+faststart"}) as container:
        video = container.add_stream("libx264", rate=FPS, options=QUALITY)
        video.width, video.height, video.pix_fmt = WIDTH, HEIGHT, "yuv420p"
        audio = container.add_stream("aac", rate=RATE, layout="mono")
        audio.bit_rate = SOUND_BITS
        for number in range(round(seconds * FPS)):
            picture = draw(number / FPS).resize((WIDTH, HEIGHT), Image.Resampling.LANCZOS)
            frame = av.VideoFrame.from_image(picture)
            frame.pts, frame.time_base = number, Fraction(1, FPS)
            container.mux(video.encode(frame))
        container.mux(video.encode(None))
        step = audio.codec_context.frame_size or 1024
        for start in range(0, track.size, step):
            frame = av.AudioFrame.from_ndarray(track[None, start : start + step], format="fltp", layout="mono")
            frame.sample_rate, frame.pts, frame.time_base = RATE, start, Fraction(1, RATE)
            container.mux(audio.encode(frame))
        container.mux(audio.encode(None))
