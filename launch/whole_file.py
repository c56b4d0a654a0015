"""A small file, written whole or not at all, even through a power cut."""

from __future__ import annotations

import os
from pathlib import Path

from launch.errors import LaunchError


def private(folder: Path) -> None:
    """Make ``folder`` and what is missing above it, for their owner only: logs may hold what users said. Raises
    ``OSError``.
    """
    for place in reversed((folder, *folder.parents)):
        place.mkdir(mode=0o700, exist_ok=True)


def write(path: Path, text: str) -> None:
    """Replace ``path``, readable by its owner only; its folder is made. Raises ``LaunchError`` (state-not-written) when
    the disk does not take it; what stood there then stands.
    """
    draft = path.with_suffix(f".{os.getpid()}")
    try:
        private(path.parent)
        with os.fdopen(os.open(draft, os.O_WRONLY | os.O_CREAT | os.O_TRUNC, 0o600), "w", encoding="utf-8") as file:
            file.write(text)
            file.flush()
            os.fsync(file.fileno())  # else a power cut may leave the new name on an empty file
        draft.replace(path)
    except OSError as refused:
        draft.unlink(missing_ok=True)
        raise LaunchError("state-not-written", folder=path.parent, reason=refused.strerror or "") from refused
