"""Whose browser this is: a session cookie from the first page on, and who may use our own routes and sockets with it.

Gradio's ``auth=`` protects Gradio's routes only; ours stay open without this. The token is 32 random bytes, signed with
a secret that lives as long as the process: it is worth nothing after a restart, and nothing has to be stored. Tokens
are never logged; what the rest of the house knows is the *owner*, a hash of the token that cannot be turned back into
it.
"""

from __future__ import annotations

import hashlib
import hmac
import secrets
from collections.abc import Mapping

from starlette.datastructures import Headers, MutableHeaders
from starlette.requests import HTTPConnection
from starlette.types import ASGIApp, Message, Receive, Scope, Send

_COOKIE = "omni_session"
_SAFE_METHODS = frozenset({"GET", "HEAD", "OPTIONS"})


class Guard:
    """Issues and checks session tokens. One a process; ``secret`` only for tests.

    Browsers do not keep cookies of two ports apart, and a team forwards two servers to one laptop: each process has a
    cookie name of its own (``omni_session_<six hex digits>``).
    """

    def __init__(self, secret: bytes | None = None) -> None:
        self._secret = secret or secrets.token_bytes(32)
        self.cookie = f"{_COOKIE}_{hashlib.sha256(b'name' + self._secret).hexdigest()[:6]}"

    def issue(self) -> str:
        """A new token."""
        token = secrets.token_urlsafe(32)
        return f"{token}.{self._sign(token)}"

    def owner_of(self, cookies: Mapping[str, str]) -> str | None:
        """Who sent ``cookies`` (of a request, or ``gr.Request.cookies``); ``None`` without a token of this process."""
        token, _, signature = cookies.get(self.cookie, "").partition(".")
        if not token or not hmac.compare_digest(signature.encode(), self._sign(token).encode()):
            return None
        return hashlib.sha256(b"owner" + token.encode()).hexdigest()[:24]

    def owner(self, scope: Scope) -> str | None:
        """Who is behind an ASGI request or socket, ``None`` when nobody we know, or when another site's page sent it.

        A page of another site cannot read our answers, but it can send: so whatever may change something (every socket,
        every method but GET, HEAD and OPTIONS) must come from our own page.
        """
        headers = Headers(scope=scope)
        if (scope["type"] == "websocket" or scope["method"] not in _SAFE_METHODS) and not own_page(headers):
            return None
        return self.owner_of(HTTPConnection(scope).cookies)

    def _sign(self, token: str) -> str:
        return hmac.new(self._secret, token.encode(), hashlib.sha256).hexdigest()


def own_page(headers: Headers) -> bool:
    """Whether a page of ours sent this: its ``Origin`` is the host that was asked.

    Behind a gateway the host we see is not the one in the address bar; there the browser's own ``Sec-Fetch-Site``
    says it, or the gateway's ``X-Forwarded-Host``. No page can set either on a request to another site without our
    consent (CORS), which we never give.
    """
    origin = headers.get("origin")
    if origin is None:
        return False
    if headers.get("sec-fetch-site") == "same-origin":
        return True
    host = origin.partition("://")[2]  # compared, never used: one that is no address is no host of ours
    return host != "" and host in (headers.get("host"), headers.get("x-forwarded-host"))


class SessionCookies:
    """Pure ASGI middleware: an HTML page asked for without a valid token brings one along."""

    def __init__(self, app: ASGIApp, guard: Guard) -> None:
        self._app = app
        self._guard = guard

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] != "http" or scope["method"] != "GET" or self._guard.owner(scope) is not None:
            await self._app(scope, receive, send)
            return

        async def with_cookie(message: Message) -> None:
            if message["type"] == "http.response.start":
                headers = MutableHeaders(scope=message)
                if headers.get("content-type", "").startswith("text/html"):
                    headers.append("set-cookie", self._set_cookie(Headers(scope=scope), scope["scheme"]))
                    headers["cache-control"] = "no-store"  # a cached page would carry no cookie to the next process
            await send(message)

        await self._app(scope, receive, with_cookie)

    def _set_cookie(self, headers: Headers, scheme: str) -> str:
        secure = "; Secure" if "https" in (scheme, headers.get("x-forwarded-proto")) else ""
        return f"{self._guard.cookie}={self._guard.issue()}; Path=/; HttpOnly; SameSite=Strict{secure}"
