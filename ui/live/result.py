"""``result.json`` of a conversation: the keys of the guide's demo, and ours beside them."""

from __future__ import annotations

from typing import Any, Literal

from pydantic import BaseModel

from ui.live.moments import SPEECH_RATE, SpokenStatus

ORIGINS = {
    "user-stopped": "end of the user's speech",
    "last-listen": "last response.listen before the answer",
    "session-opened": "session.created",
}
"""``measurement_origin`` in words, by ``Latency.since``. The guide's demo commits its one input and measures from there;
a microphone that stays open never commits."""


class LatencyResult(BaseModel):
    """The first answer's. Milliseconds from ``measurement_origin`` to its first word and its first sound; ``rtf``: from
    ``response.created`` to its end over the seconds of its sound, below 1 it keeps up with itself."""

    ttft_ms: float | None = None
    ttfp_ms: float | None = None
    rtf: float | None = None
    measurement_origin: str | None = None


class AnswerResult(BaseModel):
    """One answer. ``text``: all its words; ``heard_text``: cut at ``heard_ms``, what was really played of
    ``duration_ms``. ``heard_at_s``: seconds into the recording at which it was first heard."""

    response: int
    status: SpokenStatus | Literal["speaking"] = "speaking"
    reason: str = ""
    text: str = ""
    heard_text: str = ""
    duration_ms: float = 0.0
    heard_ms: float = 0.0
    heard_at_s: float | None = None
    interrupted_by: Literal["stop", "voice", "model", "lost"] | None = None
    latency: LatencyResult = LatencyResult()


class Result(BaseModel):
    """The guide's keys first (guide §9.5). ``ok``: a session opened, the model decided at least once, the session ended as
    it should and nothing failed. ``transcript``: every word the model said, heard or not; ``heard_transcript``: what was
    heard of them. ``finished``: false in the file of a conversation that is still going on, or whose program died.

    ``recording_error``: why a recording is not whole; the conversation itself may still be ``ok``.
    """

    ok: bool = False
    model_decision: Literal["speak", "listen"] | None = None
    audio_chunk_count: int = 0
    output_sample_rate_hz: int = SPEECH_RATE
    latency: LatencyResult = LatencyResult()
    transcript: str = ""
    errors: list[dict[str, Any]] = []

    finished: bool = False
    rehearsal: bool = False
    server: str = ""
    model: str = ""
    session_id: str | None = None
    wire: str | None = None
    started_at: float = 0.0
    length_s: float = 0.0
    heard_transcript: str = ""
    listen_count: int = 0
    answers: list[AnswerResult] = []
    reconnections: int = 0
    dropped_frames: int = 0
    notices: list[dict[str, Any]] = []
    recording_error: dict[str, Any] | None = None
