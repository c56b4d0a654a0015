"""What differs between the wires of vLLM-Omni 0.26 and 0.30, in one place (protocol §7; both captured)."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

CONTEXT = 8192
"""Tokens of prompt and answer together: what the small thinking model was trained for, and enough for the longest thing
the app sends (64 pairs of a frame and a second of sound, about 4800)."""

LIMITS: Mapping[str, int] = {"image": 64, "audio": 64, "video": 1}
"""Media of a kind in one prompt: ``stages[0].limit_mm_per_prompt`` of the server's one-card layout (protocol §2.3)."""


@dataclass(frozen=True)
class Dialect:
    """One version of the wire.

    ``version``: what ``/version`` says. ``healthy``: body of ``/health``. ``merged``: text and sound in one choice,
    with ``audio_metadata`` and one more null key in ``usage``. ``refusal``: status and type of an error raised inside
    the engine. ``terse``: validation errors give dotted places and only the size of what was sent. ``voices``: whether
    ``ref_audio`` is looked at. ``broken_audio``: the sentence for a sound that cannot be decoded.
    """

    version: str
    healthy: bytes
    merged: bool
    refusal: tuple[int, str]
    terse: bool
    voices: bool
    broken_audio: str


DIALECTS: Mapping[str, Dialect] = {
    "0.26": Dialect(
        version="0.26.0",
        healthy=b"",
        merged=False,
        refusal=(400, "BadRequestError"),
        terse=False,
        voices=False,
        broken_audio="Invalid or unsupported audio file.",
    ),
    "0.30": Dialect(
        version="0.30.0",
        healthy=b'{"status":"healthy"}',
        merged=True,
        refusal=(500, "Internal Server Error"),
        terse=True,
        voices=True,
        broken_audio="Invalid or corrupted audio data. Ensure the input is a valid audio or video file"
        " (e.g. a complete WAV, MP3, or MP4). {why}",
    ),
}
