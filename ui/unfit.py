"""What is told of a request whose fields do not fit: which field and why, and never what was in it."""

from __future__ import annotations

from fastapi import FastAPI, Request
from fastapi.exceptions import RequestValidationError
from fastapi.responses import JSONResponse


def tell_unfit(app: FastAPI) -> None:
    """Answers such requests of ``app`` with 422 and ``{"detail": [{"type", "loc", "msg"}]}``. FastAPI's own answer repeats
    the whole input, and fails with 500 over one that no UTF-8 can hold."""
    app.add_exception_handler(RequestValidationError, _answer)


async def _answer(_: Request, error: Exception) -> JSONResponse:
    assert isinstance(error, RequestValidationError)
    return JSONResponse({"detail": [{key: one[key] for key in ("type", "loc", "msg")} for one in error.errors()]}, 422)
