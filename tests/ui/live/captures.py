"""Traffic of the real servers of both versions, media replaced by four samples, appends left out."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

FOLDER = Path(__file__).parents[2] / "data" / "live"
ALL = sorted(FOLDER.glob("*/*.jsonl"))


def name(path: Path) -> str:
    return f"{path.parent.name} {path.stem}"


def rows(path: Path) -> list[dict[str, Any]]:
    """``dir``: ``<`` the server's, ``>`` the client's, ``x`` the end; ``event``."""
    return [json.loads(line) for line in path.read_text(encoding="utf-8").splitlines()]


def served(path: Path) -> list[dict[str, Any]]:
    return [row["event"] for row in rows(path) if row["dir"] == "<"]
