"""PCM into the containers that ``audio.format`` may name (protocol §2.1)."""

from __future__ import annotations

import io
import struct
from collections.abc import Mapping

import numpy as np
import soundfile

from launch.rehearsal.brain.brain import SAMPLE_RATE

CONTAINERS: Mapping[str, str] = {
    "wav": "wav",
    "pcm": "pcm",
    "pcm16": "pcm",
    "flac": "flac",
    "mp3": "mp3",
    "opus": "opus",
}
"""``audio.format`` → the container; both names of bare PCM are one, and ``audio_metadata`` names that one."""

_SOUNDFILE: Mapping[str, tuple[str, str]] = {
    "flac": ("FLAC", "PCM_16"),
    "mp3": ("MP3", "MPEG_LAYER_III"),
    "opus": ("OGG", "OPUS"),
}


def encode(pcm: bytes, container: str) -> bytes:
    """s16le mono PCM at ``SAMPLE_RATE`` as one complete file. Compressed containers take milliseconds: use a thread."""
    if container == "pcm" or not pcm:
        return pcm
    if container == "wav":
        return wav_header(len(pcm)) + pcm
    kind, subtype = _SOUNDFILE[container]
    file = io.BytesIO()
    soundfile.write(file, np.frombuffer(pcm, "<i2"), SAMPLE_RATE, format=kind, subtype=subtype)
    return file.getvalue()


def wav_header(size: int, rate: int = SAMPLE_RATE) -> bytes:
    """The 44 bytes before ``size`` bytes of PCM at ``rate`` Hz, as in the captures: RIFF, PCM, mono, 16 bit."""
    form = struct.pack("<IHHIIHH", 16, 1, 1, rate, 2 * rate, 2, 16)
    return b"RIFF" + struct.pack("<I", 36 + size) + b"WAVEfmt " + form + b"data" + struct.pack("<I", size)
