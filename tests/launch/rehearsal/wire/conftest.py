"""Engines without a socket, and a second of sound as a client sends it."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Callable, Sequence
from contextlib import AbstractAsyncContextManager, asynccontextmanager

import httpx
import pytest

from launch.rehearsal.brain.brain import Brain
from launch.rehearsal.brain.canned import CannedBrain, tone
from launch.rehearsal.wire.app import create_app
from launch.rehearsal.wire.sound import encode

Engine = Callable[..., AbstractAsyncContextManager[httpx.AsyncClient]]


@pytest.fixture(scope="session")
def wav() -> bytes:
    return encode(tone(0, 1), "wav")


@pytest.fixture
def engine() -> Engine:
    """``async with engine(brain, wire=…, faults=…) as client``: loaded, in this process and this event loop."""

    @asynccontextmanager
    async def running(
        brain: Brain | None = None, *, wire: str = "0.26", faults: Sequence[str] = ()
    ) -> AsyncIterator[httpx.AsyncClient]:
        ready = asyncio.Event()
        app = create_app(brain or CannedBrain(), wire=wire, faults=faults, ready=ready.set)
        transport = httpx.ASGITransport(app)
        async with (
            app.router.lifespan_context(app),
            httpx.AsyncClient(transport=transport, base_url="http://engine", trust_env=False) as client,
        ):
            await asyncio.wait_for(ready.wait(), 5)
            yield client

    return running
