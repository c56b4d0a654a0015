"""The routes of live conversations, for our own page and its owner only (``ui/guard.py``).

Whoever has no session gets 403 (a socket: 4403), whoever asks for somebody else's conversation 404 (4404), as for one
that does not exist. What the user must be told comes as ``{"fault": {"cause", "cure"}}`` in both languages.
"""

from __future__ import annotations

import asyncio
import tempfile
from pathlib import Path
from typing import Annotated, Any

from fastapi import APIRouter, Depends, HTTPException, Query, Request, Response, WebSocket
from fastapi.requests import HTTPConnection
from fastapi.responses import FileResponse, JSONResponse
from pydantic import BaseModel, Field
from starlette.background import BackgroundTask
from starlette.datastructures import UploadFile

from launch.errors import InputError, MediaError, OmniError
from ui.guard import Guard
from ui.live.bundle import bundled
from ui.live.conversation import Conversation
from ui.live.lounge import Lounge, Wishes
from ui.live.manners import INSTRUCTIONS_MOST, instructions, manners
from ui.live.neighbour import Neighbour
from ui.live.page_wire import Told
from ui.live.recording import NAMES
from ui.live.reference import UPLOAD_MOST, Voices
from ui.live.relay import Limits, visit
from ui.live.setup import Setup
from ui.live.tickets import Tickets
from ui.turn.client import ServerClient
from ui.turn.parts import Language

_TYPES = {".wav": "audio/wav", ".zip": "application/zip", ".json": "application/json"}


class Asked(BaseModel):
    """What the page wants: a manner's id or instructions of its own, a voice, and so on."""

    instructions: str = Field(default="", max_length=INSTRUCTIONS_MOST)
    voice: str = Field(default="", max_length=100)
    record: bool = False
    server_vad: bool = False
    language: Language = "en"


