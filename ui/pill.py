"""The server pill's route: how the server is, by plain GET, with cause and cure in both languages when it is not well."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from typing import Literal

from fastapi import APIRouter, HTTPException, Request
from pydantic import BaseModel

from launch.engine import RehearsalEngine
from launch.errors import OmniError
from launch.faults import explain
from ui.guard import Guard
from ui.texts import LANGUAGES
from ui.turn.client import ServerClient
from ui.turn.parts import Language

StartAt = Callable[[str], int | None]


class Told(BaseModel):
    """A fault of the catalogue in one language."""

    cause: str
    cure: str


class Pill(BaseModel):
    """What the pill shows. ``loading``: what the rehearsal engine is loading; ``percent``:
    of a start by the launcher; ``round_trip_ms``: of one health check."""

    state: Literal["starting", "ready", "busy", "gone"]
    model: str | None
    wire: str | None
    round_trip_ms: float | None
    rehearsal: bool
    loading: str | None
    percent: int | None
    fault: dict[Language, Told] | None


def router(client: ServerClient, guard: Guard, engine: RehearsalEngine | None, start_at: StartAt) -> APIRouter:
    """``GET /server``. ``engine``: the rehearsal engine of ours behind ``client``, if it is one. ``start_at``: how far a
    start of ``python -m launch`` at an address has come, in percent."""
    routes = APIRouter()

    @routes.get("/server")
    async def server(request: Request) -> Pill:
        if guard.owner(request.scope) is None:
            raise HTTPException(403, "no session: reload the page")
        return await pill(client, engine, start_at)

    return routes


async def pill(client: ServerClient, engine: RehearsalEngine | None, start_at: StartAt) -> Pill:
    """The state now. An engine of ours that nobody answers for yet is starting, not gone, as long as it lives; so is a
    server that the launcher is starting on this machine."""
    seen = await client.state()
    state, error = seen.state, seen.error
    if engine is not None and state in ("gone", "starting"):
        state, error = ("gone", engine.error) if engine.error else ("starting", None)
    percent = None
    if engine is None and state in ("gone", "starting"):
        percent = await asyncio.to_thread(start_at, client.base_url)
        state, error = (state, error) if percent is None else ("starting", None)
    return Pill(
        state=state,
        model=seen.model,
        wire=seen.wire,
        round_trip_ms=seen.round_trip_ms,
        rehearsal=engine is not None or seen.rehearsal,
        loading=engine.loading if engine is not None and state == "starting" else None,
        percent=percent,
        fault=_told(error),
    )


def _told(error: OmniError | None) -> dict[Language, Told] | None:
    if error is None:
        return None
    told: dict[Language, Told] = {}
    for language in LANGUAGES:
        why = explain(error, language)
        told[language] = Told(cause=why.cause, cure=why.cure)
    return told
