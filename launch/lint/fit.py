"""Whether the numbers fit each other: cards, memory, sessions, media limits, and what one version's talker needs."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator, Mapping
from typing import Any

from launch.deploy_file import STAGES
from launch.findings import Finding
from launch.layouts import UNLIMITED
from launch.lint.case import Case, dynamic

# Video-MME sends up to 96 frames a question (guide §7.8.2).
VIDEO_MME_FRAMES = 96
# vLLM's own share of a card for a stage that names none.
DEFAULT_SHARE = 0.9
# More sequences than this on one shared card let the vocoder run out of memory (the packaged one-card file says so,
# for 0.26 and 0.30).
ONE_CARD_SEQUENCES = 4


def check(case: Case) -> Iterator[Finding]:
    """Rules over what the file resolves to on this platform."""
    yield from _cards(case)
    yield from _memory(case)
    yield from _mode(case)
    yield from _media(case)
    yield from _npu(case)
    yield from _talker(case)


def _words(devices: Any) -> list[str]:
    return [word.strip() for word in str(devices).split(",") if word.strip()]


def _numbered(stage: Mapping[str, Any]) -> list[str]:
    devices = stage.get("devices")
    return [] if devices in (None, "cpu") or dynamic(devices) or isinstance(devices, list) else _words(devices)


def _cards(case: Case) -> Iterator[Finding]:
    for number, stage in case.stages.items():
        devices = stage.get("devices")
        if isinstance(devices, (list, bool)):
            yield case.finding(
                "config-bad-value",
                "stages",
                number,
                "devices",
                key=f"stages[{number}].devices",
                value=devices,
                wanted='"0" / "0,1"',
            )
            continue
        words = _numbered(stage)
        for word in dict.fromkeys(words):
            problem = "number" if not word.isdigit() else "twice" if words.count(word) > 1 else None
            if problem is None and case.cards is not None and int(word) >= len(case.cards):
                problem = "beyond"
            if problem:
                visible = len(case.cards) if case.cards is not None else "—"
                yield case.finding(
                    f"card-{problem}",
                    "stages",
                    number,
                    "devices",
                    stage=number,
                    card=word,
                    devices=devices,
                    visible=visible,
                )
        wanted = _int(stage.get("tensor_parallel_size"), 1) * _int(stage.get("num_replicas"), 1)
        if words and len(set(words)) != wanted and (len(words) > 1 or wanted > 1):
            severity = "fatal" if len(set(words)) < wanted else "degraded"
            yield case.finding(
                "cards-not-ranks",
                "stages",
                number,
                "devices",
                stage=number,
                devices=devices,
                cards=len(set(words)),
                ranks=wanted,
                severity=severity,
            )


def _memory(case: Case) -> Iterator[Finding]:
    """Stages on one card start one after another, and each wants its share of the whole card free."""
    shares: dict[str, dict[int, float]] = defaultdict(dict)
    for number, stage in case.stages.items():
        share = stage.get("gpu_memory_utilization", DEFAULT_SHARE)
        if stage.get("kv_cache_memory_bytes") is None and isinstance(share, (int, float)):
            for word in _numbered(stage):
                shares[word][number] = share
    for card, parts in shares.items():
        if len(parts) > 1 and sum(parts.values()) > 1:
            told = " + ".join(f"{share:g}" for share in parts.values())
            yield case.finding(
                "card-overbooked",
                "stages",
                max(parts),
                "gpu_memory_utilization",
                card=card,
                shares=told,
                total=f"{sum(parts.values()):.2f}",
            )


def _mode(case: Case) -> Iterator[Finding]:
    mode = case.resolved.get("session_mode", "turn")
    if mode not in ("turn", "duplex") and not dynamic(mode):
        yield case.finding("config-bad-value", "session_mode", key="session_mode", value=mode, wanted="turn / duplex")
    if case.duplex:
        block = case.resolved.get("duplex_session")
        sessions = (block if isinstance(block, dict) else {}).get(
            "max_sessions", case.keys.duplex.get("max_sessions", 1)
        )
        unequal = {
            n: stage.get("max_num_seqs") for n, stage in case.stages.items() if stage.get("max_num_seqs") != sessions
        }
        if unequal and isinstance(sessions, int):
            key = (
                ("duplex_session", "max_sessions")
                if isinstance(block, dict) and "max_sessions" in block
                else ("session_mode",)
            )
            told = ", ".join(
                f"stages[{number}]: {value if value is not None else '—'}" for number, value in unequal.items()
            )
            yield case.finding("sessions-unequal", *key, sessions=sessions, stages=told)
    cards = {word for stage in case.stages.values() for word in _numbered(stage)}
    for number, stage in case.stages.items():
        sequences = _int(stage.get("max_num_seqs"), 0)
        if len(case.stages) == len(STAGES) and len(cards) == 1 and sequences > ONE_CARD_SEQUENCES:
            yield case.finding(
                "one-card-sequences",
                "stages",
                number,
                "max_num_seqs",
                stage=number,
                sequences=sequences,
                most=ONE_CARD_SEQUENCES,
            )


def _media(case: Case) -> Iterator[Finding]:
    limits = case.stages.get(0, {}).get("limit_mm_per_prompt")
    image = (limits if isinstance(limits, dict) else {}).get("image", UNLIMITED)
    image = image.get("count", UNLIMITED) if isinstance(image, dict) else image
    if isinstance(image, int) and image < VIDEO_MME_FRAMES:
        yield case.finding(
            "images-too-few", "stages", 0, "limit_mm_per_prompt", "image", images=image, needed=VIDEO_MME_FRAMES
        )


def _npu(case: Case) -> Iterator[Finding]:
    """Thinker and talker need piecewise graphs on an NPU, unless they run eagerly. 0.26's files for three and eight
    cards forget it.
    """
    if case.platform == "cuda" or len(case.stages) != len(STAGES):
        return
    bare = [
        n for n in (0, 1) if not case.stages[n].get("enforce_eager") and not case.stages[n].get("compilation_config")
    ]
    if bare:
        yield case.finding("npu-section-missing", "platforms", stages=", ".join(map(str, bare)))


def _talker(case: Case) -> Iterator[Finding]:
    """From 0.30 on the talker is a codec model: a stop id of 1 carried over from 0.26 ends every answer before its
    first sound.
    """
    sampling = case.stages.get(1, {}).get("default_sampling_params")
    stops = sampling.get("stop_token_ids") if isinstance(sampling, dict) else None
    if case.line.since >= (0, 30) and isinstance(stops, list) and 1 in stops:
        yield case.finding("talker-stop-id", "stages", 1, "default_sampling_params", "stop_token_ids")


def _int(value: Any, default: int) -> int:
    return value if isinstance(value, int) and not isinstance(value, bool) else default
