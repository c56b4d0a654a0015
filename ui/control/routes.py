"""What the Server tab asks for, by plain GET and POST: nothing of it rides Gradio's queue."""

from __future__ import annotations

import asyncio
import ipaddress
from os.path import isabs, isdir
from typing import Annotated, Any, Literal
from urllib.parse import urlsplit

from fastapi import APIRouter, Depends, HTTPException, Query, Request
from pydantic import BaseModel, Field

from ui.control.tool import Tool
from ui.guard import Guard
from ui.turn.parts import Language

Why = Literal["asked", "wide", "name"]
"""Why nothing may be started or stopped: asked for (--no-control), because others on the network reach this page too, or
because the page was opened under a name instead of an address of this machine."""
_Port = Annotated[int, Field(ge=1, le=65_535)]
_Words = Annotated[str, Field(max_length=400)]


class Start(BaseModel):
    """``model``: a folder of weights on the server's machine; empty: where the contest boxes have them. ``cards``: "4,5"."""

    layout: _Words
    model: _Words = ""
    cards: Annotated[str, Field(pattern=r"^[0-9, ]*$", max_length=60)] = ""
    port: _Port = 8091


class Which(BaseModel):
    port: _Port


def router(tool: Tool, guard: Guard, why_not: Why | None, server: str | None) -> APIRouter:
    """``why_not``: why starting and stopping is switched off; ``None``: it is not. ``server``: the app's own, if it was
    told one."""

    def guest(request: Request) -> None:
        if guard.owner(request.scope) is None:
            raise HTTPException(403, "no session: reload the page")

    def refusal(request: Request) -> Why | None:
        return why_not or (None if _by_address(request.headers.get("host", "")) else "name")

    def host(request: Request) -> None:
        if (why := refusal(request)) is not None:
            raise HTTPException(403, f"switched off: {why}")

    routes = APIRouter(prefix="/control", dependencies=[Depends(guest)])
    may = [Depends(host)]

    @routes.get("")
    async def control(request: Request, language: Language = "en") -> dict[str, Any]:
        table = await asyncio.to_thread(tool.read, language, "layouts")
        return {"why_not": refusal(request), "server": server, **table}

    @routes.get("/status")
    async def status(language: Language = "en") -> dict[str, Any]:
        def look() -> dict[str, Any]:
            seen = tool.read(language, "status")
            ours = {it["port"] for it in seen.get("servers", ()) if it["ours"] and it["state"] != "zombie"}
            return {**seen, "starts": tool.starts(ours)}

        return await asyncio.to_thread(look)

    @routes.get("/log", dependencies=may)
    async def log(port: Annotated[int, Query(ge=1, le=65_535)], language: Language = "en") -> dict[str, Any]:
        return await asyncio.to_thread(tool.log, port, language)

    @routes.get("/doctor")
    async def doctor(
        request: Request,
        layout: str = "1card",
        port: Annotated[int, Query(ge=1, le=65_535)] = 8091,
        model: Annotated[str, Query(max_length=400)] = "",
        language: Language = "en",
    ) -> dict[str, Any]:
        if model:  # whether a folder is there is nothing to tell a stranger
            host(request)
        words = ["doctor", "--layout", _known(tool, layout), "--port", port, *_model(model)]
        return await asyncio.to_thread(tool.read, language, *words)

    @routes.get("/forward")
    async def forward(
        target: Annotated[str, Query(max_length=200)],
        jump: Annotated[str, Query(max_length=200)] = "",
        port: Annotated[int, Query(ge=1, le=65_535)] = 7862,
        language: Language = "en",
    ) -> dict[str, Any]:
        through = [f"--jump={jump}"] if jump else []
        return await asyncio.to_thread(tool.read, language, "forward", f"--target={target}", *through, "--port", port)

    @routes.post("/plan", dependencies=may)
    async def plan(start: Start, language: Language = "en") -> dict[str, Any]:
        return await asyncio.to_thread(tool.read, language, *_words(tool, start), "--dry-run")

    @routes.post("/start", dependencies=may)
    async def begin(start: Start, language: Language = "en") -> dict[str, Any]:
        return await tool.act(language, *_words(tool, start), "--no-wait")

    @routes.post("/stop", dependencies=may)
    async def stop(which: Which, language: Language = "en") -> dict[str, Any]:
        return await tool.act(language, "down", "--port", which.port)

    @routes.post("/restart", dependencies=may)
    async def restart(which: Which, language: Language = "en") -> dict[str, Any]:
        return await tool.act(language, "restart", "--port", which.port, "--no-wait")

    return routes


def _known(tool: Tool, layout: str) -> str:
    """A layout by its name only: a path from a client would be read as a deploy file."""
    if layout not in tool.layouts():
        raise HTTPException(422, "no such layout")
    return layout


def _words(tool: Tool, start: Start) -> list[object]:
    words: list[object] = ["up", "--layout", _known(tool, start.layout), "--port", start.port]
    words += _model(start.model)
    if start.cards.strip():
        words.append(f"--cards={start.cards}")
    return words


def _model(folder: str) -> list[str]:
    """A folder or nothing: what is in it is judged by the launcher, and never shown."""
    if not folder:
        return []
    if not isabs(folder) or not isdir(
        folder
    ):  # which, unlike a Path's, take anything: a name too long, a folder barred
        raise HTTPException(422, "no such folder")
    return [f"--model={folder}"]


def _by_address(host: str) -> bool:
    """Whether the page was asked for by an address, or as localhost. A page of a stranger whose name was made to point
    at this machine (DNS rebinding) has a name, and would pass every other check."""
    try:
        name = urlsplit(f"//{host}").hostname or ""
        if name == "localhost" or name.endswith(".localhost"):
            return True
        ipaddress.ip_address(name)
    except ValueError:
        return False
    return True
