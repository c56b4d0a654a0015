"""A clip re-made so that any server reads it: H.264 in MP4, a steady four pictures a second, upright, with its sound at 16 kHz."""

from __future__ import annotations

from fractions import Fraction
from io import BytesIO

import av
import numpy as np
from av.packet import Packet
from PIL import Image

from ui.media.sound import RATE

PER_SECOND = 4  # servers look at one or two pictures a second of a clip: four leave them the choice
CRF = 23  # x264's own default: no visible loss
PRESET = "veryfast"  # a quarter of the default's time for a tenth more bytes
SOUND_BITS = 64_000  # AAC is clear at this for one channel of 16 kHz
SOUND_BLOCK = 1024  # samples of an AAC frame
SOUND_CODER = "fast"  # libav's default searches ten times as long for a difference nobody hears at this rate


def _when(packet: Packet) -> float:
    return float((packet.dts or 0) * packet.time_base)


class Clip:
    """An MP4 being written in memory. All pictures are brought to the size of the first, whose sides must be even."""

    def __init__(self) -> None:
        self._file = BytesIO()
        self._out = av.open(self._file, "w", format="mp4")
        self._video = self._out.add_stream("libx264", rate=PER_SECOND, options={"crf": str(CRF), "preset": PRESET})
        self._video.pix_fmt = "yuv420p"
        self._packets: list[Packet] = []  # kept until it is known whether there is sound: streams come before packets
        self._shown: Image.Image | None = None
        self._pictures = 0

    def add(self, picture: Image.Image, times: int) -> None:
        """Shows ``picture`` (RGB) for ``times`` quarters of a second."""
        if self._shown is None:
            self._video.width, self._video.height = picture.size
        elif picture.size != self._shown.size:
            picture = picture.resize(self._shown.size)
        self._shown = picture
        for _ in range(times):
            frame = av.VideoFrame.from_image(picture)
            frame.pts, frame.time_base = self._pictures, Fraction(1, PER_SECOND)
            self._pictures += 1
            self._packets += self._video.encode(frame)

    def finish(self, pictures: int, sound: np.ndarray | None) -> bytes:
        """The whole file, its last picture kept up to ``pictures`` in all. ``sound``: float mono at 16 kHz, or ``None``."""
        if self._shown is not None:
            self.add(self._shown, pictures - self._pictures)
        self._packets += self._video.encode(None)
        if sound is not None:
            self._packets += self._encoded(sound)
        with self._out:
            for packet in sorted(self._packets, key=_when):
                self._out.mux(packet)
        return self._file.getvalue()

    def _encoded(self, sound: np.ndarray) -> list[Packet]:
        stream = self._out.add_stream(
            "aac", rate=RATE, layout="mono", bit_rate=SOUND_BITS, options={"aac_coder": SOUND_CODER}
        )
        packets: list[Packet] = []
        for start in range(0, len(sound), SOUND_BLOCK):
            block = np.ascontiguousarray(sound[np.newaxis, start : start + SOUND_BLOCK], dtype=np.float32)
            frame = av.AudioFrame.from_ndarray(block, format="fltp", layout="mono")
            frame.sample_rate, frame.pts, frame.time_base = RATE, start, Fraction(1, RATE)
            packets += stream.encode(frame)
        return packets + stream.encode(None)
