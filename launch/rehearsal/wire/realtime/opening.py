"""What a client asks a session to be: the ``session`` object of its first event, judged as the server does (§4.2)."""

from __future__ import annotations

import base64
from dataclasses import dataclass
from typing import Any, Literal

from pydantic import BaseModel, ConfigDict, ValidationError

from launch.rehearsal.brain.brain import UndecodableMedia
from launch.rehearsal.brain.sound import decode
from launch.rehearsal.wire.order import MODEL
from launch.rehearsal.wire.realtime.refusals import Refusal

IN_FORMATS = ("pcm16", "pcm_s16le", "s16le", "pcm_f32le", "g711_ulaw", "g711_alaw")
OUT_FORMATS = ("pcm16", "pcm", "wav")
_NO_VOICE = {
    "0.26": "MiniCPM-o native duplex audio output requires ref_audio",
    "0.30": "MiniCPM-o duplex audio output requires ref_audio",
}


class _Extra(BaseModel):
    model_config = ConfigDict(extra="allow")
    minicpmo45_native_duplex: Any = False
    auto_response: bool = False
    full_duplex: bool = False
    force_listen_count: int = 0
    ref_audio: str | None = None
    tts_ref_audio: str | None = None


class _Asked(BaseModel):
    """The fields that change what the session does; the rest is kept and echoed."""

    model_config = ConfigDict(extra="allow")
    model: str = MODEL
    modalities: list[str] | None = None
    output_modalities: list[str] | None = None
    instructions: str | None = None
    temperature: float | None = None
    input_audio_format: str | dict[str, Any] | None = None
    output_audio_format: str | dict[str, Any] | None = None
    turn_detection: dict[str, Any] | None = None
    overlap_policy: str = "listen_only"
    idle_timeout_s: float | None = None
    ref_audio: Any = None
    extra_body: _Extra = _Extra()


@dataclass(frozen=True)
class Opening:
    """``native``: the model decides when to speak; without it a 0.26 session only collects sound. ``vad``: the server
    stops an answer when it hears the user. ``echo``: the client's object, whole, which comes back in session.created."""

    model: str
    modalities: tuple[str, ...]
    instructions: str
    idle_s: float
    container: Literal["pcm", "wav"]
    in_format: str
    native: bool
    vad: bool
    force_listen: int
    echo: dict[str, Any]

    @property
    def speaks(self) -> bool:
        return "audio" in self.modalities


def opening(session: Any, wire: str, idle_s: float, *, container: Literal["pcm", "wav"] = "pcm") -> Opening:
    """The session that ``session`` describes. ``container``: of an endpoint that is not told one. Raises ``Refusal``."""
    try:
        asked = _Asked.model_validate(session if isinstance(session, dict) else {})
    except ValidationError as error:
        raise Refusal("bad_event", f"Invalid session config: {error.errors()[0]['msg']}", fatal=True) from error
    extra = asked.extra_body
    native = wire != "0.26" or extra.minicpmo45_native_duplex is True
    vad = _vad(asked, wire)
    modalities = tuple(asked.modalities or asked.output_modalities or ("text", "audio"))
    out_format = _format(asked.output_audio_format, OUT_FORMATS) or container
    in_format = _format(asked.input_audio_format, IN_FORMATS) or "pcm16"
    if native and "audio" in modalities:
        _require_voice(asked.ref_audio or extra.ref_audio or extra.tts_ref_audio, wire)
    return Opening(
        model=asked.model,
        modalities=modalities,
        instructions=asked.instructions or "",
        idle_s=asked.idle_timeout_s or idle_s,
        container="wav" if out_format == "wav" else "pcm",
        in_format=in_format,
        native=native,
        vad=vad,
        force_listen=extra.force_listen_count,
        echo=session if isinstance(session, dict) else {},
    )


def _vad(asked: _Asked, wire: str) -> bool:
    detection = asked.turn_detection
    if detection is None:
        if wire != "0.26" and asked.overlap_policy not in ("listen_only", "auto"):
            raise _conflict(asked.overlap_policy, "listen_only")
        return False
    if wire == "0.26":  # not fatal: the client may ask again on the same socket
        raise Refusal("unsupported_turn_detection", "turn_detection is not supported by this duplex runtime")
    if detection.get("type") != "server_vad":
        raise Refusal("invalid_session_config", "turn_detection.type must be 'server_vad'", fatal=True)
    if asked.overlap_policy != "barge_in_on_speech":
        raise _conflict(asked.overlap_policy, "barge_in_on_speech")
    return bool(detection.get("interrupt_response", True))


def _conflict(policy: str, expected: str) -> Refusal:
    words = f"overlap_policy={policy!r} conflicts with turn_detection; expected {expected!r}"
    return Refusal("invalid_session_config", words, fatal=True)


def _format(asked: str | dict[str, Any] | None, known: tuple[str, ...]) -> str | None:
    if asked is None:
        return None
    name = {"audio/pcm": "pcm16", "audio/pcmu": "g711_ulaw", "audio/pcma": "g711_alaw"}.get(
        str(asked.get("type")) if isinstance(asked, dict) else asked, asked
    )
    if name not in known:
        raise Refusal("unsupported_audio_format", f"Unsupported audio format: {asked}", fatal=True)
    return str(name)


def _require_voice(reference: Any, wire: str) -> None:
    """The voice to speak with must be there and be a sound. Ours speaks with its own all the same."""
    if not isinstance(reference, str) or not reference:
        raise Refusal("ref_audio_required", _NO_VOICE[wire], fatal=True)
    if reference.startswith(("http://", "https://", "file://")):
        # The real server would fetch it. This one opens nothing that a client names.
        raise Refusal("internal_error", "Cannot load a reference by its address here; send a data: URL.", fatal=True)
    head, comma, data = reference.partition(",")
    if not comma or not head.startswith("data:"):
        code = "unsupported_ref_audio_path" if wire == "0.26" else "ref_audio_required"
        raise Refusal(code, _NO_VOICE[wire], fatal=True)
    try:
        decode(base64.b64decode(data, validate=True), "audio")
    except (ValueError, UndecodableMedia) as error:
        raise Refusal("invalid_duplex_runtime_config", f"Invalid ref_audio: {error}", fatal=True) from error
