"""Whether a forwarded address carries what the page needs: the page, a WebSocket, and an answer that streams."""

from __future__ import annotations

import uuid
from contextlib import suppress
from dataclasses import dataclass
from typing import Literal
from urllib.parse import urlsplit

import httpx
from websockets.exceptions import ConnectionClosed, InvalidHandshake, InvalidMessage
from websockets.sync.client import connect

from launch.findings import Finding

State = Literal["good", "broken", "not-asked"]
_PATIENCE_S = 8.0  # a first beat comes at once; a tunnel round the world takes a second or two
# Our page accepts a socket for a turn nobody has and closes it with its own number: so it was reached.
_OURS = range(4400, 4500)


@dataclass(frozen=True)
class ForwardCheck:
    """Each part as it was found. ``socket`` and ``stream`` are "not-asked" when the page did not come."""

    url: str
    page: State
    socket: State = "not-asked"
    stream: State = "not-asked"
    findings: tuple[Finding, ...] = ()


def check_forward(url: str) -> ForwardCheck:
    """Ask the page behind ``url`` (``http://127.0.0.1:7862``, a gateway's ``/proxy/7862/`` too)."""
    url = url.rstrip("/")
    if urlsplit(url).scheme not in ("http", "https"):
        return ForwardCheck(url, "broken", findings=(Finding("forward-address", {"url": url}),))
    with httpx.Client(timeout=_PATIENCE_S, trust_env=False, follow_redirects=True) as client:
        problem = _page(client, url)
        if problem is not None:
            return ForwardCheck(url, "broken", findings=(problem,))
        stream, socket = _stream(client, url), _socket(url, client)
    findings = tuple(finding for finding in (stream, socket) if finding is not None)
    return ForwardCheck(url, "good", _state(socket), _state(stream), findings)


def _state(problem: Finding | None) -> State:
    return "good" if problem is None else "broken"


def _page(client: httpx.Client, url: str) -> Finding | None:
    try:
        answer = client.get(url + "/")
    except httpx.InvalidURL:
        return Finding("forward-address", {"url": url})
    except httpx.HTTPError as broken:
        return Finding("forward-no-page", {"url": url, "seen": str(broken) or "time-out"})
    if answer.is_success and "gradio" in answer.text:
        return None
    kind = answer.headers.get("content-type", "").partition(";")[0]
    return Finding("forward-other-page", {"url": url, "seen": f"HTTP {answer.status_code} {kind}".strip()})


def _stream(client: httpx.Client, url: str) -> Finding | None:
    """Gradio's heartbeat: it never ends and its first line comes at once, unless somebody between collects it."""
    try:
        with client.stream("GET", f"{url}/gradio_api/heartbeat/{uuid.uuid4().hex}") as answer:
            seen = f"HTTP {answer.status_code}"
            if answer.is_success and "ALIVE" in next(answer.iter_text(), ""):
                return None
    except httpx.HTTPError as broken:
        seen = str(broken) or "time-out"
    return Finding("forward-no-stream", {"url": url, "seen": seen})


def _socket(url: str, client: httpx.Client) -> Finding | None:
    cookies = "; ".join(f"{cookie.name}={cookie.value}" for cookie in client.cookies.jar)
    headers = {"Cookie": cookies} if cookies else {}
    address = f"ws{url.removeprefix('http')}/turns/{uuid.uuid4().hex}/speech"
    place = urlsplit(url)
    try:
        with connect(
            address,
            origin=f"{place.scheme}://{place.netloc}",  # type: ignore[arg-type]  # a NewType of str
            additional_headers=headers,
            proxy=None,
            open_timeout=_PATIENCE_S,
            close_timeout=1,
        ) as socket:
            with suppress(ConnectionClosed):  # by the page, as it should be
                socket.recv(timeout=_PATIENCE_S)
            if socket.close_code in _OURS:
                return None
            seen = f"close {socket.close_code}"
    except (InvalidHandshake, InvalidMessage, OSError) as broken:
        seen = str(broken)
    return Finding("forward-no-socket", {"url": url, "seen": seen})
