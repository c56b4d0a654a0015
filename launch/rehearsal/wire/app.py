"""The ASGI application: a brain behind the wire of vLLM-Omni 0.26 or 0.30."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Callable, Sequence
from contextlib import asynccontextmanager

from fastapi import FastAPI, Request, Response
from fastapi.exceptions import RequestValidationError

from launch.rehearsal.brain.brain import Brain, Progress
from launch.rehearsal.wire.chat import chat_router
from launch.rehearsal.wire.engine import Engine
from launch.rehearsal.wire.errors import WireError, invalid_request, told
from launch.rehearsal.wire.realtime.lobby import LIMITS, Limits, Lobby
from launch.rehearsal.wire.realtime.routes import SessionMode, realtime_router
from launch.rehearsal.wire.realtime.trouble import KINDS, Troubles
from launch.rehearsal.wire.routes import health_router, model_router


def no_process() -> None:
    """The ``die`` of an application that runs in a process of somebody else's."""
    raise RuntimeError("die-after needs an engine with a process of its own.")


def create_app(
    brain: Brain,
    *,
    wire: str = "0.26",
    faults: Sequence[str] = (),
    progress: Progress = lambda what, share: None,
    ready: Callable[[], None] = lambda: None,
    failed: Callable[[Exception], None] | None = None,
    die: Callable[[], None] = no_process,
    mode: SessionMode = "duplex",
    limits: Limits = LIMITS,
) -> FastAPI:
    """``wire``: "0.26" or "0.30". ``faults``: "KIND[:VALUE][:N]" each (``faults.py``, ``realtime/trouble.py``).
    ``mode``, ``limits``: of the realtime sessions.

    The brain is loaded when the application starts, beside its first requests; ``progress`` and then ``ready`` or
    ``failed`` are told. Without a ``failed``, an error of loading comes out when the application is shut down. ``die``
    ends the process for the fault die-after. Raises ``KeyError`` for an unknown wire, ``ValueError`` for a bad fault.
    """
    of_sockets = [spec for spec in faults if spec.partition(":")[0] in KINDS]
    engine = Engine(brain, wire, [spec for spec in faults if spec not in of_sockets], die)
    lobby = Lobby(brain, wire, Troubles(of_sockets), limits)

    async def load() -> None:
        try:
            await engine.load(progress)
        except Exception as error:
            if failed is None:
                raise
            failed(error)
        else:
            ready()

    @asynccontextmanager
    async def lifespan(app: FastAPI) -> AsyncIterator[None]:
        loading = asyncio.create_task(load())
        try:
            yield
        finally:
            loading.cancel()
            outcome = (await asyncio.gather(loading, return_exceptions=True))[0]
            await lobby.close()
            await brain.close()
        if isinstance(outcome, Exception):
            raise outcome

    # No pages of documentation: they load scripts from a CDN.
    app = FastAPI(title="Omni Showcase rehearsal engine", docs_url=None, redoc_url=None, lifespan=lifespan)

    @app.exception_handler(WireError)
    @app.exception_handler(Exception)
    async def answer_error(request: Request, error: Exception) -> Response:
        told_error = told(error)
        return Response(told_error.body.model_dump_json(), status_code=told_error.code, media_type="application/json")

    @app.exception_handler(RequestValidationError)
    async def answer_invalid(request: Request, error: RequestValidationError) -> Response:
        return await answer_error(request, invalid_request(engine.dialect, error.errors()))

    app.include_router(health_router(engine))
    app.include_router(model_router(engine))
    app.include_router(chat_router(engine))
    app.include_router(realtime_router(engine, lobby, mode))
    return app
