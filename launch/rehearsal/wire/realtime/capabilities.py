"""What a session says it can do: ``session.capabilities`` of the real servers, word for word (captured for both)."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

_BOTH = {
    "supports_session_adapter": True,
    "supports_model_native_turn_policy": True,
    "supports_external_turn_signal": True,
    "supports_client_commit": True,
    "supports_barge_in": False,
    "supports_playback_ack": True,
    "supports_input_append": True,
    "supports_replace_latest_chunk": False,
    "supports_reencode_context": False,
    "supports_rollback_to_checkpoint": False,
    "supports_turn_commit_only": False,
    "supports_kv_lease": False,
    "supports_core_kv_lease": False,
    "supports_model_internal_state": True,
    "supports_stage_resumption": True,
    "supports_scheduler_native_append": False,
    "supports_core_resumable_request": True,
    "supports_stage_connector_handoff": True,
    "supports_independent_io_streams": True,
    "supports_realtime_endpoint": True,
    "supports_multi_session": True,
    "supports_multi_session_same_replica": True,
    "supports_session_lease": True,
    "supports_session_resume": True,
    "session_admission_mode": "engine_managed",
    "supports_audio_truncate": True,
    "requires_model_runner_kv": True,
    "requires_native_stage_role": True,
    "implementation_level": "model_native_duplex",
    "adapter_patterns": ["scheduler_data_plane"],
    "input_modes": ["append_audio_chunk"],
    "signal_sources": ["model_native", "client_event", "server_policy"],
    "stage_handoff_transport": "scheduler_data_plane",
    "chunk_period_ms": 1000,
    "target_barge_in_latency_ms": None,
}
CAPABILITIES: Mapping[str, Mapping[str, Any]] = {
    "0.26": _BOTH,
    "0.30": _BOTH
    | {
        "supports_barge_in": True,
        "supports_concurrent_turn_requests": False,
        "required_input_modalities": ["audio"],
        "optional_input_modalities": ["video"],
        "supports_image_input": False,
        "supports_text_only_turn": False,
    },
}
GENERIC = "serving_session_adapter"
"""``implementation_level`` of a 0.26 session without the native flag: it buffers sound and never decides (§4.2)."""
