"""`make real`: the turn client against a real server at OMNI_REAL (its base URL); the lines printed are the report."""

from __future__ import annotations

import os
import time
from collections.abc import AsyncIterator, Callable

import pytest

from ui.turn.client import ServerClient
from ui.turn.request import Request
from ui.turn.turn import Turn

Say = Callable[[str], None]


@pytest.fixture(scope="session")
def base_url() -> str:
    """Where the server is."""
    url = os.environ.get("OMNI_REAL", "")
    assert url, "set OMNI_REAL to the base URL of a running vLLM-Omni server, such as http://127.0.0.1:8091"
    return url


@pytest.fixture
async def client(base_url: str) -> AsyncIterator[ServerClient]:
    client = ServerClient(base_url)
    yield client
    await client.close()


@pytest.fixture
def say(request: pytest.FixtureRequest) -> Say:
    """Prints one line of the report under the name of the test."""
    began = time.monotonic()
    name = request.node.name.removeprefix("test_").replace("_", " ")

    def line(what: str) -> None:
        print(f"\n  {name:<44} {time.monotonic() - began:6.1f} s   {what}", end="", flush=True)

    return line


async def ask(client: ServerClient, request: Request) -> Turn:
    """A whole turn."""
    turn = Turn(request, "real")
    await turn.run(client)
    return turn


def figures(turn: Turn) -> str:
    """The figures of a turn in one line."""
    known = {name: value for name, value in turn.figures.as_dict().items() if value is not None}
    said = turn.text if len(turn.text) <= 40 else f"{turn.text[:40]}…"
    return f"{said!r} " + " ".join(f"{name} {value:.3g}" for name, value in known.items())
