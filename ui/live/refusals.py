"""What went wrong, by the server's code (protocol §4.12, §7): the catalogue's entry, and whether the session is over."""

from __future__ import annotations

from launch.errors import ServerError, ServerGone, ServerRefused
from launch.versions import line_named
from ui.live.events import ErrorEvent

FULL = frozenset({"resource_exhausted", "duplex_session_busy"})
"""No place: worth asking again."""
RETRY = frozenset({"session_resume_conflict"})
"""Refused a resume only for this moment."""
_TURN_ONLY = frozenset({"unsupported"})

_BY_CODE: dict[str, tuple[str, ...]] = {
    "live-full": ("resource_exhausted", "duplex_session_busy"),
    "live-reference-missing": ("ref_audio_required", "unsupported_ref_audio_path"),
    "live-reference-unreadable": ("invalid_duplex_runtime_config",),
    "live-vad-refused": ("unsupported_turn_detection", "server_vad_unavailable", "semantic_vad_unavailable"),
    "live-setup-refused": ("invalid_session_config", "invalid_argument", "invalid_capability"),
    "live-opened-late": ("config_timeout",),
    "live-one-api-server": ("multi_api_duplex_unsupported",),
    "live-open-failed": ("runtime_open_failed", "runtime_open_unsupported", "session_exists"),
    "live-no-resume": (
        "session_resume_expired",
        "invalid_resume_token",
        "invalid_session_resume",
        "session_resume_conflict",
        "runtime_resume_failed",
        "unsupported_session_resume",
    ),
    "live-session-gone": ("session_closed", "unknown_session", "not_found"),
    "live-engine-died": ("runtime_append_task_failed", "runtime_data_plane_stream_failed"),
    "live-engine-failed": (
        "internal_error",
        "engine_error",
        "runtime_append_failed",
        "runtime_signal_failed",
        "runtime_close_failed",
        "runtime_abort_failed",
        "realtime_input_failed",
        "response_error",
        "chat_error",
        "commit_aborted",
    ),
    "live-text-without-sound": ("runtime_data_plane_text_without_audio",),
    "live-engine-slow": ("timeout",),
    "live-state-moved": (
        "stale_fence",
        "failed_precondition",
        "response_not_active",
        "response_already_active",
        "response_create_without_input",
        "input_audio_buffer_empty",
        "item_not_found",
    ),
    "live-behind": ("input_backpressure", "output_backpressure"),
    "live-no-change-now": (
        "model_update_unsupported",
        "voice_update_after_audio_unsupported",
        "ref_audio_update_unsupported",
        "instructions_update_unsupported",
    ),
    "live-picture-refused": ("invalid_video_frames",),
    "live-heard-late": ("playback_item_mismatch", "playback_item_not_found", "playback_ack_too_late"),
    "live-sound-refused": ("bad_audio", "unsupported_audio_format", "invalid_input_modality"),
    "live-event-refused": (
        "bad_event",
        "invalid_json",
        "event_too_large",
        "unknown_event",
        "missing_item_id",
        "invalid_event_ack",
        "invalid_event",
        "native_text_append_unsupported",
        "text_only_turn_unsupported",
        "barge_in_unsupported",
        "unsupported_native_response_options",
    ),
}
KEYS = {code: key for key, codes in _BY_CODE.items() for code in codes}
"""Catalogue key of each code."""
_FATAL = frozenset({"live-engine-died", "live-session-gone", "live-one-api-server"})
_SILENT = frozenset({"response_not_active"})
"""The answer had ended while our cancel was on its way: what was wanted has happened."""
_TOOL = "tool_"  # 0.32: tools, which the app does not use


def told(event: ErrorEvent) -> ServerError:
    """The error to show. A code nobody knows is told with the server's word for it."""
    if event.name in _TURN_ONLY:
        return turn_only("0.30", event.message)
    key = KEYS.get(event.name) or ("live-event-refused" if event.name.startswith(_TOOL) else "live-server-error")
    kind = ServerGone if key in ("live-engine-died", "live-session-gone") else ServerRefused
    return kind(key, detail=f"{event.name}: {event.message}", code=event.name or "—")


def fatal(event: ErrorEvent) -> bool:
    """Whether an error ends an open session. Every error before it is open ends it."""
    return KEYS.get(event.name) in _FATAL or event.name in _TURN_ONLY


def silent(event: ErrorEvent) -> bool:
    """Whether nobody need be told."""
    return event.name in _SILENT


def turn_only(wire: str, detail: str) -> ServerRefused:
    """The server works, but in turn mode. ``wire``: whose way of saying so it was (protocol §4.1, §7)."""
    return ServerRefused("live-turn-only", detail=detail, wire=wire, file=deploy_file(wire))


def deploy_file(wire: str) -> str:
    """The duplex deploy file of that line, from the checkout's root."""
    path = line_named(wire).folder / "duplex.yaml"
    return f"{path.parent.parent.name}/{path.parent.name}/{path.name}"
