"""What was started: one JSON file for each port in ``<state>/servers``, written whole or not at all."""

from __future__ import annotations

import fcntl
import json
import os
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

from launch import whole_file
from launch.errors import LaunchError
from launch.processes import Identity


@dataclass(frozen=True)
class Record:
    """One start. ``id``: name of its log and value of its mark. ``request``: what ``up`` was asked, secrets left out.
    ``command``: secrets masked. ``process``: None when recording was cut off between the start and its writing.
    ``started_at``: seconds since 1970. ``ready_after_s``: None until it was seen ready. ``stopped``: by ``down``.
    """

    id: str
    port: int
    url: str
    layout: str
    model: str
    version: str | None
    stages: Mapping[str, str]
    request: Mapping[str, Any]
    command: tuple[str, ...]
    log: str
    started_at: float
    process: Identity | None = None
    ready_after_s: float | None = None
    stopped: bool = False


class Records:
    """The records of one state folder."""

    def __init__(self, state: Path) -> None:
        self.folder = state / "servers"

    def all(self) -> tuple[list[Record], list[Path]]:
        """Every record by port, and the files that hold none (a power cut, a full disk, a strange hand)."""
        good: list[Record] = []
        damaged: list[Path] = []
        for path in sorted(self.folder.glob("*.json")) if self.folder.is_dir() else ():
            record = _read(path)
            if record is None:
                damaged.append(path)
            else:
                good.append(record)
        return sorted(good, key=lambda record: record.port), damaged

    def get(self, port: int) -> Record | None:
        path = self._path(port)
        return _read(path) if path.is_file() else None

    def save(self, record: Record) -> None:
        """Raises ``LaunchError`` (state-not-written) when the disk does not take it; the old record then stands."""
        whole_file.write(self._path(record.port), json.dumps(asdict(record), ensure_ascii=False, indent=1))

    @contextmanager
    def lock(self, port: int) -> Iterator[None]:
        """Only one ``launch`` at a time starts or stops the server of a port. The kernel drops the lock with its holder,
        so a file left behind locks nothing. Raises ``LaunchError`` (launch-busy, state-not-written).
        """
        try:
            whole_file.private(self.folder)
            handle = os.open(self.folder / f"{port}.lock", os.O_RDWR | os.O_CREAT, 0o600)
        except OSError as refused:
            raise LaunchError("state-not-written", folder=self.folder, reason=refused.strerror or "") from refused
        try:
            fcntl.flock(handle, fcntl.LOCK_EX | fcntl.LOCK_NB)
            yield
        except BlockingIOError as held:
            raise LaunchError("launch-busy", port=port) from held
        finally:
            os.close(handle)

    def _path(self, port: int) -> Path:
        return self.folder / f"{port}.json"


def _read(path: Path) -> Record | None:
    """The record in ``path``; None for anything that is not one."""
    try:
        data = json.loads(path.read_text(encoding="utf-8"))
        process = data["process"]
        record = Record(
            **{
                **data,
                "command": tuple(data["command"]),
                "process": process and Identity(int(process["pid"]), int(process["started"]), str(process["boot"])),
            }
        )
        sound = path.stem == str(record.port) and isinstance(record.request, dict) and isinstance(record.log, str)
    except (OSError, ValueError, TypeError, KeyError):
        return None
    return record if sound and isinstance(record.started_at, (int, float)) else None
