"""The lounge of the running app: real sessions, real recordings."""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping
from contextlib import AbstractAsyncContextManager
from pathlib import Path
from typing import Any

from ui.live.account import Facts
from ui.live.lounge import Lounge
from ui.live.recording import Recording
from ui.live.seams import Session
from ui.live.session import LiveSession
from ui.live.setup import Setup
from ui.turn.folder import new_folder


def real_lounge(url: str, api_key: str | None, runs: Path, limit: int | None, *, rehearsal: bool) -> Lounge:
    """Conversations with the server at ``url``; recordings go to ``<runs>/<time>-live``. ``limit``: at once."""

    def session(setup: Setup, log: Callable[[Mapping[str, Any]], None] | None) -> AbstractAsyncContextManager[Session]:
        return LiveSession(url, setup, api_key=api_key, log=log)

    def record(setup: Setup) -> Recording:
        now = time.time()
        return Recording(new_folder(runs, "live", now), Facts(setup.model, url, rehearsal, now))

    return Lounge(session, limit=limit, record=record)
