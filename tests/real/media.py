"""Small media made on the spot: a picture, a sound and a clip that any decoder takes."""

from __future__ import annotations

import io

import av
import numpy as np
from PIL import Image as Picture

from tests.ui.turn.asking import wav
from ui.turn.parts import Audio, Image, Video

RATE = 16_000


def picture(side: int = 224) -> Image:
    """A red disc on white."""
    y, x = np.mgrid[:side, :side]
    disc = (x - side / 2) ** 2 + (y - side / 2) ** 2 < (side / 3) ** 2
    pixels = np.where(disc[..., None], (220, 20, 20), (255, 255, 255)).astype(np.uint8)
    out = io.BytesIO()
    Picture.fromarray(pixels).save(out, "JPEG")
    return Image(out.getvalue(), side, side)


def sound(seconds: float = 2.0) -> Audio:
    """A rising tone, 16 kHz mono."""
    time = np.arange(int(seconds * RATE)) / RATE
    samples = (np.sin(2 * np.pi * (200 + 150 * time) * time) * 8000).astype("<i2")
    return Audio(wav(samples.tobytes(), RATE), seconds)


def clip(seconds: int = 2, fps: int = 5) -> Video:
    """A square that moves to the right, H.264 in MP4, without sound."""
    out = io.BytesIO()
    with av.open(out, "w", format="mp4") as box:
        stream = box.add_stream("libx264", rate=fps, options={"preset": "ultrafast"})
        stream.width = stream.height = 128
        stream.pix_fmt = "yuv420p"
        for number in range(seconds * fps):
            pixels = np.full((128, 128, 3), 255, np.uint8)
            pixels[40:80, 8 * number : 8 * number + 40] = (20, 20, 220)
            box.mux(stream.encode(av.VideoFrame.from_ndarray(pixels, format="rgb24")))
        box.mux(stream.encode())
    return Video(out.getvalue(), float(seconds))
