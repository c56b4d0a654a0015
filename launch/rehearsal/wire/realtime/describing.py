"""The session object of ``session.created`` and its kin (protocol §4.2; captured for both versions)."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Literal

from launch.rehearsal.brain.brain import EAR_RATE
from launch.rehearsal.wire.realtime.capabilities import CAPABILITIES, GENERIC
from launch.rehearsal.wire.realtime.opening import Opening
from launch.rehearsal.wire.realtime.playback import Cursors

SILENT_RMS = 0.003  # of full scale, ``overlap_silence_rms``: what is louder looks like speech
Style = Literal["native", "resumed", "realtime"]


def session_object(
    opening: Opening,
    wire: str,
    *,
    session_id: str,
    epoch: int,
    turn_id: int,
    response_id: str | None,
    detection: Mapping[str, Any] | None,
    playback: Cursors,
    style: Style = "realtime",
) -> dict[str, Any]:
    """``style``: 0.26's ``/v1/duplex`` tells the engine's part only; ``resumed`` (0.30) adds what the client sent, its
    voice included; the rest of the time there is a Realtime part besides. ``detection``: of server_vad, when on."""
    capabilities = dict(CAPABILITIES[wire])
    if not opening.native:
        capabilities["implementation_level"] = GENERIC
    engine = {
        "id": session_id,
        "state": "open",
        "turn_state": "assistant_playing" if response_id else "idle",
        "epoch": epoch,
        "turn_id": turn_id,
        "active_request_id": f"{session_id}.stage0" if turn_id or response_id else None,
        "active_response_id": response_id,
        "active_response_turn_id": turn_id if response_id else None,
        "model": opening.model,
        "modalities": list(opening.modalities),
        "instructions": opening.instructions or None,
        "voice": None,
        "response_format": opening.container,
        "temperature": opening.echo.get("temperature"),
        "max_tokens": opening.echo.get("max_tokens"),
        "speed": opening.echo.get("speed"),
        "idle_timeout_s": opening.idle_s,
        "overlap_policy": "barge_in_on_speech" if detection else "listen_only",
        "overlap_short_ack_ms": 700,
        "overlap_barge_in_ms": 1200,
        "overlap_silence_rms": SILENT_RMS,
        "playback_commit_policy": "ack_only",
        "playback": playback.as_dict(),
        "capabilities": capabilities,
    }
    if style == "native":
        return engine
    sent = {
        **{key: value for key, value in opening.echo.items() if key != "extra_body"},
        **engine,
        "input_audio_format": opening.in_format,
        "output_audio_format": "wav" if opening.container == "wav" else "pcm16",
        "turn_detection": dict(detection) if detection else None,
    }
    if style == "resumed":
        return sent
    return {
        **sent,
        "object": "realtime.session",
        "type": "realtime",
        "output_modalities": list(opening.modalities),
        "audio": {
            "input": {"format": {"type": "audio/pcm", "rate": EAR_RATE}, "sample_rate_hz": EAR_RATE},
            "output": {"format": {"type": "audio/pcm"}},
        },
        "input_audio_transcription": None,
        "tracing": None,
    }


def runtime_control(session_id: str) -> dict[str, Any]:
    """What 0.26's ``/v1/duplex`` tells of the engine's opening of a session (captured)."""
    fence = {"session_id": session_id, "epoch": 0, "turn_id": 0, "response_seq": 0, "incarnation": 0}
    result = {
        "supported": True,
        "implementation_level": "model_native_duplex",
        "data_plane_session": True,
        "session_mode": "duplex",
        "scheduler_request_context": True,
        "request_id": f"{session_id}.stage0",
    }
    return {
        "fence": fence,
        "operation": "open",
        "session_id": session_id,
        "ok": True,
        "stage_results": [{"stage_id": -1, "replica_id": -1, "result": result}],
        "unsupported_count": 0,
        "error_count": 0,
        "accepted_fence": fence,
        "lease_generation": 0,
        "error": None,
    }
