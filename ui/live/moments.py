"""What happens in a live conversation, in one vocabulary for every wire: what a ``LiveSession`` tells whoever listens.

``at``: seconds since the session was asked for, on a monotonic clock. ``response``: number of an answer within its
session, 1, 2, ...; the server's own id of it stands in ``Speaking``.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Literal

from launch.errors import OmniError

MIC_RATE = 16_000
"""Hz, mono s16le: what a native duplex session takes without resampling (protocol §4.3)."""
SPEECH_RATE = 24_000
"""Hz, mono s16le: what it answers with (protocol §4.4)."""
APPEND_S = 0.2
"""Seconds of microphone in one append (guide §9.7): five make one unit of the model."""

SpokenStatus = Literal["completed", "cancelled", "failed"]


@dataclass(frozen=True)
class Opened:
    """The session is open. ``wire``: "0.26" or "0.30" (and later); ``capabilities``: the server's own words."""

    at: float
    session_id: str
    wire: str
    barge_in: bool
    camera: bool
    idle_s: float
    """Seconds without input or output after which the server ends it."""
    capabilities: Mapping[str, Any]


@dataclass(frozen=True)
class Waiting:
    """Every place is taken; it is asked again by itself. ``attempt``: 1, 2, ...; ``retry_s``: until the next one."""

    at: float
    attempt: int
    retry_s: float


@dataclass(frozen=True)
class HeardYou:
    """The server noticed speech in the microphone (``input_audio_buffer.speech_started``/``stopped``)."""

    at: float
    speaking: bool


@dataclass(frozen=True)
class Listening:
    """The model decided, for one second of input, to listen. ``reason``: the server's word (protocol §4.4)."""

    at: float
    reason: str


@dataclass(frozen=True)
class Speaking:
    """An answer begins (``response.created``). ``id``: the server's id of it."""

    at: float
    response: int
    id: str


@dataclass(frozen=True)
class Speech:
    """A piece of an answer's sound, s16le mono at ``SPEECH_RATE``. ``until_ms``: length of the answer so far."""

    at: float
    response: int
    pcm: bytes
    until_ms: float


@dataclass(frozen=True)
class Caption:
    """Words of an answer; together with all earlier ones they are said by ``until_ms`` of its sound."""

    at: float
    response: int
    text: str
    until_ms: float


@dataclass(frozen=True)
class Spoken:
    """An answer has ended, once for each ``Speaking``. ``reason``: the server's word for a cancelled or failed one."""

    at: float
    response: int
    status: SpokenStatus
    reason: str
    text: str
    duration_ms: float


@dataclass(frozen=True)
class Interrupted:
    """Whatever of the answer still waits to be played must be dropped at once. ``by``: "stop" (a button), "voice" (the
    user's, where that is switched on), "model" (it yields), "lost" (the session broke)."""

    at: float
    response: int
    by: Literal["stop", "voice", "model", "lost"]


@dataclass(frozen=True)
class Latency:
    """How long an answer took: milliseconds from ``since`` to its first word and its first sound, measured here."""

    at: float
    response: int
    since: Literal["user-stopped", "last-listen", "session-opened"]
    ttft_ms: float | None
    ttfp_ms: float | None


@dataclass(frozen=True)
class Lost:
    """The connection broke; it is being resumed. ``microphone`` frames of this time are dropped and counted."""

    at: float


@dataclass(frozen=True)
class Back:
    """It goes on. ``resumed`` False: in a fresh session which knows nothing of what was said."""

    at: float
    resumed: bool
    gap_s: float
    dropped_frames: int


@dataclass(frozen=True)
class Noticed:
    """Something the user should be told that does not end the session."""

    at: float
    notice: OmniError


@dataclass(frozen=True)
class Unknown:
    """An event of the server that we do not know, kept as it came (without media): shown, never fatal."""

    at: float
    event: Mapping[str, Any]


@dataclass(frozen=True)
class Closed:
    """The last moment of a session. ``error`` None: it ended because we or the user ended it."""

    at: float
    reason: str
    error: OmniError | None = None


Moment = (
    Opened
    | Waiting
    | HeardYou
    | Listening
    | Speaking
    | Speech
    | Caption
    | Spoken
    | Interrupted
    | Latency
    | Lost
    | Back
    | Noticed
    | Unknown
    | Closed
)
