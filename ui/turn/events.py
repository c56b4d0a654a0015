"""What happens in a turn, in one vocabulary for every wire.

``at``: seconds since the request was sent, on a monotonic clock.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

from launch.errors import OmniError

SAMPLE_RATE = 24_000  # MiniCPM-o's code2wav speaks 24 kHz mono (protocol §2.4)


@dataclass(frozen=True)
class TextDelta:
    at: float
    text: str


@dataclass(frozen=True)
class Speech:
    """One audio packet: s16le mono PCM at 24 kHz, possibly empty (an empty packet still counts for TTFP)."""

    at: float
    pcm: bytes


@dataclass(frozen=True)
class Noticed:
    """Something the user should be told that does not end the turn."""

    at: float
    notice: OmniError


@dataclass(frozen=True)
class Finished:
    """The stream ended as it should. ``reason``: the server's finish_reason ("stop", "length", ...)."""

    at: float
    reason: str


@dataclass(frozen=True)
class Stopped:
    """The user ended it."""

    at: float


@dataclass(frozen=True)
class Failed:
    at: float
    error: OmniError


TurnEvent = TextDelta | Speech | Noticed | Finished | Stopped | Failed
TurnState = Literal["waiting", "streaming", "done", "stopped", "cut", "failed"]
"""waiting: nothing came yet; cut: it failed after something came (kept, playable); failed: before anything came."""
