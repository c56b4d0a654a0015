"""What the app was started with."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Literal


@dataclass(frozen=True)
class Options:
    """``server`` None: rehearse on this machine. Times in seconds."""

    server: str | None
    host: str
    port: int
    lang: Literal["auto", "zh", "en"]
    api_key: str | None
    connect_s: float
    first_event_s: float
    between_events_s: float
    runs: Path
    rehearsal_args: tuple[str, ...] = ()
