"""What a brain is: the seam between the wire and whatever thinks behind it."""

from __future__ import annotations

from collections.abc import AsyncIterator, Callable, Sequence
from dataclasses import dataclass
from typing import Literal, Protocol

SAMPLE_RATE = 24_000  # what the real code2wav stage speaks (protocol §2.4)
EAR_RATE = 16_000  # what Whisper, the voice detectors and a realtime session take (protocol §4.3)


@dataclass(frozen=True)
class Part:
    """One content part of a chat message, decoded. ``data``: the file's bytes as sent (any format); for text, UTF-8."""

    kind: Literal["text", "image", "audio", "video"]
    data: bytes

    @property
    def text(self) -> str:
        return self.data.decode("utf-8") if self.kind == "text" else ""


@dataclass(frozen=True)
class Said:
    """A message of the conversation."""

    role: Literal["system", "user", "assistant"]
    parts: tuple[Part, ...]


@dataclass(frozen=True)
class Sampling:
    """Only what the real server honours (protocol §2.1); ``None``: the brain's own default."""

    max_tokens: int | None = None
    temperature: float | None = None
    seed: int | None = None


@dataclass(frozen=True)
class Token:
    """A piece of text and how many tokens it counts for."""

    text: str
    count: int = 1


@dataclass(frozen=True)
class Voiced:
    """What was heard in a piece of sound: seconds of voice in it, and of quiet after the last of them (the whole piece
    when there was none)."""

    voice_s: float
    quiet_s: float

    @classmethod
    def of(cls, marks: Sequence[bool], step_s: float, whole_s: float) -> Voiced:
        """From a mark for each step of ``step_s`` seconds: whether it held voice."""
        last = next((number for number in range(len(marks) - 1, -1, -1) if marks[number]), None)
        quiet_s = whole_s if last is None else max(0.0, whole_s - (last + 1) * step_s)
        return cls(sum(marks) * step_s, quiet_s)


class Detector(Protocol):
    """Hears one microphone, piece by piece."""

    def __call__(self, pcm: bytes) -> Voiced:
        """The next piece, s16le mono at 16 kHz. Takes about a twentieth of the sound's own time."""
        ...


Progress = Callable[[str, float], None]
"""Called with what is being loaded and the share done (0..1)."""


class UndecodableMedia(Exception):
    """A part cannot be decoded; the wire answers 400 in the server's words. ``kind``: the part's kind."""

    def __init__(self, kind: str, why: str) -> None:
        self.kind = kind
        super().__init__(why)


class Brain(Protocol):
    """Closing either iterator early stops its work within one step.

    One brain serves turns one after another; callers may overlap, it queues them.
    """

    async def load(self, progress: Progress) -> None:
        """Load everything; ``/health`` is 200 only after this returned."""
        ...

    def think(self, conversation: Sequence[Said], sampling: Sampling, *, spoken: bool) -> AsyncIterator[Token]:
        """Answer the conversation. ``spoken``: the text will be read aloud, so keep it short.

        Raises ``UndecodableMedia``.
        """
        ...

    def speak(self, text: str) -> AsyncIterator[bytes]:
        """The text as s16le mono PCM at ``SAMPLE_RATE``, a clause at a time, as soon as each is ready."""
        ...

    def detector(self) -> Detector:
        """A voice detector for one conversation. It may be used on any thread, one at a time."""
        ...

    async def close(self) -> None: ...
