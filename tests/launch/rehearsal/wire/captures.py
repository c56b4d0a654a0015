"""Real traffic of vLLM-Omni 0.26.0 and 0.30.0, read from its files: what was asked and what came back."""

from __future__ import annotations

import json
from dataclasses import dataclass
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parents[4]
COPIES = ROOT / "tests" / "data" / "wire"
SHARED = ROOT.parent / "shared" / "reference"
FOLDERS = {"0.26": SHARED / "wire", "0.30": SHARED / "wire30"}
REAL_MODEL = "openbmb/MiniCPM-o-4_5"


@dataclass(frozen=True)
class Capture:
    """``sent``: the request's body, "" for a GET. ``headers``: lower-case; empty where only the status was kept."""

    method: str
    path: str
    sent: str
    status: int
    headers: dict[str, str]
    body: str


def read(file: Path) -> Capture:
    """A file begins with "# GET path", "# POST [path] body", or a name when the body was not kept."""
    asked, _, answer = file.read_text(encoding="utf-8", errors="replace").partition("\n")
    method, _, rest = asked.removeprefix("# ").partition(" ")
    if method == "GET":
        path, sent = rest, ""
    elif method == "POST":
        path, sent = rest.split(" ", 1) if rest.startswith("/") else ("/v1/chat/completions", rest)
    else:
        method, path, sent = "POST", "/v1/chat/completions", ""
    if not answer.startswith("HTTP/"):
        status, _, body = answer.partition("\n")
        return Capture(method, path, sent, int(status), {}, body.strip())
    head, _, body = answer.partition("\n\n")
    first, *lines = head.splitlines()
    headers = {name.lower(): value for name, _, value in (line.partition(": ") for line in lines)}
    return Capture(method, path, sent, int(first.split()[1]), headers, body.strip())


def objects(body: str) -> list[Any]:
    """The JSON objects of an answer: its events when it is a stream (``[DONE]`` as that word), else the one object."""
    if not body.startswith("data: "):
        return [json.loads(body)]
    events = [line.removeprefix("data: ") for line in body.splitlines() if line]
    return [event if event == "[DONE]" else json.loads(event) for event in events]


VERBATIM = {
    "object",
    "modality",
    "finish_reason",
    "role",
    "index",
    "type",
    "code",
    "format",
    "sample_rate_hz",
    "version",
}
"""Keys whose value is part of the wire's shape."""


def shape(value: Any, key: str = "") -> Any:
    """Keys in their order, and types in place of values, but for keys whose values matter."""
    if isinstance(value, dict):
        return [(name, shape(inside, name)) for name, inside in value.items()]
    if isinstance(value, list):
        return [shape(inside) for inside in value]
    return value if key in VERBATIM or value is None else type(value).__name__


def shapes(body: str) -> list[Any]:
    """The shapes of an answer's objects; a run of equal ones counts once, since its length is the model's affair."""
    found: list[Any] = []
    for one in objects(body):
        if (form := shape(one)) not in found[-1:]:
            found.append(form)
    return found
