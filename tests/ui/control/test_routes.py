"""The Server tab's routes: who may ask what, and a start, its progress and its stop by way of them alone."""

from __future__ import annotations

import os
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from fastapi import FastAPI
from fastapi.testclient import TestClient

from app import options
from tests.launch.running import Box, box, free_port, until
from ui.control.routes import Why, router
from ui.control.switch import why_not
from ui.control.tool import Tool
from ui.guard import Guard

HOME = "http://127.0.0.1"


@pytest.fixture
def machine(tmp_path: Path) -> Iterator[Box]:
    with box(tmp_path) as one:
        one.path = f"{one.vllm.parent}:/usr/bin:/bin"
        yield one


def page(machine: Box, *, off: Why | None = None, home: str = HOME, origin: str | None = None) -> TestClient:
    guard = Guard()
    app = FastAPI()
    app.include_router(router(Tool(machine.shell(), machine.root), guard, off, None))
    client = TestClient(app, base_url=home, headers={"origin": origin or home})
    client.cookies.set(guard.cookie, guard.issue())
    return client


def wish(machine: Box, **other: Any) -> dict[str, Any]:
    return {"layout": "1card", "model": str(machine.root / "model"), "port": machine.port, **other}


@pytest.mark.parametrize("way", ["plan", "start", "stop", "restart"])
@pytest.mark.parametrize(
    "setting",
    [{"off": "asked"}, {"off": "wide"}, {"home": "http://box.example"}, {"origin": "http://elsewhere.example"}],
)
def test_refused(machine: Box, way: str, setting: dict[str, Any]) -> None:
    assert page(machine, **setting).post(f"/control/{way}", json=wish(machine)).status_code == 403
    assert machine.ours() == []


def test_a_stranger_sees_nothing(machine: Box) -> None:
    client = page(machine)
    client.cookies.clear()
    for way in ("", "/status", f"/log?port={machine.port}", "/doctor"):
        assert client.get(f"/control{way}").status_code == 403


@pytest.mark.parametrize(
    "other",
    [
        {"layout": "/etc/passwd"},
        {"layout": "--help"},
        {"model": "model"},
        {"model": "/etc/passwd"},
        {"model": "/" + "a" * 399},
        {"model": "/\0"},
        {"cards": "--help"},
    ],
)
def test_no_path_goes_unchecked(machine: Box, other: dict[str, Any]) -> None:
    assert page(machine).post("/control/start", json=wish(machine, **other)).status_code == 422


@pytest.mark.parametrize("host", ["[", "[x]:1", "", "127.0.0.1.box.example"])
def test_a_host_that_is_no_address_is_a_name(machine: Box, host: str) -> None:
    client = page(machine)
    told = client.get("/control", headers={"host": host})
    assert told.json()["why_not"] == "name"
    headers = {"host": host, "origin": f"http://{host}"}
    assert client.post("/control/start", json=wish(machine), headers=headers).status_code == 403
    assert machine.ours() == []


@pytest.mark.parametrize("printed", ["", '{"stopped": ['])
async def test_a_launcher_that_dies_in_the_middle_is_told(tmp_path: Path, printed: str) -> None:
    (tmp_path / "launch").mkdir()
    (tmp_path / "launch" / "__main__.py").write_text(f"print({printed!r}, end='', flush=True)\nraise SystemExit(9)")
    told = await Tool(os.environ, house=tmp_path).act("en", "down", "--port", 1)
    assert told["error"]["id"] == "launcher-silent"
    assert "9" in told["error"]["cause"] + told["error"]["cure"]


def test_only_logs_of_our_servers_are_read(machine: Box) -> None:
    assert page(machine).get(f"/control/log?port={free_port()}").json() == {"log": None, "lines": [], "marks": []}


def test_start_progress_stop(machine: Box) -> None:
    client = page(machine)

    def ours() -> list[dict[str, Any]]:
        return [one for one in client.get("/control/status").json()["servers"] if one["ours"]]

    begun = client.post("/control/start", json=wish(machine))
    assert begun.status_code == 200, begun.text
    until(lambda: [one["state"] for one in ours()] == ["ready"])
    (start,) = client.get("/control/status").json()["starts"]
    assert start["port"] == machine.port
    assert [stage["stage"] for stage in start["stages"]] == [0, 1, 2]
    assert client.get(f"/control/log?port={machine.port}").json()["lines"]
    client.post("/control/stop", json={"port": machine.port})
    until(lambda: not machine.living())


@pytest.mark.parametrize(
    ("host", "control", "why"),
    [
        ("127.0.0.1", None, None),
        ("localhost", None, None),
        ("0.0.0.0", None, "wide"),
        ("0.0.0.0", True, None),
        ("127.0.0.1", False, "asked"),
    ],
)
def test_switch(tmp_path: Path, host: str, control: bool | None, why: Why | None) -> None:
    assert why_not(replace(options([], {}, tmp_path), host=host, control=control)) == why
