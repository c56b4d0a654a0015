"""One live conversation with a server of either version, as an asynchronous object. No Gradio, no page, no file."""

from __future__ import annotations

import time
from collections.abc import AsyncIterator, Callable, Mapping
from types import TracebackType
from typing import Any, Literal, Self

from ui.live.moments import Moment, Opened
from ui.live.setup import Setup, Waits

Wire = Mapping[str, Any]
"""One event as it went over the socket, media replaced by their size: ``{"at", "way": "out"|"in", "event": {...}}``."""


class LiveSession:
    """A session of ``/v1/realtime?duplex=1``: opened, talked with, resumed when the socket breaks, closed.

    ``url``: http(s):// or ws(s):// base of the server, without /v1. ``connect``: the seam of tests, called like
    ``websockets.asyncio.client.connect``. ``log`` sees every event both ways. Use::

        async with LiveSession(url, setup) as live:
            live.append(pcm)
            async for moment in live.moments(): ...

    Entering starts it and does not wait: ``moments()`` says what became of it (``Opened``, ``Waiting``, ``Closed``).
    Leaving closes it: afterwards there is no task, no socket and no session on the server.
    """

    opened: Opened | None = None
    """Once open; a fresh session after a loss replaces it."""
    dropped_frames: int = 0
    """Microphone frames of 200 ms that the server never got: the queue was full, or the connection was broken."""

    def __init__(
        self,
        url: str,
        setup: Setup,
        *,
        api_key: str | None = None,
        connect: Callable[..., Any] | None = None,
        clock: Callable[[], float] = time.monotonic,
        waits: Waits = Waits(),
        log: Callable[[Wire], None] | None = None,
    ) -> None: ...

    async def __aenter__(self) -> Self: ...

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None: ...

    def moments(self) -> AsyncIterator[Moment]:
        """What happens, in order, for one consumer; ends after ``Closed``."""
        ...

    def append(self, pcm: bytes, jpeg: bytes | None = None) -> bool:
        """Queues microphone sound, s16le mono at 16 kHz, any length; never blocks. It leaves in pieces of 200 ms, the
        last incomplete one with the next call. ``jpeg``: a camera picture, sent with the next piece where the server
        takes one. False when frames had to be dropped (oldest first; ``dropped_frames`` counts them)."""
        ...

    def played(self, response: int, ms: float) -> None:
        """``ms`` of answer ``response`` have been heard so far; told to the server, never more than it made."""
        ...

    async def interrupt(self, by: Literal["stop", "voice"]) -> None:
        """Ends the answer that is being spoken or still heard: ``Interrupted`` at once, then the server is told. The
        microphone goes on. Without an answer, nothing."""
        ...

    async def heartbeat(self) -> None:
        """Renews the server's leases; a session without microphone does it by itself."""
        ...

    async def close(self) -> None:
        """Ends the session on the server and here; waits until it is done. Twice is no error."""
        ...

    @property
    def idle_left_s(self) -> float | None:
        """Seconds until the server would end the session if nothing more were sent; None: not open."""
        ...
