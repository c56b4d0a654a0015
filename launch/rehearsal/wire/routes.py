"""Everything but chat: health, the model list, and how routes answer that MiniCPM-o has no use for (protocol §1)."""

from __future__ import annotations

import uuid

from fastapi import APIRouter, Depends, Response
from fastapi.responses import JSONResponse, PlainTextResponse

from launch.rehearsal.wire.dialect import CONTEXT
from launch.rehearsal.wire.engine import Engine
from launch.rehearsal.wire.errors import WireError
from launch.rehearsal.wire.order import MODEL
from launch.rehearsal.wire.protocol import ModelCard, ModelList, ModelPermission


def health_router(engine: Engine) -> APIRouter:
    """Answers at any time, also while an answer is being made."""
    router = APIRouter()

    @router.get("/health")
    async def health() -> Response:
        if not engine.ready:
            return Response(status_code=503)
        kind = "application/json" if engine.dialect.healthy else None
        return Response(engine.dialect.healthy, media_type=kind)

    @router.get("/ping")
    @router.post("/ping")
    async def ping() -> Response:
        return Response(status_code=200 if engine.ready else 503)

    @router.get("/version")
    async def version() -> dict[str, str]:
        return {"version": engine.dialect.version}

    @router.get("/load")
    async def load() -> dict[str, int]:
        return {"server_load": engine.tally.running}

    @router.get("/metrics")
    async def metrics() -> Response:
        return PlainTextResponse(engine.tally.prometheus(MODEL), media_type="text/plain; version=0.0.4")

    return router


def model_router(engine: Engine) -> APIRouter:
    """As strong a sign of readiness as health: 503 until the models are loaded."""
    router = APIRouter(dependencies=[Depends(engine.require_ready)])

    @router.get("/v1/models")
    async def models() -> ModelList:
        since = engine.since
        permission = ModelPermission(id=f"modelperm-{uuid.uuid4().hex[:16]}", created=since)
        card = ModelCard(
            id=MODEL,
            created=since,
            owned_by="omni-showcase",
            root=MODEL,
            max_model_len=CONTEXT,
            permission=[permission],
        )
        return ModelList(data=[card])

    @router.get("/v1/audio/voices")
    async def voices() -> Response:
        if engine.dialect.merged:
            raise WireError(404, "The model does not support Speech API")
        return JSONResponse({"voices": [], "uploaded_voices": []})

    @router.post("/v1/audio/speech")
    async def speech() -> Response:
        # 0.26 would hand the text to the thinker and speak its answer; nobody should build on that (protocol §1.2).
        if engine.dialect.merged:
            raise WireError(404, "The model does not support Speech API", type="Not Found")
        raise WireError(400, "The model does not support Speech API")

    @router.post("/v1/completions")
    async def completions() -> Response:
        raise WireError(501, "The model does not support Completions API")

    @router.post("/v1/responses")
    async def responses() -> Response:
        raise WireError(501, "The model does not support Responses API")

    return router
