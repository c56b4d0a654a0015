"""A deploy file as vLLM-Omni reads it: the overlay over its base, by the merge rules of its line (protocol §5.2), and
with a platform's section.
"""

from __future__ import annotations

import copy
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from launch.errors import InputError
from launch.versions import Line
from launch.yaml_lines import Document, read

# Merged key by key into the base's; every other stage key is replaced whole.
DEEP_STAGE_KEYS = frozenset(
    {"default_sampling_params", "default_pooling_params", "subtalker_sampling_params", "engine_extras", "engine_args"}
)
# The stages of MiniCPM-o's pipeline. Topology is frozen in the package's code; a deploy file only places them.
STAGES = {0: "thinker", 1: "talker", 2: "code2wav"}


@dataclass(frozen=True)
class DeployFile:
    """``document``: the file as written. ``base``: the file its ``base_config`` names, or None."""

    document: Document
    base: DeployFile | None

    @property
    def path(self) -> Path:
        return self.document.path

    def chain(self) -> list[DeployFile]:
        """This file, its base, its base's base."""
        return [self, *(self.base.chain() if self.base else [])]


def open_file(path: Path, search: Sequence[Path] = (), _seen: tuple[Path, ...] = ()) -> DeployFile:
    """Read ``path`` and what it is based on. A base is looked for in ``search`` first, then beside the file that
    names it.

    Raises ``InputError``: a file is missing, is no YAML, or bases that go round in a circle.
    """
    document = read(path)
    name = document.data.get("base_config")
    if name is None:
        return DeployFile(document, None)
    places = [folder / str(name) for folder in (*search, path.parent)]
    base = next((place for place in places if place.is_file()), places[-1])
    if base.resolve() in (*_seen, path.resolve()):
        raise InputError("config-not-yaml", file=path, problem=f"base_config: {name} → {path.name}")
    return DeployFile(document, open_file(base, search, (*_seen, path.resolve())))


def resolve(file: DeployFile, line: Line) -> dict[str, Any]:
    """The file's settings over its base's, as the loader of ``line`` merges them."""
    own = {key: copy.deepcopy(value) for key, value in file.document.data.items() if key != "base_config"}
    if file.base is None:
        return own
    base = resolve(file.base, line)
    merged = {**base, **{key: value for key, value in own.items() if key not in ("stages", "platforms")}}
    if line.connectors_merge and isinstance(own.get("connectors"), dict):
        merged["connectors"] = _deep(base.get("connectors") or {}, own["connectors"])
    merged["stages"] = _stages(base.get("stages"), own.get("stages"))
    platforms = {**(base.get("platforms") or {}), **(own.get("platforms") or {})}
    for name in platforms:
        below, above = ((side.get("platforms") or {}).get(name) or {} for side in (base, own))
        platforms[name] = {**below, **above, "stages": _stages(below.get("stages"), above.get("stages"))}
    if platforms:
        merged["platforms"] = platforms
    return merged


def stages(resolved: Mapping[str, Any], platform: str | None = None) -> dict[int, dict[str, Any]]:
    """Each stage's settings by its id, a platform's ("npu", "cuda") section applied. Stages the pipeline has not are
    left out, as it does.
    """
    found = {
        entry["stage_id"]: flat(entry) for entry in rows(resolved.get("stages")) if entry.get("stage_id") in STAGES
    }
    section = (resolved.get("platforms") or {}).get(platform) or {}
    for entry in rows(section.get("stages")):
        stage = found.get(entry.get("stage_id"))  # type: ignore[arg-type]
        if stage is not None:
            for key, value in flat(entry).items():
                both = key in DEEP_STAGE_KEYS and isinstance(value, dict) and isinstance(stage.get(key), dict)
                stage[key] = {**stage[key], **value} if both else value
    return found


def flat(entry: Mapping[str, Any]) -> dict[str, Any]:
    """A stage entry without its alternative nesting (``engine_args:``, ``runtime:``)."""
    inner = {**(entry.get("engine_args") or {}), **(entry.get("runtime") or {})}
    return {
        **{key: value for key, value in entry.items() if key not in ("engine_args", "runtime")},
        **copy.deepcopy(inner),
    }


def rows(value: Any) -> list[dict[str, Any]]:
    """A list of mappings, whatever a hand wrote there instead."""
    return [entry for entry in value if isinstance(entry, dict)] if isinstance(value, list) else []


def connector(resolved: Mapping[str, Any]) -> tuple[str, dict[str, Any]]:
    """The connector between talker and vocoder (its name, its block): the one the vocoder takes its input from, else
    the first there is.
    """
    blocks = {name: block for name, block in (resolved.get("connectors") or {}).items() if isinstance(block, dict)}
    wired = [*(stages(resolved).get(2, {}).get("input_connectors") or {}).values(), *blocks]
    name = next((name for name in wired if name in blocks), "connector_of_shared_memory")
    return name, blocks.get(name, {})


def _stages(base: Any, overlay: Any) -> list[dict[str, Any]]:
    by_id = {entry.get("stage_id"): entry for entry in rows(base)}
    for entry in rows(overlay):
        below = by_id.get(entry.get("stage_id"), {})
        deep = {
            key: _deep(below[key], value)
            for key, value in entry.items()
            if key in DEEP_STAGE_KEYS and isinstance(value, dict) and isinstance(below.get(key), dict)
        }
        by_id[entry.get("stage_id")] = {**below, **entry, **deep}
    return list(by_id.values())


def _deep(base: Mapping[str, Any], overlay: Mapping[str, Any]) -> dict[str, Any]:
    merged = dict(base)
    for key, value in overlay.items():
        below = merged.get(key)
        merged[key] = _deep(below, value) if isinstance(below, dict) and isinstance(value, dict) else value
    return merged
