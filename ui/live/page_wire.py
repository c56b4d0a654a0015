"""What the page and the app say to each other during a conversation: every message of ``/live/{id}/socket``.

Binary frames, both ways, begin with ``HEADER``: kind, three zero bytes, a number. From the page: ``MICROPHONE`` (number:
of the frame, from 0; payload s16le mono 16 kHz, at most 200 ms) and ``CAMERA`` (one JPEG). From the app: ``SPEECH``
(number: of the answer; payload s16le mono 24 kHz, at most 200 ms, nothing when it was flushed before it was sent).

Text frames are JSON with a ``type``. Each frame of the app has a running number: a text frame says it (``seq``), a
speech frame is one more than the frame before it. A page comes back with ``?after=`` the last one it has.
"""

from __future__ import annotations

from struct import Struct
from typing import Annotated, Literal, Self

from pydantic import BaseModel, ConfigDict, Field, TypeAdapter

from launch.errors import OmniError
from launch.faults import explain
from ui.live.moments import APPEND_S, MIC_RATE, SPEECH_RATE
from ui.turn.parts import Language

HEADER = Struct("<B3xI")
MICROPHONE, CAMERA, SPEECH = 1, 2, 3
MIC_MOST = round(APPEND_S * MIC_RATE) * 2
"""Bytes of one microphone frame: 200 ms, one append."""
SPEECH_MOST = SPEECH_RATE // 5 * 2
"""Bytes of one speech frame, 200 ms: on a slow tunnel the first sound does not wait for the end of a 1 s packet."""
JPEG_MOST = 1 << 20
"""A 1280x720 picture of good quality is 150 kB; the server takes 4,000,000 characters of base64."""
TEXT_MOST = 2_048
"""Bytes of a text frame of the page; the longest, ``figures``, is about 150."""

_Milliseconds = Annotated[float, Field(ge=0, le=86_400_000, allow_inf_nan=False)]
_Count = Annotated[int, Field(ge=0, le=1 << 31)]


class Played(BaseModel):
    """So much of an answer has really been heard, in all."""

    type: Literal["played"]
    response: _Count
    ms: _Milliseconds


class Interrupt(BaseModel):
    type: Literal["interrupt"]
    by: Literal["stop", "voice"]


class Mute(BaseModel):
    """While it is on, the page sends no microphone."""

    type: Literal["mute"]
    on: bool


class Figures(BaseModel):
    """What the page measured; kept for the record."""

    type: Literal["figures"]
    underruns: _Count = 0
    stall_ms: _Milliseconds = 0
    flush_ms: _Milliseconds | None = None
    hidden: bool = False
    dropped_frames: _Count = 0


class Close(BaseModel):
    type: Literal["close"]


PageWord = Played | Interrupt | Mute | Figures | Close
_PAGE_WORD: TypeAdapter[PageWord] = TypeAdapter(Annotated[PageWord, Field(discriminator="type")])


def page_word(text: str) -> PageWord:
    """A text frame of the page. Raises ``ValueError`` for anything else."""
    return _PAGE_WORD.validate_json(text)


class Told(BaseModel):
    """A fault of the catalogue in both languages."""

    cause: dict[Language, str]
    cure: dict[Language, str]

    @classmethod
    def of(cls, error: OmniError) -> Self:
        zh, en = explain(error, "zh"), explain(error, "en")
        return cls(cause={"zh": zh.cause, "en": en.cause}, cure={"zh": zh.cure, "en": en.cure})


class _Word(BaseModel):
    """One text frame of the app, but for its number."""

    model_config = ConfigDict(frozen=True)

    def numbered(self, seq: int) -> str:
        """The frame. Keys without a value are left out."""
        return f'{{"seq":{seq},{self.model_dump_json(exclude_none=True)[1:]}'


class State(_Word):
    """``position``: in the queue, from 1. ``attempt``, ``retry_s``: of asking a full server again. ``wire`` to
    ``idle_s``: what the open session can. ``resumed``, ``gap_s``: after a loss."""

    type: Literal["state"] = "state"
    state: Literal["queued", "connecting", "waiting", "open", "lost", "closed"]
    position: int | None = None
    attempt: int | None = None
    retry_s: float | None = None
    wire: str | None = None
    barge_in: bool | None = None
    camera: bool | None = None
    idle_s: float | None = None
    resumed: bool | None = None
    gap_s: float | None = None


class Heard(_Word):
    type: Literal["heard"] = "heard"
    speaking: bool


class Listen(_Word):
    type: Literal["listen"] = "listen"
    at: float
    reason: str


class Begins(_Word):
    type: Literal["speaking"] = "speaking"
    response: int


class Words(_Word):
    type: Literal["caption"] = "caption"
    response: int
    text: str
    until_ms: float


class Said(_Word):
    type: Literal["spoken"] = "spoken"
    response: int
    status: str
    reason: str
    text: str
    duration_ms: float


class Flush(_Word):
    type: Literal["flush"] = "flush"
    response: int
    by: str


class Took(_Word):
    type: Literal["latency"] = "latency"
    response: int
    since: str
    ttft_ms: float | None
    ttfp_ms: float | None


class Clock(_Word):
    type: Literal["clock"] = "clock"
    session_s: float
    idle_left_s: float | None
    dropped_frames: int


class Notice(_Word):
    type: Literal["notice"] = "notice"
    cause: dict[Language, str]
    cure: dict[Language, str]


class Ended(_Word):
    """The last word."""

    type: Literal["ended"] = "ended"
    reason: str
    fault: Told | None = None
    recording: bool = False


class Strange(_Word):
    """An event of the server that nobody knows: shown, never fatal."""

    type: Literal["unknown"] = "unknown"
    event: dict[str, object]


class Alive(_Word):
    type: Literal["alive"] = "alive"


AppWord = State | Heard | Listen | Begins | Words | Said | Flush | Took | Clock | Notice | Ended | Strange | Alive


def notice(error: OmniError) -> Notice:
    told = Told.of(error)
    return Notice(cause=told.cause, cure=told.cure)
