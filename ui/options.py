"""What the app was started with."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Literal


@dataclass(frozen=True)
class Options:
    """``server`` None: rehearse on this machine. Times in seconds. ``max_sessions``: conversations at once, None: as the
    server admits. ``public_realtime_url``: wss:// address of this app's port for sockets, without a slash at its end.
    ``control``: whether the page may start and stop servers; None: where nobody else reaches it."""

    server: str | None
    host: str
    port: int
    lang: Literal["auto", "zh", "en"]
    api_key: str | None
    connect_s: float
    first_event_s: float
    between_events_s: float
    runs: Path
    max_sessions: int | None = None
    public_realtime_url: str | None = None
    control: bool | None = None
    rehearsal_args: tuple[str, ...] = ()
