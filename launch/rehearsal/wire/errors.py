"""Errors in the server's own words and shapes (protocol §3; captured as err_*.txt for both versions)."""

from __future__ import annotations

import logging
from collections.abc import Sequence
from typing import Any

from launch.rehearsal.brain.brain import UndecodableMedia
from launch.rehearsal.wire.dialect import Dialect
from launch.rehearsal.wire.protocol import ErrorBody, ErrorInfo

log = logging.getLogger(__name__)

PHRASES = {400: "BadRequestError", 404: "NotFoundError", 501: "NotImplementedError", 503: "ServiceUnavailableError"}


class WireError(Exception):
    """An answer that is an error. ``code`` is the HTTP status, or only a number when the stream has already begun."""

    def __init__(self, code: int, message: str, *, type: str = "", param: str | None = None) -> None:
        super().__init__(message)
        self.code = code
        kind = type or PHRASES.get(code, "InternalServerError")
        self.info = ErrorInfo(message=message, type=kind, param=param, code=code)

    @property
    def body(self) -> ErrorBody:
        return ErrorBody(error=self.info)


def told(error: Exception) -> WireError:
    """What a client hears of ``error``. What nobody foresaw is logged and becomes the engine's 500."""
    if isinstance(error, WireError):
        return error
    if isinstance(error, UndecodableMedia):
        return WireError(400, f"Failed to load {error.kind}: {error} {error}")
    log.error("The brain failed.", exc_info=error)
    return WireError(500, f"{type(error).__name__}: {error}")


def refused_by_engine(dialect: Dialect, message: str, *, param: str | None = None) -> WireError:
    """A check that the real server makes inside the engine: 400 on 0.26, 500 without ``param`` on 0.30."""
    code, kind = dialect.refusal
    return WireError(code, message, type=kind, param=param if code == 400 else None)


def no_such_model(name: str) -> WireError:
    return WireError(404, f"The model `{name}` does not exist.", param="model")


def too_many(dialect: Dialect, kind: str, limit: int) -> WireError:
    """The sentence offers ``--limit-mm-per-prompt`` only to models with a limit of their own; MiniCPM-o has none."""
    return refused_by_engine(dialect, f"At most {limit} {kind}(s) may be provided in one prompt. (parameter={kind})")


def invalid_request(dialect: Dialect, errors: Sequence[Any]) -> WireError:
    """What FastAPI found wrong with the body, as the server prints it: a Python dict a line."""
    first = errors[0] if errors and isinstance(errors[0], dict) else {}
    place = ".".join(str(step) for step in first.get("loc", ())) or None
    told = [_terse(error) if dialect.terse and isinstance(error, dict) else error for error in errors]
    plural = "s" if len(told) > 1 else ""
    lines = "".join(f"\n  {error}" for error in told)
    return WireError(400, f"{len(told)} validation error{plural}:{lines}", type="Bad Request", param=place)


def _terse(error: dict[str, Any]) -> dict[str, Any]:
    error = dict(error, loc=".".join(str(step) for step in error.get("loc", ())))
    sent = error.get("input")
    if isinstance(sent, dict | list):
        error["input"] = f"<{type(sent).__name__} of {len(sent)} items>"
    return error
