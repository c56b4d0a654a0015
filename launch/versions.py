"""The vLLM-Omni lines this launcher knows (``deploy/versions.yaml``), and which of them is installed."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any

from launch.errors import InputError
from launch.fast_yaml import parse
from launch.loader_keys import DEPLOY
from launch.server_python import ServerProgram


@dataclass(frozen=True)
class Line:
    """One line of releases whose deploy files follow the same rules. ``dead``: connector keys nobody reads, with the
    value they ship with; ``extra``: connector keys that are read. ``connectors_merge``: whether an overlay's
    connector block is merged into its base's. ``belong``: versions seen working together, by package (torch, cann, python).
    ``ascend``: commits of vllm-ascend by the minor version of vLLM-Omni that they go with.
    """

    name: str
    since: tuple[int, ...]
    mark: str
    connectors_merge: bool
    dead: Mapping[str, Any]
    extra: frozenset[str]
    belong: Mapping[str, Any]
    images: Mapping[str, str]
    ascend: Mapping[str, tuple[str, ...]]

    @property
    def folder(self) -> Path:
        """Our overlays for this line, and its own files' settings."""
        return DEPLOY / self.name


@dataclass(frozen=True)
class Installed:
    """What a layout is built on. ``version``: as installed, None without a package. ``deploy``: the package's own
    folder of deploy files, or None; then ``line.folder`` stands in. ``program``: the server's program, or None when
    there is none here.
    """

    line: Line
    version: str | None
    deploy: Path | None
    program: ServerProgram | None


@cache
def lines() -> tuple[Line, ...]:
    """Oldest first."""
    return tuple(
        Line(
            name=row["line"],
            since=numbers(row["since"]),
            mark=row["mark"],
            connectors_merge=row["connectors"] == "merged",
            dead=row["dead"],
            extra=frozenset(row["extra"]),
            belong=row["belong"],
            images=row["images"],
            ascend={minor: tuple(commits) for minor, commits in row["ascend"].items()},
        )
        for row in parse((DEPLOY / "versions.yaml").read_text(encoding="utf-8"))
    )


def line_named(name: str) -> Line:
    """The line of a version a user typed ("0.26", "0.30.1"). Raises ``InputError`` for one older than all."""
    known = [line for line in lines() if line.since <= numbers(name)]
    if not known or not numbers(name):
        raise InputError("omni-version-unknown", given=name, known=", ".join(line.name for line in lines()))
    return known[-1]


def installed(program: ServerProgram | None, wanted: str | None = None) -> Installed:
    """What stands in the server's Python. ``wanted``: a version to assume instead, as if nothing were installed."""
    if wanted:
        return Installed(line_named(wanted), None, None, program)
    omni = program.package("vllm-omni") if program else None
    folder = (
        omni.folder / "deploy"
        if omni and omni.folder and (omni.folder / "deploy" / "minicpmo_4_5.yaml").is_file()
        else None
    )
    version = omni.version if omni else None
    if folder is not None:
        marked = [line for line in lines() if (folder / line.mark).is_file()]
        return Installed(marked[-1] if marked else lines()[0], version, folder, program)
    return Installed(line_named(version) if version and numbers(version) else lines()[0], version, None, program)


def numbers(version: str) -> tuple[int, ...]:
    """("0.26.0rc1" -> (0, 26, 0)). Empty when it does not begin with a number."""
    found: list[int] = []
    for part in version.split("+")[0].split("."):
        digits = part[: len(part) - len(part.lstrip("0123456789"))]
        if not digits:
            break
        found.append(int(digits))
    return tuple(found)
