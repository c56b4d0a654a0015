"""Why a server failed: the causes in its log, the most likely first, found by the fault catalogue's signatures."""

from __future__ import annotations

import io
from collections.abc import Iterable
from pathlib import Path
from typing import BinaryIO

from launch.errors import InputError
from launch.log_search import Hit, scan

# A server's own life, as against one request or one connection to it: what ended the server outranks what a client got.
SERVER_LIFE = frozenset({"preflight", "startup", "runtime", "duplex"})
_FATAL_FIRST = {"fatal": 0, "degraded": 1, "harmless": 2}


def explain_file(path: Path) -> list[Hit]:
    """What a log holds, ranked (``rank``). Raises ``InputError`` when it cannot be read."""
    try:
        with path.open("rb") as file:
            return rank(scan(_as_utf8(file)))
    except OSError as missing:
        raise InputError("file-not-found", file=path, reason=missing.strerror or "") from missing


def explain_text(text: str) -> list[Hit]:
    """The same for a text at hand, such as the tail of a log."""
    return rank(scan(io.BytesIO(text.encode("utf-8", "replace"))))


def rank(hits: Iterable[Hit]) -> list[Hit]:
    """Causes, most likely first; symptoms only where no cause explains them; harmless noise last.

    The last run counts first. In a run, what ends a server outranks what only degrades it or what one client got, and
    of two such the earlier one is the root: what follows it is its wake.
    """
    latest: dict[str, Hit] = {}
    for hit in hits:
        if hit.fault.id not in latest or hit.run > latest[hit.fault.id].run:
            latest[hit.fault.id] = hit
    ordered = sorted(
        latest.values(),
        key=lambda hit: (
            -hit.run,
            hit.fault.where not in SERVER_LIFE,
            _FATAL_FIRST[hit.fault.severity],
            hit.line,
            -hit.matched,
        ),
    )
    real = [hit for hit in ordered if hit.fault.severity != "harmless"]
    causes = [hit for hit in real if hit.fault.role == "cause"]
    server_causes = [hit for hit in causes if hit.fault.where in SERVER_LIFE]
    symptoms = [
        hit
        for hit in real
        if hit.fault.role == "symptom" and not (server_causes if hit.fault.where in SERVER_LIFE else causes)
    ]
    # A server that died of something unknown comes before a client's mistake that is known.
    last = [hit for hit in symptoms if hit.fault.where in SERVER_LIFE]
    noise = [hit for hit in ordered if hit.fault.severity == "harmless"]
    return (
        [*last, *causes, *(hit for hit in symptoms if hit not in last), *noise]
        if last
        else [*causes, *symptoms, *noise]
    )


def _as_utf8(file: BinaryIO) -> BinaryIO:
    """PowerShell's ``>`` writes UTF-16; such a file is small enough to be converted whole."""
    head = file.read(2)
    file.seek(0)
    if head in (b"\xff\xfe", b"\xfe\xff"):
        return io.BytesIO(file.read().decode("utf-16", "replace").encode())
    return file
