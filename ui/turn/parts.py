"""What one side says: frozen parts, and the messages made of them.

Media are already in the form the model takes (``ui/media``).
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

Language = Literal["zh", "en"]


@dataclass(frozen=True)
class Text:
    text: str


@dataclass(frozen=True)
class Image:
    """An encoded picture, upright, at most 1.8 Mpx."""

    data: bytes
    width: int
    height: int
    mime: str = "image/jpeg"


@dataclass(frozen=True)
class Audio:
    """A RIFF/WAV file, 16 kHz mono PCM16, at most 30 s."""

    data: bytes
    seconds: float
    mime: str = "audio/wav"


@dataclass(frozen=True)
class Video:
    """A whole video file for the server to decode (``video_url``)."""

    data: bytes
    seconds: float
    mime: str = "video/mp4"


Part = Text | Image | Audio | Video


@dataclass(frozen=True)
class Message:
    role: Literal["system", "user", "assistant"]
    parts: tuple[Part, ...]


@dataclass(frozen=True)
class Voice:
    """Who speaks: the system message is ``before``, the reference sound, ``after`` (protocol §2.3).

    ``reference`` None: the server's own voice.
    """

    language: Language
    before: str
    after: str = ""
    reference: Audio | None = None


@dataclass(frozen=True)
class Settings:
    """What the user may turn. ``None`` means: the server's own default, and the field is not sent."""

    speech: bool = True
    max_tokens: int | None = None
    temperature: float | None = None
    seed: int | None = None


def writable(text: str) -> str:
    """``text`` with half surrogate pairs replaced: JSON can carry one in, UTF-8 has no way to write it out."""
    return text.encode("utf-8", "replace").decode("utf-8")
