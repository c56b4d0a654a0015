"""Writing the deploy file of a start: a thin overlay over the layout's file, each knob where the server reads it,
replaced blocks whole.
"""

from __future__ import annotations

import copy
import hashlib
import os
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import yaml

from launch.deploy_file import DEEP_STAGE_KEYS, STAGES, DeployFile, connector, open_file, resolve, rows
from launch.knobs import Knob, Setting
from launch.layouts import layout_file, search_path
from launch.versions import Installed


@dataclass(frozen=True)
class Change:
    """One value that the overlay sets. ``path``: where, as in the file; ``before``: what the base had there (None:
    nothing).
    """

    path: str
    before: Any
    after: Any


@dataclass(frozen=True)
class Overlay:
    """``text``: the YAML. ``base``: the file it is based on. ``changes``: what the settings changed, in the order
    given.
    """

    layout: str
    text: str
    base: Path
    changes: tuple[Change, ...]

    @property
    def name(self) -> str:
        """A file name that tells two contents apart, so that a record of a run names exactly what ran."""
        return f"{Path(self.layout).stem}-{hashlib.sha256(self.text.encode()).hexdigest()[:10]}.yaml"


def build(layout: str, here: Installed, settings: Sequence[Setting] = (), images: int | None = None) -> Overlay:
    """The overlay for ``layout`` (a name or a file) with ``settings`` and ``images`` (the thinker's image limit)
    applied.

    Raises ``InputError`` for an unknown layout or a broken file.
    """
    ours = open_file(layout_file(layout, here), search_path(here))
    named = ours.path.parent == here.line.folder and ours.base is not None
    base = ours.base if named and ours.base else ours
    own = (
        {key: copy.deepcopy(value) for key, value in ours.document.data.items() if key != "base_config"}
        if named
        else {}
    )
    writer = _Writer(own, ours, here)
    if images is not None:
        writer.put(("stages", 0, "limit_mm_per_prompt", "image"), images)
    for each in settings:
        writer.apply(each)
    header = f"# Written by `python -m launch` for the layout {layout} on vLLM-Omni {here.version or here.line.name}.\n"
    body = yaml.safe_dump({"base_config": str(base.path), **writer.own}, sort_keys=False, allow_unicode=True, width=150)
    return Overlay(layout, header + body, base.path, tuple(writer.changes))


def write(overlay: Overlay, folder: Path) -> Path:
    """Put the overlay into ``folder`` (made with mode 0700) under its content's name; whole or not at all. Raises
    ``OSError``.
    """
    folder.mkdir(parents=True, exist_ok=True, mode=0o700)
    path = folder / overlay.name
    draft = path.with_suffix(f".{os.getpid()}")
    draft.write_text(overlay.text, encoding="utf-8")
    draft.replace(path)
    return path


class _Writer:
    """Puts values into ``own`` (the overlay) so that they survive the merge over ``below`` (what the layout resolves
    to without them).
    """

    def __init__(self, own: dict[str, Any], file: DeployFile, here: Installed) -> None:
        self.own = own
        self.below = resolve(file, here.line)
        self.changes: list[Change] = []

    def apply(self, setting: Setting) -> None:
        """One ``--set``, at every place it must stand."""
        for path in [setting.path] if setting.knob is None else self._places(setting.knob, setting.stage):
            self.put(path, setting.value)

    def _places(self, knob: Knob, stage: int | None) -> list[tuple[Any, ...]]:
        if knob.place == "connector":
            return [("connectors", connector(self.below)[0], "extra", knob.name)]
        if knob.place == "sessions":
            wanted = list(STAGES) if stage is None else [stage]
            duplex = stage is None and {**self.below, **self.own}.get("session_mode") == "duplex"
            return [
                *([("duplex_session", "max_sessions")] if duplex else []),
                *(("stages", number, "max_num_seqs") for number in wanted),
            ]
        inside = {"sampling": ("default_sampling_params",), "limit": ("limit_mm_per_prompt",)}.get(knob.place, ())
        if knob.place in ("stage", "sampling", "limit"):
            return [("stages", stage, *inside, knob.name)]
        return [("duplex_session", knob.name) if knob.place == "duplex" else (knob.name,)]

    def put(self, path: tuple[Any, ...], value: Any) -> None:
        """Set ``path``; a second number in it is a stage id. A block that the merge replaces whole is copied from
        below first.
        """
        before = self._set(self.own, self.below, path, value)
        if path[0] == "stages" and len(path) > 2:
            self._also_on_platforms(path, value)
        self.changes.append(Change(".".join(map(str, path)), before, value))

    def _set(self, own: dict[str, Any], below: Mapping[str, Any], path: tuple[Any, ...], value: Any) -> Any:
        """Walk both sides down to the last key of ``path``, set it, and return what stood there before."""
        head, *rest = path
        if head == "platforms" and len(rest) > 1:
            section = own.setdefault("platforms", {}).setdefault(rest[0], {})
            return self._set(section, (below.get("platforms") or {}).get(rest[0]) or {}, tuple(rest[1:]), value)
        if head == "stages" and rest:
            return self._in_stage(own, below, rest[0], tuple(rest[1:]), value)
        return self._in_block(own, below, path, value, whole=True)

    def _in_stage(
        self, own: dict[str, Any], below: Mapping[str, Any], stage: Any, path: tuple[Any, ...], value: Any
    ) -> Any:
        entries = own.setdefault("stages", [])
        entry = next((entry for entry in entries if entry.get("stage_id") == stage), None)
        if entry is None:
            entry = {"stage_id": stage}
            entries.append(entry)
        base = next((entry for entry in rows(below.get("stages")) if entry.get("stage_id") == stage), {})
        return self._in_block(entry, base, path, value, whole=path[0] not in DEEP_STAGE_KEYS)

    def _in_block(
        self, own: dict[str, Any], below: Mapping[str, Any], path: tuple[Any, ...], value: Any, whole: bool
    ) -> Any:
        """``whole``: copy the block below first, since the server's merge would drop its other keys."""
        head, *rest = path
        before = own.get(head, below.get(head))
        if not rest:
            own[head] = value
            return before
        if not isinstance(own.get(head), dict):
            own[head] = copy.deepcopy(before) if whole and isinstance(before, dict) else {}
        return self._in_block(own[head], before if isinstance(before, dict) else {}, tuple(rest), value, whole=False)

    def _also_on_platforms(self, path: tuple[Any, ...], value: Any) -> None:
        """A platform's section wins over ``stages``: where it sets the same key of the same stage, it must say the
        new value too.
        """
        _, stage, key, *rest = path
        for name in self.below.get("platforms") or {}:
            section = self.below["platforms"][name] or {}
            entry = next((entry for entry in rows(section.get("stages")) if entry.get("stage_id") == stage), {})
            held = entry.get(key)
            if key in entry and (not rest or (isinstance(held, dict) and rest[0] in held)):
                self._set(self.own, self.below, ("platforms", name, "stages", stage, key, *rest), value)
