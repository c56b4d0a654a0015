"""The web server: uvicorn, with an end that is quick and quiet."""

from __future__ import annotations

import logging
from types import FrameType

import uvicorn
from starlette.types import ASGIApp

_MESSAGE_MOST = 2 << 20  # bytes of a WebSocket message: the largest of ours is a camera picture of 1 MB
_GRACE_S = 0.5  # Ctrl-C promises an end within 2 s; pages hold streams open that never end by themselves


class Web(uvicorn.Server):
    """Serves ``app`` on the sockets given to ``run``."""

    def __init__(self, app: ASGIApp) -> None:
        # uvicorn's annotation says int; it only hands the value to asyncio.
        grace: int = _GRACE_S  # type: ignore[assignment]
        config = uvicorn.Config(
            app,
            log_level="warning",
            timeout_graceful_shutdown=grace,
            server_header=False,
            # Sound does not shrink: packing it took more time than all else the relay does. And nothing can unpack to gigabytes.
            ws_per_message_deflate=False,
            ws_max_size=_MESSAGE_MOST,
        )
        super().__init__(config)

    def handle_exit(self, sig: int, frame: FrameType | None) -> None:
        """A signal to end. From here on open streams are cut, on purpose; uvicorn would print a traceback for each."""
        logging.getLogger("uvicorn.error").setLevel(logging.CRITICAL)
        super().handle_exit(sig, frame)
