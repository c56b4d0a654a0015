"""A YAML file with the line of every key, so that a finding can say where."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import yaml

from launch.errors import InputError
from launch.fast_yaml import LOADER

Key = tuple[Any, ...]


@dataclass(frozen=True)
class Document:
    """``data``: the mapping. ``lines``: line (from 1) by path of keys and list indices. ``twice``: paths of keys that
    stand twice.
    """

    path: Path
    data: Mapping[str, Any]
    lines: Mapping[Key, int]
    twice: tuple[Key, ...] = ()

    def line(self, *key: Any) -> int | None:
        """The line of ``key``, or of the nearest thing around it that this file holds."""
        for length in range(len(key), 0, -1):
            if key[:length] in self.lines:
                return self.lines[key[:length]]
        return None


def read(path: Path) -> Document:
    """Raises ``InputError``: ``file-not-found``, or ``config-not-yaml`` when it is no YAML mapping."""
    try:
        text = path.read_text(encoding="utf-8-sig")
    except OSError as missing:
        raise InputError("file-not-found", file=path, reason=missing.strerror or type(missing).__name__) from missing
    except UnicodeDecodeError as wrong:
        raise InputError("config-not-yaml", file=path, problem=f"UTF-8: byte {wrong.start}") from wrong
    return parse_document(text, path)


def parse_document(text: str, path: Path) -> Document:
    """A document from its text; ``path`` is only its name. Raises ``InputError`` ``config-not-yaml``."""
    loader = LOADER(text)
    try:
        node = loader.get_single_node()
        lines: dict[Key, int] = {}
        twice: list[Key] = []
        for key, line in _walk(node, ()):
            if key in lines:
                twice.append(key)
            lines[key] = line
        data = loader.construct_document(node) if node is not None else {}
    except yaml.YAMLError as broken:
        raise InputError("config-not-yaml", file=path, problem=" ".join(str(broken).split())) from broken
    finally:
        loader.dispose()
    if not isinstance(data, dict):
        raise InputError("config-not-yaml", file=path, problem=f"{type(data).__name__} instead of `key: value`")
    return Document(path, data, lines, tuple(twice))


def _walk(node: yaml.Node | None, path: Key) -> Iterator[tuple[Key, int]]:
    if isinstance(node, yaml.MappingNode):
        for key, value in node.value:
            name = (*path, _scalar(key))
            yield name, key.start_mark.line + 1
            yield from _walk(value, name)
    elif isinstance(node, yaml.SequenceNode):
        for index, value in enumerate(node.value):
            yield (*path, index), value.start_mark.line + 1
            yield from _walk(value, (*path, index))


def _scalar(node: yaml.Node) -> Any:
    """A key as the loader will construct it, as far as a path needs: digits are numbers there."""
    value = str(node.value)
    return int(value) if node.tag == "tag:yaml.org,2002:int" and value.isdigit() else value
