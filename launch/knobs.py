"""Every knob of MiniCPM-o's deploy file and where it must stand to be read (protocol §5.4)."""

from __future__ import annotations

import difflib
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import yaml

from launch.deploy_file import STAGES
from launch.errors import InputError
from launch.fast_yaml import parse
from launch.versions import Line

BOOL, INT, NUMBER, TEXT, ANY = "true/false", "int", "number", "text", "any"


@dataclass(frozen=True)
class Knob:
    """``place``: "connector" (its ``extra``), "duplex" (``duplex_session``), "top", "stage", "sampling" (a stage's
    ``default_sampling_params``), "sessions" (all four places that must agree) or "limit" (the thinker's
    ``limit_mm_per_prompt``). ``stage``: which one a bare name means; None with a place of "stage" or "sampling" means
    that one must be named. ``least``: the smallest value that works.
    """

    name: str
    place: str
    kind: str
    stage: int | None = None
    least: float | None = None

    def where(self) -> str:
        """The place in the file, as one would write it."""
        stage = "N" if self.stage is None else self.stage
        if self.place == "sessions":
            return "duplex_session.max_sessions + stages[0-2].max_num_seqs"
        return {
            "connector": f"connectors.<name>.extra.{self.name}",
            "duplex": f"duplex_session.{self.name}",
            "top": self.name,
            "stage": f"stages[{stage}].{self.name}",
            "sampling": f"stages[{stage}].default_sampling_params.{self.name}",
            "limit": f"stages[0].limit_mm_per_prompt.{self.name}",
        }[self.place]


def _group(place: str, kind: str, *names: str, stage: int | None = None, least: float | None = None) -> list[Knob]:
    return [Knob(name, place, kind, stage, least) for name in names]


KNOBS: Mapping[str, Knob] = {
    knob.name: knob
    for knob in [
        # 2 vocoder steps are reported not to start; 3 halves RTF at no loss (field notes §3.1).
        *_group("connector", INT, "token2wav_n_timesteps", least=3),
        *_group(
            "connector",
            INT,
            "codec_chunk_frames",
            "code2wav_min_batch_size",
            "cfm_max_graphs",
            "token2wav_trt_max_batch",
            least=1,
        ),
        *_group(
            "connector",
            INT,
            "codec_left_context_frames",
            "cfm_graph_bucket_frames",
            "code2wav_initial_batch_size",
            least=0,
        ),
        *_group("connector", INT, "token2wav_runtime_prompt_cache_size", "token2wav_setup_cache_size", least=0),
        *_group(
            "connector",
            BOOL,
            "token2wav_float16",
            "enable_hift_graph",
            "enable_cfm_graph",
            "token2wav_trt",
            "code2wav_bfloat16_attention_cache",
        ),
        *_group("connector", TEXT, "prompt_wav", "prompt_cache_id", "token2wav_trt_dtype"),
        *_group("connector", ANY, "hift_graph_capture_batch_sizes"),
        *_group("connector", NUMBER, "ref_audio_max_seconds", least=0),
        *_group("sampling", NUMBER, "temperature", "top_p", "repetition_penalty", stage=0, least=0),
        *_group("sampling", INT, "max_tokens", stage=0, least=1),
        *_group("sampling", INT, "top_k", "seed", stage=0),
        *_group("sampling", INT, "min_tokens", stage=1, least=0),
        *_group("sampling", ANY, "stop_token_ids"),
        *_group("limit", INT, "image", "audio", "video", stage=0, least=0),
        *_group("stage", BOOL, "interleave_mm_strings", stage=0),
        *_group("stage", INT, "max_model_len", "max_num_batched_tokens", "tensor_parallel_size", stage=0, least=1),
        *_group("stage", NUMBER, "gpu_memory_utilization", least=0.01),
        *_group("stage", INT, "kv_cache_memory_bytes", "num_replicas", least=1),
        *_group("stage", BOOL, "enforce_eager", "async_scheduling"),
        *_group("stage", TEXT, "devices", "load_format"),
        *_group("stage", NUMBER, "mm_processor_cache_gb", stage=0, least=0),
        # Duplex admits max_sessions; each stage takes max_num_seqs. They must be equal, so both names set all four
        # places.
        *_group("sessions", INT, "max_sessions", "max_num_seqs", least=1),
        *_group(
            "duplex",
            NUMBER,
            "idle_ttl_s",
            "disconnect_grace_s",
            "reaper_interval_s",
            "resume_replay_ttl_s",
            least=0.001,
        ),
        *_group("duplex", INT, "resume_replay_max_bytes_per_session", "max_pending_input_bytes_per_session", least=1),
        *_group("duplex", INT, "max_pending_turns_per_session", "completed_append_cache_size", least=1),
        *_group("duplex", INT, "warmup_frames"),
        *_group("duplex", TEXT, "server_vad_model_path"),
        *_group("top", BOOL, "async_chunk", "enable_prefix_caching", "enable_chunked_prefill", "trust_remote_code"),
        *_group("top", INT, "active_stream_window", least=0),
        *_group("top", TEXT, "session_mode", "dtype", "quantization"),
    ]
}
STAGE_NAMES = {
    **{str(number): number for number in STAGES},
    **{name: number for number, name in STAGES.items()},
    "vocoder": 2,
}
PATH_ROOTS = ("connectors", "duplex_session", "stages", "platforms")