def router(
    lounge: Lounge,
    client: ServerClient,
    guard: Guard,
    neighbour: Neighbour,
    public_url: str | None = None,
    *,
    limits: Limits | None = None,
) -> APIRouter:
    """The routes. ``neighbour``: what this machine knows of the server. ``public_url``: ``wss://…`` under which this
    app's port is reached where the page's own address takes no WebSocket; the page opens its sockets there, with a ticket
    in place of its cookie."""
    tickets, voices = Tickets(), Voices(neighbour.reference)

    def owner_of(connection: HTTPConnection) -> str:
        owner = guard.owner(connection.scope)
        if owner is None:
            raise HTTPException(403, "no session: reload the page")
        return owner

    def mine(id: str, connection: HTTPConnection) -> Conversation:
        return theirs(id, owner_of(connection))

    def theirs(id: str, owner: str) -> Conversation:
        if (conversation := lounge.get(id, owner)) is None:
            raise HTTPException(404, "no such conversation")
        return conversation

    def address(conversation: Conversation, request: Request) -> str:
        """Where the page opens its next socket: relative to the page, which may lie below a gateway's path."""
        path = f"live/{conversation.id}/socket"
        if public_url is None:
            return path
        # The guard has seen that this origin is our own page's.
        ticket = tickets.issue(conversation.id, conversation.owner, request.headers["origin"])
        return f"{public_url}/{path}?ticket={ticket}"

    the_owner, the_conversation = Depends(owner_of), Depends(mine)
    routes = APIRouter(prefix="/live")

    @routes.post("")
    async def open(asked: Asked, request: Request, owner: str = the_owner) -> Any:
        try:
            model = await client.model()
            setup = Setup(
                model=model,
                instructions=instructions(asked.instructions, asked.language),
                reference=await asyncio.to_thread(voices.wav, asked.voice, owner),
                server_vad=asked.server_vad,
            )
            lounge.expected = await asyncio.to_thread(neighbour.sessions)  # it may have been started since
            conversation = lounge.open(owner, Wishes(setup, asked.record))
        except OmniError as error:
            return _refusal(error)
        return {"id": conversation.id, "socket": address(conversation, request)}

    @routes.post("/{id}/ticket")
    async def ticket(request: Request, conversation: Conversation = the_conversation) -> dict[str, str]:
        return {"socket": address(conversation, request)}

    @routes.post("/voice")
    async def voice(request: Request, owner: str = the_owner) -> Any:
        length = request.headers.get("content-length", "")
        if not length.isdigit():
            raise HTTPException(411, "say how long it is")
        try:
            if int(length) > UPLOAD_MOST:
                raise MediaError("live-voice-large", size=int(length) >> 20, limit=UPLOAD_MOST >> 20)
            with tempfile.NamedTemporaryFile(prefix="omni-voice-") as file:
                await _body(request, Path(file.name))
                upload = await asyncio.to_thread(voices.take, Path(file.name), owner)
        except OmniError as error:
            return _refusal(error)
        notices = [Told.of(MediaError(it.key, **it.facts)).model_dump() for it in upload.notices]
        return {"token": upload.token, "seconds": round(upload.sound.seconds, 2), "notices": notices}

    @routes.get("/state")
    async def state(owner: str = the_owner) -> dict[str, Any]:
        crowd, opened = lounge.crowd(owner), lounge.server
        known = await asyncio.to_thread(voices.all)
        return {
            "limit": crowd.limit,
            "running": crowd.running,
            "queued": crowd.queued,
            "free": crowd.free,
            "mine": crowd.mine,
            "server": opened
            and {
                "wire": opened.wire,
                "barge_in": opened.barge_in,
                "camera": opened.camera,
                "capabilities": opened.capabilities,
            },
            "voices": [{"id": it.id, "name": it.name, "seconds": round(it.seconds, 1)} for it in known],
            "manners": [{"id": it.id, "name": it.name, "says": it.says} for it in manners().values()],
        }

    @routes.websocket("/{id}/socket")
    async def socket(
        socket: WebSocket, id: str, after: Annotated[int | None, Query(ge=0)] = None, ticket: str = ""
    ) -> None:
        await socket.accept()
        # Only an accepted socket can tell the page why: a refused handshake looks like a broken network to it.
        origin = socket.headers.get("origin")
        owner = tickets.take(ticket, id, origin) if ticket else guard.owner(socket.scope)
        if owner is None or (conversation := lounge.get(id, owner)) is None:
            await socket.close(4403 if owner is None else 4404)
            return
        await visit(socket, conversation, after, limits or Limits())

    @routes.post("/{id}/close", status_code=204)
    async def close(conversation: Conversation = the_conversation) -> None:
        conversation.leave("stop")

    @routes.get("/{id}/recording/{name}")
    async def recording(name: str, conversation: Conversation = the_conversation) -> Response:
        # The name is one of ours or nothing: no word of a page becomes a path.
        if conversation.recording is None or conversation.ended is None or name not in (*NAMES, "recording.zip"):
            raise HTTPException(404, "no such recording")
        folder = conversation.recording.folder
        if name != "recording.zip":
            return _file(folder / name, name)
        whole = await asyncio.to_thread(bundled, folder, NAMES)
        return _file(whole, name, BackgroundTask(whole.unlink))

    return routes


def _refusal(error: OmniError) -> JSONResponse:
    status = 422 if isinstance(error, InputError | MediaError) else 503
    return JSONResponse({"fault": Told.of(error).model_dump()}, status)


async def _body(request: Request, path: Path) -> None:
    """Writes the upload to ``path``: the first file of a form, or the body as it is. The server bounds it by its length."""
    if request.headers.get("content-type", "").startswith("multipart/"):
        async with request.form(max_files=1, max_fields=4) as form:
            file = next((it for it in form.values() if isinstance(it, UploadFile)), None)
            data = await file.read() if file is not None else b""
    else:
        data = await request.body()
    await asyncio.to_thread(path.write_bytes, data)


def _file(path: Path, name: str, after: BackgroundTask | None = None) -> Response:
    headers = {"cache-control": "no-store"}
    kind = _TYPES.get(path.suffix, "text/plain; charset=utf-8")
    if not path.is_file():
        raise HTTPException(404, "no such file")
    return FileResponse(path, media_type=kind, filename=f"omni-live-{name}", headers=headers, background=after)
