"""server_vad of 0.30: the server's own ear beside the model's, which tells when the user speaks and stops an answer."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Literal

from launch.rehearsal.brain.brain import EAR_RATE, Detector

STOP_S = 0.5  # quiet after which the user has stopped: ``silence_duration_ms`` below
DEFAULTS: Mapping[str, Any] = {
    "type": "server_vad",
    "interrupt_response": True,
    "threshold": 0.5,
    "prefix_padding_ms": 300,
    "silence_duration_ms": 500,
    "min_speech_duration_ms": 96,
}
"""What the server fills in and tells; ours goes by them whatever a client asks."""
_MORE: Mapping[str, Mapping[str, Any]] = {
    "listen": {"defer_runtime_append": False, "force_listen": False, "preserve_realtime_input": True},
    "barge_in": {"cancel_reason": "turn_detected"},
}


@dataclass(frozen=True)
class Overheard:
    """What one append told. ``turn``: the user began or stopped, ``at_ms`` of the microphone."""

    turn: Literal["started", "stopped"] | None
    at_ms: int
    voice_ms: int
    duration_ms: int

    def decision(self, session_id: str, epoch: int) -> dict[str, Any]:
        """The ``overlap.decision`` over an answer (captured in ws_vad_barge_in)."""
        action = "barge_in" if self.voice_ms else "listen"
        decided = {
            "type": "overlap.decision",
            "session_id": session_id,
            "epoch": epoch,
            "policy": "barge_in_on_speech",
            "action": action,
            "reason": "server_vad_speech_started" if self.voice_ms else "auto_response_continuous",
        }
        measured = {"duration_ms": self.duration_ms, "overlap_speech_ms": self.voice_ms, "buffer_audio": True}
        return {**decided, "metadata": {**decided, **measured, **_MORE[action]}}


class ServerVad:
    """``speaking``: whether the user was when it began to listen."""

    def __init__(self, detector: Detector, *, speaking: bool = False) -> None:
        self._detector = detector
        self._speaking = speaking
        self._quiet_s = 0.0
        self._heard_s = 0.0

    def hear(self, pcm: bytes) -> Overheard:
        """The next append, s16le mono at 16 kHz. Takes milliseconds."""
        heard = self._detector(pcm)
        began_s, duration_s = self._heard_s, len(pcm) / 2 / EAR_RATE
        self._heard_s += duration_s
        self._quiet_s = heard.quiet_s if heard.voice_s else self._quiet_s + duration_s
        turn: Literal["started", "stopped"] | None = None
        if heard.voice_s and not self._speaking:
            turn, self._speaking = "started", True
        elif self._speaking and self._quiet_s >= STOP_S:
            turn, self._speaking = "stopped", False
        at_s = began_s if turn == "started" else self._heard_s
        return Overheard(turn, round(1000 * at_s), round(1000 * heard.voice_s), round(1000 * duration_s))
