"""A rehearsal engine on a port of its own, for any test that needs a server."""

from __future__ import annotations

import asyncio
import threading
import time
from collections.abc import AsyncIterator, Iterator, Sequence
from contextlib import asynccontextmanager, contextmanager

from launch.rehearsal.brain.brain import Brain
from launch.rehearsal.brain.canned import CannedBrain
from launch.rehearsal.wire.app import create_app
from launch.rehearsal.wire.realtime.lobby import LIMITS, Limits
from launch.rehearsal.wire.realtime.routes import SessionMode
from launch.rehearsal.wire.serve import Server, listen

DEADLINE_S = 30  # a canned brain is ready in milliseconds; one with weights is the caller's to wait for


@contextmanager
def engine_thread(
    brain: Brain | None = None,
    *,
    wire: str = "0.26",
    faults: Sequence[str] = (),
    mode: SessionMode = "duplex",
    limits: Limits = LIMITS,
    deadline_s: float = DEADLINE_S,
) -> Iterator[str]:
    """The base URL ("http://127.0.0.1:PORT", no /v1) of an engine in a thread, ready; stopped at the end.

    The fault die-after does not end the test's process: it closes the port and cuts every connection.
    """
    ready = threading.Event()
    errors: list[Exception] = []

    def failed(error: Exception) -> None:
        errors.append(error)
        ready.set()

    sock = listen("127.0.0.1", 0)
    port = sock.getsockname()[1]
    app = create_app(
        brain or CannedBrain(),
        wire=wire,
        faults=faults,
        ready=ready.set,
        failed=failed,
        die=lambda: server.cut(),
        mode=mode,
        limits=limits,
    )
    server = Server(app, sock)
    thread = threading.Thread(target=lambda: asyncio.run(server.run_here()), name="rehearsal engine", daemon=True)
    thread.start()
    try:
        deadline = time.monotonic() + deadline_s
        while not (ready.wait(0.01) and server.started):
            assert thread.is_alive(), "the engine stopped before it was ready"
            assert time.monotonic() < deadline, "the engine is not ready"
        if errors:
            raise errors[0]
        yield f"http://127.0.0.1:{port}"
    finally:
        server.should_exit = True
        thread.join(DEADLINE_S)
        assert not thread.is_alive(), "the engine does not stop"


@asynccontextmanager
async def running_engine(
    brain: Brain | None = None,
    *,
    wire: str = "0.26",
    faults: Sequence[str] = (),
    mode: SessionMode = "duplex",
    limits: Limits = LIMITS,
) -> AsyncIterator[str]:
    """``engine_thread`` for asynchronous tests: the engine has an event loop of its own, so a test cannot starve it."""
    engine = engine_thread(brain, wire=wire, faults=faults, mode=mode, limits=limits)
    url = await asyncio.to_thread(engine.__enter__)
    try:
        yield url
    finally:
        await asyncio.to_thread(engine.__exit__, None, None, None)
