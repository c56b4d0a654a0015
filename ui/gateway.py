"""The page's first words: a middleware that puts our own head into Gradio's HTML, before its bundle loads.

Gradio appends ``head=`` only after its bundle has booted, too late for the language and for the style of the first paint.
This inserts it into the served document, and takes out Gradio's social-media tags, which name outside addresses.
"""

from __future__ import annotations

import gzip
import re

from starlette.datastructures import Headers, MutableHeaders
from starlette.types import ASGIApp, Message, Receive, Scope, Send

_SOCIAL = re.compile(r'\s*<meta\s+(?:property="og:|name="twitter:)[^>]*>')
# A comment in Gradio's index.html may name a web page; it is no request, but the page should hold no outside address at all.


class Gateway:
    """ASGI middleware. ``head``: HTML for the start of ``<head>`` of the page at ``/``; everything else passes untouched."""

    def __init__(self, app: ASGIApp, *, head: str) -> None:
        self.app = app
        self.head = head

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] != "http" or scope["path"] != "/" or scope["method"] != "GET":
            await self.app(scope, receive, send)
            return
        packed = "gzip" in Headers(scope=scope).get("accept-encoding", "")
        # The page must reach us unpacked.
        plain = dict(scope, headers=[(k, v) for k, v in scope["headers"] if k != b"accept-encoding"])
        await self.app(plain, receive, _Page(send, self.head, packed))


class _Page:
    """Collects one HTML answer and sends it with the head put in; passes any other kind of answer through."""

    def __init__(self, send: Send, head: str, packed: bool) -> None:
        self._send = send
        self._head = head
        self._packed = packed
        self._start: Message | None = None
        self._body = bytearray()

    async def __call__(self, message: Message) -> None:
        if message["type"] == "http.response.start" and "text/html" in Headers(raw=message["headers"]).get(
            "content-type", ""
        ):
            self._start = message
            return
        if self._start is None or message["type"] != "http.response.body":
            await self._send(message)
            return
        self._body += message.get("body", b"")
        if not message.get("more_body", False):
            await self._finish(self._start)

    async def _finish(self, start: Message) -> None:
        html = _SOCIAL.sub("", self._body.decode("utf-8"))
        body = html.replace('<meta charset="utf-8" />', '<meta charset="utf-8" />' + self._head, 1).encode("utf-8")
        headers = MutableHeaders(raw=list(start["headers"]))
        if self._packed:
            body = gzip.compress(body, compresslevel=6)
            headers["content-encoding"] = "gzip"
        headers["content-length"] = str(len(body))
        headers["vary"] = "Accept-Encoding"
        # The page names its own assets and texts; a stale copy of it after an update would not fit them.
        headers["cache-control"] = "no-cache"
        await self._send({**start, "headers": headers.raw})
        await self._send({"type": "http.response.body", "body": body})
