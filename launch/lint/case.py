"""What the rules look at: one deploy file, what it resolves to, and where each key stands."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Any

from launch.deploy_file import DeployFile, resolve, rows, stages
from launch.findings import Finding
from launch.loader_keys import LoaderKeys
from launch.versions import Line


@dataclass(frozen=True)
class Case:
    """``cards``: the visible cards when they are known (their number is what counts). ``platform``: "npu", "cuda", or
    None for unknown. ``shipped``: folders whose files are vLLM-Omni's own and are not judged key by key.
    """

    file: DeployFile
    line: Line
    keys: LoaderKeys
    platform: str | None
    cards: Sequence[str] | None
    shipped: tuple[Path, ...]

    @cached_property
    def resolved(self) -> Mapping[str, Any]:
        """The whole file over its bases."""
        return resolve(self.file, self.line)

    @cached_property
    def stages(self) -> Mapping[int, Mapping[str, Any]]:
        """Each stage as it will run on this platform."""
        return stages(self.resolved, self.platform or "npu")

    @property
    def duplex(self) -> bool:
        return self.resolved.get("session_mode") == "duplex"

    def written(self) -> list[DeployFile]:
        """The files a user wrote: the one given, and its bases as far as they are not vLLM-Omni's own."""
        return [link for link in self.file.chain() if link is self.file or link.path.parent not in self.shipped]

    def finding(self, id: str, *key: Any, severity: str | None = None, **facts: object) -> Finding:
        """A finding at ``key`` (a number after "stages" is a stage id), in whichever file of the chain sets it."""
        for link in self.file.chain():
            place = index_path(link.document.data, key)
            if place is not None and place in link.document.lines:
                return Finding(id, facts, str(link.path), link.document.lines[place], severity)
        return Finding(id, facts, str(self.file.path), None, severity)


def index_path(data: Mapping[str, Any], key: tuple[Any, ...]) -> tuple[Any, ...] | None:
    """``key`` with stage ids turned into the list indices of one file, or None when that file has no such stage."""
    path: list[Any] = []
    node: Any = data
    for part in key:
        if path and path[-1] == "stages" and isinstance(node, list):
            index = next(
                (i for i, entry in enumerate(node) if isinstance(entry, dict) and entry.get("stage_id") == part), None
            )
            if index is None:
                return None
            part = index
        path.append(part)
        node = node[part] if isinstance(node, list) else node.get(part) if isinstance(node, Mapping) else None
    return tuple(path)


def dynamic(value: Any) -> bool:
    """Whether a value is only known when the server reads it (``${oc.env:…}``)."""
    return isinstance(value, str) and "${" in value


def stage_places(data: Mapping[str, Any]) -> list[tuple[tuple[Any, ...], dict[str, Any]]]:
    """Every stage entry of one file, the platforms' too, with its path of keys and list indices."""
    found = [(("stages", index), entry) for index, entry in enumerate(rows(data.get("stages")))]
    for name, section in (data.get("platforms") or {}).items():
        if isinstance(section, dict):
            found += [
                (("platforms", name, "stages", index), entry) for index, entry in enumerate(rows(section.get("stages")))
            ]
    return found
