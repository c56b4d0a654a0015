"""The session token: who gets one, what it opens, and what does not."""

from __future__ import annotations

from typing import Any

import pytest
from starlette.applications import Starlette
from starlette.requests import Request
from starlette.responses import HTMLResponse, JSONResponse, PlainTextResponse
from starlette.routing import Route
from starlette.testclient import TestClient

from ui.guard import Guard, SessionCookies


def scope(
    guard: Guard, kind: str = "http", method: str = "GET", token: str | None = None, **headers: str
) -> dict[str, Any]:
    token = guard.issue() if token is None else token
    raw = {"host": "127.0.0.1:7862", "cookie": f"other=1; {guard.cookie}={token}"} | headers
    return {
        "type": kind,
        "method": method,
        "headers": [(name.replace("_", "-").encode(), value.encode()) for name, value in raw.items()],
    }


def test_a_token_of_ours_names_an_owner_and_never_itself() -> None:
    guard = Guard()
    token = guard.issue()
    owner = guard.owner_of({guard.cookie: token})
    assert owner is not None
    assert owner == guard.owner(scope(guard, token=token))
    assert owner not in token
    assert token.split(".")[0] not in owner
    assert guard.owner_of({guard.cookie: guard.issue()}) != owner


@pytest.mark.parametrize(
    "spoil", [lambda t: "", lambda t: t[:-1], lambda t: "x" + t, lambda t: t.split(".")[0], lambda t: "."]
)
def test_a_spoilt_token_is_nobodys(spoil: Any) -> None:
    guard = Guard()
    assert guard.owner_of({guard.cookie: spoil(guard.issue())}) is None
    assert guard.owner_of({}) is None


def test_another_process_knows_no_token_of_this_one_and_uses_another_cookie() -> None:
    ours, theirs = Guard(), Guard()
    assert theirs.owner_of({theirs.cookie: ours.issue()}) is None
    assert ours.cookie != theirs.cookie
    assert ours.cookie.startswith("omni_session")


@pytest.mark.parametrize(
    ("kind", "method", "headers", "allowed"),
    [
        ("http", "GET", {}, True),
        ("http", "POST", {}, False),
        ("http", "POST", {"origin": "http://127.0.0.1:7862"}, True),
        ("http", "POST", {"origin": "http://127.0.0.1:7863"}, False),
        ("http", "POST", {"origin": "null"}, False),
        ("http", "POST", {"origin": "http://["}, False),
        ("websocket", "", {"origin": "http://[", "host": "["}, True),
        ("websocket", "", {"origin": "http://", "host": ""}, False),
        ("http", "DELETE", {"origin": "https://elsewhere.example"}, False),
        ("websocket", "", {}, False),
        ("websocket", "", {"origin": "http://127.0.0.1:7862"}, True),
        ("websocket", "", {"origin": "http://elsewhere.example"}, False),
        ("websocket", "", {"origin": "https://ide.example", "x_forwarded_host": "ide.example"}, True),
        ("http", "POST", {"origin": "https://ide.example", "sec_fetch_site": "same-origin"}, True),
        ("http", "POST", {"origin": "https://ide.example", "sec_fetch_site": "cross-site"}, False),
    ],
)
def test_what_changes_something_must_come_from_our_own_page(
    kind: str, method: str, headers: dict[str, str], allowed: bool
) -> None:
    guard = Guard()
    assert (guard.owner(scope(guard, kind, method, **headers)) is not None) is allowed


def site(guard: Guard) -> TestClient:
    async def page(request: Request) -> HTMLResponse:
        return HTMLResponse("<p>page")

    async def data(request: Request) -> JSONResponse:
        return JSONResponse({"owner": guard.owner(request.scope)})

    async def text(request: Request) -> PlainTextResponse:
        return PlainTextResponse("plain")

    app = Starlette(routes=[Route("/", page), Route("/data", data), Route("/text", text)])
    return TestClient(SessionCookies(app, guard))


def test_the_page_brings_a_token_once_and_nothing_else_does() -> None:
    guard = Guard()
    client = site(guard)
    assert "set-cookie" not in client.get("/text").headers
    assert client.get("/data").json() == {"owner": None}
    cookie = client.get("/").headers["set-cookie"]
    assert cookie.startswith(guard.cookie + "=")
    assert {"HttpOnly", "SameSite=Strict", "Path=/"} <= set(cookie.split("; "))
    assert "Secure" not in cookie
    owner = client.get("/data").json()["owner"]
    assert owner is not None
    assert "set-cookie" not in client.get("/").headers, "a visitor keeps the token they have"
    assert client.get("/data").json()["owner"] == owner


def test_behind_tls_the_cookie_is_secure() -> None:
    client = site(Guard())
    assert "Secure" in client.get("/", headers={"x-forwarded-proto": "https"}).headers["set-cookie"]


def test_other_programs_odd_cookies_do_not_hide_ours() -> None:
    guard = Guard()
    token = guard.issue()
    odd = scope(guard, cookie=f'junk={{"a": 1, "b"}}; =; broken; {guard.cookie}={token}')
    assert guard.owner(odd) == guard.owner_of({guard.cookie: token})
