"""A folder under ``runs/`` for what is kept of one thing."""

from __future__ import annotations

import time
from pathlib import Path


def new_folder(runs_dir: Path, what: str, started_at: float) -> Path:
    """Makes ``<runs_dir>/<local time>-<what>``, a folder of its own also for things that start within the same second.
    ``started_at``: seconds since 1970. Raises ``OSError``."""
    name = f"{time.strftime('%Y%m%d-%H%M%S', time.localtime(started_at))}-{what}"
    runs_dir.mkdir(parents=True, exist_ok=True)
    for number in range(1, 1000):
        folder = runs_dir / (name if number == 1 else f"{name}-{number}")
        try:
            folder.mkdir()
        except FileExistsError:
            continue
        return folder
    raise OSError(f"{runs_dir / name}: a thousand of them in one second")
