"""The player channel: a turn's sound to the browser, what was heard back, and whatever else of a turn has an address.

All under ``/turns/{id}``, for the owner of the turn only (``ui/guard.py``); whoever else asks gets 403 without a
session, and 404 for a turn that is not theirs, as for one that does not exist.

Socket ``/speech?start=<frame>``: binary frames hold s16le mono PCM at 24 kHz, at most ``_PIECE`` bytes each, always
whole frames. Text frames are JSON: from us ``{"type": "end", "state", "frames"}`` once everything is sent, ``{"type":
"alive"}`` while nothing comes; from the page ``Heard``. Closed with 4403 (no session), 4404 (no such turn), 4408 (the
page stopped reading), 1009 (a message too long).
"""

import asyncio
from collections.abc import AsyncIterator
from contextlib import suppress
from functools import partial
from typing import Annotated, Literal

from fastapi import APIRouter, Depends, HTTPException, Query, Response, WebSocket, WebSocketDisconnect
from fastapi.requests import HTTPConnection
from fastapi.responses import StreamingResponse
from pydantic import BaseModel, Field, ValidationError

from ui.guard import Guard
from ui.turn.recipes import as_curl, as_powershell, as_python
from ui.turn.record import TurnRecord, zip_of
from ui.turn.turn import Turn
from ui.turn.turns import Turns

_FRAME = 2  # bytes: s16le, mono
_PIECE = 9_600  # bytes, 200 ms: on a slow tunnel the first sound does not wait for the last byte of a 1 s packet
_ALIVE_S = 5.0  # the page takes another route after three of these without a sign
_SEND_S = 30.0  # a page that reads nothing for so long is gone or asleep; it can come back and ask for the rest
_LISTEN_S = 600.0  # after the end we wait for what was heard; the longest answer (a talker's context) plays 2.5 minutes
_MESSAGE_MOST = 1_024  # bytes; a report is about 100

_Start = Annotated[int, Query(ge=0)]
_Milliseconds = Annotated[float, Field(ge=0, le=3_600_000, allow_inf_nan=False)]


class Heard(BaseModel):
    """What the player measured (definitions: ``ui/browser/player.js``), in ms; ``None``: not known yet."""

    type: Literal["heard"] = "heard"
    first_sound_ms: _Milliseconds | None = None
    stall_ms: _Milliseconds | None = None
    stall_longest_ms: _Milliseconds | None = None
    played_ms: _Milliseconds | None = None

    def tell(self, turn: Turn) -> None:
        turn.heard(**self.model_dump(exclude={"type"}))


def router(turns: Turns, guard: Guard, server: str, *, key: bool = False) -> APIRouter:
    """The routes. ``server``: base URL of the model's server, as "the same request by hand" names it; ``key``: it wants
    one."""

    def mine(id: str, connection: HTTPConnection) -> Turn:
        owner = guard.owner(connection.scope)
        if owner is None:
            raise HTTPException(403, "no session: reload the page")
        if (turn := turns.get(id, owner)) is None:
            raise HTTPException(404, "no such turn")
        return turn

    the_turn = Depends(mine)
    routes = APIRouter(prefix="/turns/{id}")

    @routes.websocket("/speech")
    async def speech(socket: WebSocket, id: str, start: _Start = 0) -> None:
        await socket.accept()
        try:
            turn = mine(id, socket)
        except HTTPException as refusal:
            # Only an accepted socket can tell the page why: a refused handshake looks like a broken network to it.
            await socket.close(4000 + refusal.status_code)
            return
        await _converse(socket, turn, start * _FRAME)

    @routes.get("/speech.pcm")
    async def stream(turn: Turn = the_turn, start: _Start = 0) -> StreamingResponse:
        # Octets, because audio/L16 is big-endian by its RFC. The second header keeps an nginx from collecting them.
        headers = {"cache-control": "no-store", "x-accel-buffering": "no"}
        return StreamingResponse(_pieces(turn, start * _FRAME), media_type="application/octet-stream", headers=headers)

    @routes.get("/answer.wav")
    async def wav(turn: Turn = the_turn) -> Response:
        return _file(await asyncio.to_thread(turn.wav), "audio/wav", f"{_name(turn)}.wav")

    @routes.get("/snapshot")
    async def snapshot(turn: Turn = the_turn) -> dict[str, object]:
        return turn.snapshot()

    @routes.get("/turn.zip")
    async def saved(turn: Turn = the_turn) -> Response:
        return _file(await asyncio.to_thread(zip_of, turn, server, key=key), "application/zip", f"{_name(turn)}.zip")

    @routes.get("/request.{kind}")
    async def request(kind: Literal["sh", "ps1", "py"], turn: Turn = the_turn) -> Response:
        write = {"sh": partial(as_curl, key=key), "ps1": partial(as_powershell, key=key), "py": as_python}[kind]
        return _text(await asyncio.to_thread(lambda: write(turn.body(), server)))

    @routes.get("/events")
    async def events(turn: Turn = the_turn) -> Response:
        return _text(await asyncio.to_thread(lambda: TurnRecord.of(turn).files()["events.jsonl"]))

    @routes.post("/stop", status_code=204)
    async def stop(turn: Turn = the_turn) -> None:
        await turns.stop(turn.id, turn.owner)

    @routes.post("/heard", status_code=204)
    async def heard(report: Heard, turn: Turn = the_turn) -> None:
        report.tell(turn)

    return routes


