"""Keys that the loader drops without a word, and knobs that stand where nobody reads them."""

from __future__ import annotations

import difflib
from collections.abc import Iterable, Iterator, Mapping
from typing import Any

from launch.deploy_file import STAGES
from launch.findings import Finding
from launch.knobs import BOOL, INT, KNOBS, NUMBER, TEXT
from launch.lint.case import Case, dynamic, stage_places
from launch.yaml_lines import Document

PLATFORMS = ("cuda", "npu", "rocm", "xpu", "musa")
# Only this connector's keys are known; others (Mooncake, ...) have many of their own.
SHARED_MEMORY = "SharedMemoryConnector"
_KINDS = {BOOL: (bool,), INT: (int,), NUMBER: (int, float), TEXT: (str, int)}


def check(case: Case) -> Iterator[Finding]:
    """Every key of every file that the user wrote."""
    for link in case.written():
        here = _Keys(case, link.document)
        yield from here.twice()
        yield from here.level((), link.document.data, case.keys.top)
        yield from here.duplex(link.document.data.get("duplex_session"))
        yield from here.connectors(link.document.data.get("connectors"))
        yield from here.platforms(link.document.data.get("platforms"))
        for path, entry in stage_places(link.document.data):
            yield from here.stage(path, entry)


class _Keys:
    def __init__(self, case: Case, document: Document) -> None:
        self.case, self.document = case, document

    def at(self, id: str, path: tuple[Any, ...], severity: str | None = None, **facts: object) -> Finding:
        return Finding(id, facts, str(self.document.path), self.document.line(*path), severity)

    def twice(self) -> Iterator[Finding]:
        for path in self.document.twice:
            yield self.at("config-key-twice", path, key=path[-1])

    def level(self, path: tuple[Any, ...], block: Mapping[str, Any], known: Iterable[str]) -> Iterator[Finding]:
        """The keys of one block: read, or named with the place where they would be."""
        for key, value in block.items():
            if key in self.case.line.dead and key not in known:
                yield self.dead((*path, key), key, value)
            elif key not in known:
                there = self.right_place(str(key))
                if there:
                    yield self.misplaced((*path, key), key, there)
                else:
                    near = difflib.get_close_matches(str(key), [*known, *KNOBS], n=1)
                    place = _shown(path) if path else self.document.path.name
                    yield self.at(
                        "config-key-dropped", (*path, key), key=key, place=place, near=near[0] if near else "—"
                    )
            else:
                yield from self.value((*path, key), key, value)

    def value(self, path: tuple[Any, ...], key: str, value: Any) -> Iterator[Finding]:
        """A known knob's value of the wrong kind, or too small to work."""
        knob = KNOBS.get(key)
        if knob is None or value is None or dynamic(value) or knob.kind not in _KINDS:
            return
        if not isinstance(value, _KINDS[knob.kind]) or (isinstance(value, bool) and knob.kind != BOOL):
            yield self.at("config-bad-value", path, key=_shown(path), value=value, wanted=knob.kind)
        elif knob.least is not None and isinstance(value, (int, float)) and value < knob.least:
            yield self.at("config-bad-value", path, key=_shown(path), value=value, wanted=f"≥ {knob.least:g}")

    def dead(self, path: tuple[Any, ...], key: str, value: Any) -> Finding:
        """With the shipped value nobody expects anything of it; with another, somebody tuned it in vain."""
        severity = "harmless" if value == self.case.line.dead[key] else None
        return self.at("knob-dead", path, severity, knob=key, value=value)

    def misplaced(self, path: tuple[Any, ...], key: str, there: str) -> Finding:
        id = "knob-ignored" if there.startswith("connectors") else "knob-misplaced"
        return self.at(id, path, knob=key, here=_shown(path), there=there)

    def right_place(self, key: str) -> str | None:
        """Where a key that stands wrong would be read; None for a key that nobody knows."""
        keys, knob = self.case.keys, KNOBS.get(key)
        if knob is not None and (knob.place != "connector" or key in self.case.line.extra):
            return knob.where()
        if key in keys.duplex:
            return f"duplex_session.{key}"
        if key in keys.top:
            return key
        return f"stages[N].{key}" if key in keys.stage else None

    def duplex(self, block: Any) -> Iterator[Finding]:
        for key, value in (block or {}).items() if isinstance(block, dict) else ():
            path = ("duplex_session", key)
            if key not in self.case.keys.duplex:
                near = difflib.get_close_matches(str(key), list(self.case.keys.duplex), n=1)
                yield self.at("duplex-key-unknown", path, key=_shown(path), near=near[0] if near else "—")
            elif key != "idle_ttl_s" or value is not None:  # null: sessions never idle out
                yield from self.value(path, key, value)

    def connectors(self, blocks: Any) -> Iterator[Finding]:
        for name, block in (blocks or {}).items() if isinstance(blocks, dict) else ():
            path = ("connectors", name)
            if not isinstance(block, dict):
                yield self.at("config-bad-value", path, key=_shown(path), value=block, wanted="name: …, extra: {…}")
                continue
            yield from self.level(path, block, ("name", "extra"))
            if block.get("name", SHARED_MEMORY) == SHARED_MEMORY and isinstance(block.get("extra"), dict):
                yield from self.level((*path, "extra"), block["extra"], self.case.line.extra)

    def platforms(self, sections: Any) -> Iterator[Finding]:
        for name, section in (sections or {}).items() if isinstance(sections, dict) else ():
            if name not in PLATFORMS:
                near = difflib.get_close_matches(str(name), PLATFORMS, n=1)
                yield self.at(
                    "config-key-dropped",
                    ("platforms", name),
                    key=name,
                    place="platforms",
                    near=near[0] if near else "—",
                )
            for key in section or {} if isinstance(section, dict) else ():
                if key not in self.case.keys.platform:
                    yield self.at("platform-block-ignored", ("platforms", name, key), platform=name, key=key)

    def stage(self, path: tuple[Any, ...], entry: Mapping[str, Any]) -> Iterator[Finding]:
        number = entry.get("stage_id")
        if number not in STAGES:
            yield self.at(
                "stage-unknown",
                (*path, "stage_id") if "stage_id" in entry else path,
                stage=number,
                severity=None if number is not None else "fatal",
            )
        yield from self.level(path, entry, self.case.keys.stage)
        for nested in ("engine_args", "engine_extras"):
            if isinstance(entry.get(nested), dict):
                yield from self.level((*path, nested), entry[nested], self.case.keys.stage)
        yield from self.sampling((*path, "default_sampling_params"), entry.get("default_sampling_params"))
        if path[0] == "platforms" and isinstance(entry.get("engine_args"), dict):
            for key in set(entry) - {"stage_id", "engine_args", "runtime"}:
                yield self.at("config-key-dropped", (*path, key), key=key, place=_shown(path), near="engine_args")

    def sampling(self, path: tuple[Any, ...], block: Any) -> Iterator[Finding]:
        """vLLM's own sampling keys are many and not listed here; only knobs of other places are told."""
        for key, value in block.items() if isinstance(block, dict) else ():
            knob = KNOBS.get(key)
            if key in self.case.line.dead:
                yield self.dead((*path, key), key, value)
            elif knob is not None and knob.place != "sampling":
                yield self.misplaced((*path, key), key, self.right_place(key) or "—")
            else:
                yield from self.value((*path, key), key, value)


def _shown(path: tuple[Any, ...], *more: Any) -> str:
    """A path as one reads it in YAML: ``stages[0].devices``."""
    words = ""
    for part in (*path, *more):
        words += f"[{part}]" if isinstance(part, int) else f".{part}" if words else str(part)
    return words
