"""What went wrong, by the server's words: the status differs between versions, they do not (protocol §3, §7)."""

from __future__ import annotations

import json
import re
from collections.abc import Mapping
from functools import cache
from typing import Any

import httpx2
import openai

from launch.errors import ServerError, ServerGone, ServerRefused, ServerSilent
from launch.faults import catalogue
from ui.turn.parts import Audio, Image, Video
from ui.turn.request import Request

_KINDS = {"image": Image, "audio": Audio, "video": Video}
_KIND_NAMES = {"image": ("图片", "images"), "audio": ("音频", "sounds"), "video": ("视频", "videos")}
_LIMIT = re.compile(r"At most (\d+) (image|audio|video)\(s\)")
# The two forms of vLLM's own message: a max_tokens that cannot fit at all, and a prompt that leaves too little room.
_CONTEXT = re.compile(r"max_total_tokens=(\d+)|maximum context length is (\d+)|maximum model length of (\d+)")
_SETTING = re.compile(r"\(parameter=(\w+), value=([^)]*)\)")
# A schema violation, as 0.26 ('loc': ('body', 'seed')) and 0.30 ('loc': 'body.seed') write it.
_FIELD = re.compile(r"'loc': \(?'body(?:', '|\.)(\w+)'")


def refused(status: int | None, message: str, request: Request) -> ServerError:
    """The failure that ``message`` tells of. ``status``: the HTTP status, ``None`` for an error inside a stream."""
    key = _known(message)
    if status == 401 or key == "unauthorized":
        return ServerRefused("unauthorized", detail=message)
    if key == "too-many-media" and (limit := _LIMIT.search(message)):
        kind = limit[2]
        zh, en = _KIND_NAMES[kind]
        sent = request.count(_KINDS[kind])
        return ServerRefused(key, detail=message, limit=int(limit[1]), sent=sent, kind_zh=zh, kind_en=en)
    if key == "prompt-too-long":
        return ServerRefused(key, detail=message, limit=_context(message), sent=request.settings.max_tokens or "—")
    if key == "bad-setting":
        setting, value = _setting(message)
        return ServerRefused("bad-setting", detail=message, setting=setting, value=value)
    if key is not None:
        return ServerRefused(key, detail=message)
    by_status = {404: "not-an-omni-server", 405: "not-an-omni-server", 413: "body-too-large", 429: "server-overloaded"}
    if status in by_status:
        return ServerRefused(by_status[status], detail=message)
    if status in (502, 503, 504):  # a gateway with nothing behind it, or an engine that is starting or dying
        return ServerGone("server-not-up", detail=f"{status} {message}")
    return ServerRefused("server-internal", detail=message)


def from_sdk(error: openai.APIError, request: Request) -> ServerError:
    """An error of the SDK with an answer in it: an HTTP status that says no, or an error object inside the stream."""
    status = error.status_code if isinstance(error, openai.APIStatusError) else None
    return refused(status, error_message(error.body) or error.message, request)


def lost(error: BaseException, url: str, *, seconds: float, begun: bool = False) -> ServerError:
    """A connection that failed. ``seconds``: the patience that ran out, if one did; ``begun``: the answer had begun."""
    detail = f"{url}: {type(error).__name__} {error}".rstrip()
    match error:
        case httpx2.TimeoutException():
            return ServerSilent("timeout-connect", detail=detail, seconds=f"{seconds:g}")
        case httpx2.ConnectError() | httpx2.UnsupportedProtocol():
            return ServerGone("server-not-up", detail=detail)
        case _:
            return ServerGone("stream-broken-midway" if begun else "closed-before-answer", detail=detail)


def error_message(body: Any) -> str:
    """The words in an error body: ``{"error": {"message"}}``, ``{"error": "text"}``, ``{"detail"}`` or bare text."""
    if isinstance(body, str):
        return body
    if isinstance(body, Mapping):
        for name in ("message", "error", "detail"):
            if body.get(name):
                return error_message(body[name])
        return json.dumps(body, ensure_ascii=False)
    return ""


def _context(message: str) -> int | str:
    found = _CONTEXT.search(message)
    return int(next(group for group in found.groups() if group)) if found else "—"


def _setting(message: str) -> tuple[str, str]:
    """Which setting was refused, and the value it had."""
    if found := _SETTING.search(message):
        return found[1], found[2]
    field = _FIELD.search(message)
    return (field[1] if field else "—"), "—"


@cache
def _signatures() -> tuple[tuple[str, re.Pattern[str]], ...]:
    """What a running server may say to a client, in the catalogue's order."""
    return tuple(
        (fault.id, re.compile(fault.signature, re.IGNORECASE | re.MULTILINE))
        for fault in catalogue().values()
        if fault.where in ("client", "runtime") and not fault.signature.startswith("cond:")
    )


def _known(message: str) -> str | None:
    return next((key for key, signature in _signatures() if signature.search(message)), None)