async def _converse(socket: WebSocket, turn: Turn, start: int) -> None:
    """Sends and listens until the page has gone or nothing more is to come. The listener's end ends the sender."""
    sending = asyncio.create_task(_send(socket, turn, start), name=f"speech {turn.id[:6]}")
    try:
        await _listen(socket, turn, sending)
    finally:
        sending.cancel()
        await asyncio.wait([sending])


async def _listen(socket: WebSocket, turn: Turn, sending: asyncio.Task[None]) -> None:
    """Takes the page's reports; returns when the page has gone or the sender closed, or long after the end."""
    while True:
        try:
            async with asyncio.timeout(_LISTEN_S):
                message = await socket.receive_text()
        except TimeoutError:
            if sending.done():
                await socket.close()
                return
            continue
        except (WebSocketDisconnect, RuntimeError, KeyError):
            return  # gone; closed by the sender (RuntimeError); a binary frame, which no page of ours sends (KeyError)
        if len(message) > _MESSAGE_MOST:
            await socket.close(1009)
            return
        with suppress(ValidationError):  # a report we cannot read leaves a figure empty; the sound goes on
            Heard.model_validate_json(message).tell(turn)


async def _send(socket: WebSocket, turn: Turn, start: int) -> None:
    sent = start
    try:
        async for piece in _pieces(turn, start, alive=True):
            async with asyncio.timeout(_SEND_S):
                if piece:
                    await socket.send_bytes(piece)
                    sent += len(piece)
                else:
                    await socket.send_json({"type": "alive"})
        await socket.send_json({"type": "end", "state": turn.state, "frames": sent // _FRAME})
    except TimeoutError:
        await socket.close(4408)
    except (WebSocketDisconnect, RuntimeError):
        return  # the page has gone; RuntimeError is what Starlette raises when it went between two sends


async def _pieces(turn: Turn, at: int, *, alive: bool = False) -> AsyncIterator[bytes]:
    """The turn's PCM from byte ``at`` on, until it ends. ``alive``: an empty piece after each ``_ALIVE_S`` without
    sound."""
    clock = asyncio.get_running_loop().time
    since = clock()
    while True:
        version, running = turn.version, turn.running
        if at < len(turn.pcm):
            piece = bytes(turn.pcm[at : at + _PIECE])
            at += len(piece)
            yield piece
            since = clock()
        elif not running:
            return
        else:
            await turn.changed(version, _ALIVE_S)
            if alive and clock() - since >= _ALIVE_S:
                yield b""
                since = clock()


def _name(turn: Turn) -> str:
    return f"omni-{turn.what}-{turn.id[:6]}"


def _file(data: bytes, kind: str, name: str) -> Response:
    headers = {"content-disposition": f'attachment; filename="{name}"', "cache-control": "no-store"}
    return Response(data, media_type=kind, headers=headers)


def _text(text: str) -> Response:
    return Response(text, media_type="text/plain; charset=utf-8", headers={"cache-control": "no-store"})
