"""``/v1/realtime`` and ``/v1/duplex``: which protocol a socket gets, by the server's version and its session mode."""

from __future__ import annotations

import secrets
import time
from contextlib import suppress
from typing import Any, Literal

from fastapi import APIRouter
from starlette.websockets import WebSocket, WebSocketDisconnect

from launch.rehearsal.wire.engine import Engine
from launch.rehearsal.wire.realtime.envelope import Native, Realtime
from launch.rehearsal.wire.realtime.lobby import Lobby
from launch.rehearsal.wire.realtime.reading import event_of
from launch.rehearsal.wire.realtime.socket import Conversation

SessionMode = Literal["duplex", "turn"]
_YES = ("1", "true", "on")


def realtime_router(engine: Engine, lobby: Lobby, mode: SessionMode) -> APIRouter:
    """``mode`` turn: of a server whose deploy file does not say ``session_mode: duplex``."""
    router = APIRouter()
    newer = lobby.wire != "0.26"

    @router.websocket("/v1/realtime")
    async def realtime(socket: WebSocket) -> None:
        if not engine.ready:
            await socket.close(1013)
            return
        await socket.accept()
        asked = socket.query_params.get("duplex", "").lower() in _YES
        if mode == "turn" and asked and newer:
            await socket.send_json({"type": "error", "error": "VAD realtime is not enabled", "code": "unsupported"})
            await socket.close(1008)
        elif mode == "turn" or (not asked and not newer):
            await _transcription(socket)
        else:
            await Conversation(socket, lobby, Realtime(newer=newer)).run(_autostart(socket))

    @router.websocket("/v1/duplex")
    async def duplex(socket: WebSocket) -> None:
        if not engine.ready:
            await socket.close(1013)
            return
        await socket.accept()
        if mode == "turn":
            await socket.send_json({"type": "error", "error": "Duplex API is not available", "code": "unsupported"})
            await socket.close(1000)
        elif newer:
            await Conversation(socket, lobby, Realtime(newer=True)).run(_autostart(socket))
        else:
            await Conversation(socket, lobby, Native(), native=True).run(None)

    return router


def _autostart(socket: WebSocket) -> dict[str, Any] | None:
    """The first event of a client that named a model in the address and did not say ``autostart=0`` (§4.1)."""
    asked = socket.query_params
    if "model" not in asked or asked.get("autostart") in ("0", "false") or asked.get("resume") in _YES:
        return None
    native = asked.get("minicpmo45_native_duplex") in _YES
    session = {"model": asked["model"], "extra_body": {"minicpmo45_native_duplex": True} if native else {}}
    return {"type": "session.update", "session": session}


async def _transcription(socket: WebSocket) -> None:
    """vLLM's own realtime protocol, as a client meets it that took a turn server for a duplex one (§4.1)."""
    with suppress(WebSocketDisconnect):
        await socket.send_json(
            {"type": "session.created", "id": f"sess-{secrets.token_hex(8)}", "created": int(time.time())}
        )
        while True:
            message = await socket.receive()
            if message["type"] == "websocket.disconnect":
                return
            try:
                event = event_of(message.get("text") or "")
            except ValueError:
                event = None
            if event is None:
                await socket.send_json({"type": "error", "error": "Invalid JSON", "code": "invalid_json"})
                continue
            kind = str(event.get("type"))
            if kind == "session.update" and "model" not in event:
                await socket.send_json(
                    {"type": "error", "error": "Missing required field: model", "code": "invalid_event"}
                )
            elif kind == "input_audio_buffer.commit":
                words = "Model not validated. Make sure to validate the model by sending a session.update event."
                await socket.send_json({"type": "error", "error": words, "code": "model_not_validated"})
            elif kind not in ("session.update", "input_audio_buffer.append"):
                await socket.send_json(
                    {"type": "error", "error": f"Unknown event type: {kind}", "code": "unknown_event"}
                )