@dataclass(frozen=True)
class Setting:
    """One ``--set``: a known ``knob`` (for ``stage`` when one was named), or a full ``path`` written out by the user,
    and its value.
    """

    text: str
    value: Any
    knob: Knob | None = None
    stage: int | None = None
    path: tuple[Any, ...] = ()


def setting(text: str, line: Line) -> Setting:
    """Read ``KEY=VALUE``: a knob's name, ``STAGE.NAME`` (0-2, thinker, talker, code2wav), or the full path in the file.

    Raises ``InputError``: no such knob (with the nearest), one that nobody reads, a value of the wrong kind, a stage
    that must be named.
    """
    key, equals, written = text.partition("=")
    key = key.strip()
    if not key or not equals:
        raise InputError("set-unreadable", given=text)
    try:
        value = parse(written)
    except yaml.YAMLError as broken:
        raise InputError("set-unreadable", given=text) from broken
    head, _, rest = key.partition(".")
    if key.split(".")[-1] in line.dead:
        raise InputError("knob-dead", knob=key.split(".")[-1], value=written)
    if head in PATH_ROOTS and rest:
        return Setting(text, value, path=tuple(int(part) if part.isdigit() else part for part in key.split(".")))
    stage = STAGE_NAMES.get(head) if rest else None
    name = rest if stage is not None else key
    knob = KNOBS.get(name)
    if (
        stage is not None and knob is None
    ):  # an engine argument with no entry here: `lint` says whether the server reads it
        return Setting(text, value, path=("stages", stage, *name.split(".")))
    if knob is None or (knob.place == "connector" and name not in line.extra):
        near = difflib.get_close_matches(name, KNOBS, n=1)
        raise InputError("set-unknown", given=key, near=near[0] if near else "—")
    if stage is None and knob.stage is None and knob.place in ("stage", "sampling"):
        raise InputError("set-stage-needed", knob=name, value=written)
    return Setting(text, _checked(knob, value, text), knob, knob.stage if stage is None else stage)


def _checked(knob: Knob, value: Any, text: str) -> Any:
    kinds = {BOOL: bool, INT: int, NUMBER: (int, float), TEXT: (str, int, float)}
    # A number for a text (devices=0) is what YAML makes of it; null resets a knob to automatic. True is an int in
    # Python, not here.
    right = (
        value is None
        or knob.kind == ANY
        or (isinstance(value, kinds[knob.kind]) and (knob.kind == BOOL or not isinstance(value, bool)))
    )
    if not right:
        raise InputError("set-wrong-kind", given=text, knob=knob.name, kind=knob.kind)
    if knob.least is not None and isinstance(value, (int, float)) and value < knob.least:
        raise InputError("set-too-small", given=text, knob=knob.name, least=f"{knob.least:g}")
    return str(value) if knob.kind == TEXT and value is not None else value
