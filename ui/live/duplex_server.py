"""Who answers on the command line: the server that was named, or the rehearsal engine, started and waited for."""

from __future__ import annotations

import asyncio
import shlex
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass

from launch.engine import RehearsalEngine
from launch.errors import ServerError
from ui.live.console import Console
from ui.live.duplex_input import address
from ui.turn.client import ServerClient
from ui.turn.probe import REHEARSAL_MODEL

_GLANCE_S = 0.25  # between two looks at an engine that loads


@dataclass(frozen=True)
class Answering:
    """``url``: base of the server. ``engine``: ours, where no server was named."""

    url: str
    engine: RehearsalEngine | None = None

    async def served(self, key: str | None, console: Console, stop: asyncio.Event) -> str | None:
        """The id under which it serves; an engine of ours is waited for. None: stopped before. Raises ``OmniError``."""
        client = ServerClient(self.url, api_key=key)
        try:
            if self.engine is not None:
                await self._loaded(self.engine, client, console, stop)
            return None if stop.is_set() else await client.model()
        except ServerError as error:
            error.server = self.url
            raise
        finally:
            await client.close()

    async def _loaded(
        self, engine: RehearsalEngine, client: ServerClient, console: Console, stop: asyncio.Event
    ) -> None:
        told = None
        while not stop.is_set() and (await client.check()).state != "ready":
            if engine.error is not None:
                raise engine.error
            if engine.loading not in (told, None):
                told = engine.loading
                console.say("loading", what=told)
            await asyncio.sleep(_GLANCE_S)


@contextmanager
def answering(url: str | None, rehearsal_args: str, console: Console) -> Iterator[Answering]:
    """``url`` as it was typed; without one the rehearsal engine, ended afterwards. Raises ``InputError`` (server-address)."""
    if url is not None:
        yield Answering(address(url))
        return
    console.say("starting")
    engine = RehearsalEngine(shlex.split(rehearsal_args))
    engine.start()
    try:
        yield Answering(engine.url, engine)
    finally:
        engine.stop()


def is_rehearsal(served: str) -> bool:
    """Whether small models answer, and not the model."""
    return served == REHEARSAL_MODEL
