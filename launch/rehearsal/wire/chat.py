"""POST /v1/chat/completions."""

from __future__ import annotations

from fastapi import APIRouter, Depends, Request
from fastapi.exceptions import RequestValidationError
from fastapi.responses import Response

from launch.rehearsal.wire.connection import DROP, EventStream, while_connected
from launch.rehearsal.wire.engine import Engine
from launch.rehearsal.wire.errors import told
from launch.rehearsal.wire.faults import Dropped
from launch.rehearsal.wire.order import take_order
from launch.rehearsal.wire.protocol import ChatRequest
from launch.rehearsal.wire.sse import events
from launch.rehearsal.wire.whole import completion

GONE = 499  # a client that left hears nothing; the number is nginx's, for the log


def chat_router(engine: Engine) -> APIRouter:
    router = APIRouter(dependencies=[Depends(engine.require_ready)])

    @router.post("/v1/chat/completions", dependencies=[Depends(_require_json)])
    async def chat(body: ChatRequest, request: Request) -> Response:
        order = await take_order(body, engine.dialect)
        try:
            pieces = engine.begin(order)
        except Dropped:
            return _drop(request)
        if order.stream:
            return EventStream(events(pieces, order, engine.dialect))
        try:
            answer = await while_connected(request.receive, completion(pieces, order, engine.dialect))
        except Exception as error:
            raise told(error) from error
        if answer is None:
            return Response(status_code=GONE)
        return Response(answer.model_dump_json(exclude_unset=True), media_type="application/json")

    return router


def _require_json(request: Request) -> None:
    if request.headers.get("content-type", "").lower().partition(";")[0].strip() != "application/json":
        raise RequestValidationError(["Unsupported Media Type: Only 'application/json' is allowed"])


def _drop(request: Request) -> Response:
    """Cut the connection. Where there is none to cut, in a test without a socket, the caller gets the error itself."""
    drop = request.scope.get("extensions", {}).get(DROP)
    if drop is None:
        raise ConnectionResetError("The connection was dropped.")
    drop()
    return Response(status_code=GONE)
