"""What an overlay loses or cannot change: blocks replaced whole, values that a platform's section overrules."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from launch.deploy_file import DEEP_STAGE_KEYS, flat, resolve, rows
from launch.findings import Finding
from launch.lint.case import Case


def check(case: Case) -> Iterator[Finding]:
    """Only for an overlay: a file without a base loses nothing."""
    file = case.file
    if file.base is None:
        return
    own, base = file.document.data, resolve(file.base, case.line)
    if not case.line.connectors_merge:
        yield from _connectors(case, own.get("connectors"), base.get("connectors"))
    yield from _duplex(case, own.get("duplex_session"), base.get("duplex_session"))
    for entry in rows(own.get("stages")):
        number = entry.get("stage_id")
        below = next((row for row in rows(base.get("stages")) if row.get("stage_id") == number), {})
        yield from _stage(case, number, entry, below)
        yield from _overruled(case, number, entry, own, base)


def _connectors(case: Case, own: Any, base: Any) -> Iterator[Finding]:
    if not isinstance(own, dict) or not isinstance(base, dict):
        return
    for name, block in base.items():
        if name not in own:
            yield case.finding("block-replaced", "connectors", block="connectors", lost=name, severity="fatal")
            continue
        above = own[name] if isinstance(own[name], dict) else {}
        if "name" in block and "name" not in above:
            yield case.finding(
                "block-replaced", "connectors", name, block=f"connectors.{name}", lost="name", severity="fatal"
            )
        lost = _lost(
            above.get("extra"), {k: v for k, v in (block.get("extra") or {}).items() if k not in case.line.dead}
        )
        if lost:
            yield case.finding("block-replaced", "connectors", name, block=f"connectors.{name}.extra", lost=lost)


def _duplex(case: Case, own: Any, base: Any) -> Iterator[Finding]:
    """A key that falls back to the very value it had is no loss."""
    base = base if isinstance(base, dict) else {}
    lost = _lost(own, {key: value for key, value in base.items() if value != case.keys.duplex.get(key)})
    if isinstance(own, dict) and lost:
        yield case.finding("block-replaced", "duplex_session", block="duplex_session", lost=lost)


def _stage(case: Case, number: Any, entry: Mapping[str, Any], below: Mapping[str, Any]) -> Iterator[Finding]:
    for key, value in entry.items():
        if isinstance(value, dict) and isinstance(below.get(key), dict) and key not in DEEP_STAGE_KEYS:
            lost = _lost(value, below[key])
            if lost:
                yield case.finding("block-replaced", "stages", number, key, block=f"stages[{number}].{key}", lost=lost)


def _overruled(
    case: Case, number: Any, entry: Mapping[str, Any], own: Mapping[str, Any], base: Mapping[str, Any]
) -> Iterator[Finding]:
    """The base's platform section wins over the overlay's ``stages``, unless the overlay's own platform section
    speaks too.
    """
    for platform, section in (base.get("platforms") or {}).items():
        if case.platform not in (None, platform) or not isinstance(section, dict):
            continue
        below = next((flat(row) for row in rows(section.get("stages")) if row.get("stage_id") == number), {})
        answer = (own.get("platforms") or {}).get(platform) or {}
        above = next((flat(row) for row in rows(answer.get("stages")) if row.get("stage_id") == number), {})
        for key, value in entry.items():
            if (
                key in below
                and key not in above
                and key not in DEEP_STAGE_KEYS
                and key != "stage_id"
                and below[key] != value
            ):
                yield case.finding(
                    "platform-overrules",
                    "stages",
                    number,
                    key,
                    key=f"stages[{number}].{key}",
                    value=value,
                    platform=platform,
                    wins=below[key],
                )


def _lost(own: Any, base: Mapping[str, Any]) -> str:
    """``key: value`` of what the base has and the overlay's block has not."""
    kept = own if isinstance(own, dict) else {}
    return ", ".join(f"{key}: {value}" for key, value in base.items() if key not in kept)
