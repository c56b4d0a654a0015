"""``python -m launch`` as the page uses it: the same commands, read here, and carried out in a process of their own."""

from __future__ import annotations

import asyncio
import io
import json
import sys
from collections.abc import Collection, Mapping, Sequence
from contextlib import suppress
from pathlib import Path
from typing import Any

from launch import cli
from launch.commands.explain import document as explained
from launch.errors import LaunchError
from launch.explain import explain_text
from launch.faults import explain
from launch.here import Here
from launch.layouts import NAMES
from launch.log_file import LogFile
from launch.log_text import decode
from launch.output import Output
from launch.records import Records
from launch.redact import text as redacted
from launch.watch import look, proc, read_progress, settled
from ui.turn.parts import Language

_HOUSE = Path(__file__).resolve().parents[2]
_TAIL = 80  # lines of a log shown: two screens, and few enough to search at every look
Shown = dict[str, Any]


class Tool:
    """``environ``: of the app's shell; ``root``: the file system looked at; ``house``: where the launcher is (tests pass
    others). Blocks: use a thread."""

    def __init__(self, environ: Mapping[str, str], root: Path = Path("/"), *, house: Path = _HOUSE) -> None:
        self._environ = environ
        self._root = root
        self._house = house
        self._acting = asyncio.Lock()

    def read(self, language: Language, *words: object) -> Shown:
        """The JSON of a command that changes nothing (docs/launch-json.md); ``{"error": …}`` where it fails."""
        out, errors = io.StringIO(), io.StringIO()
        code = cli.main([*map(str, words), "--json", "--lang", language], self._environ, out, errors, self._root)
        return _document(out.getvalue(), language, code)

    def start_at(self, url: str) -> int | None:
        """Percent of a start of ours whose server will answer at ``url``; ``None`` when none is under way there."""
        here = self._here("en")
        record = next((record for record in self._records(here) if record.url == url and not record.stopped), None)
        server = look(record, here) if record is not None else None
        return server.percent if server is not None and server.state == "starting" else None

    def starts(self, ports: Collection[int]) -> list[Shown]:
        """How far our servers on ``ports`` have come: ``{port, stages: [{stage, phase, share, took_s}], percent}``."""
        here = self._here("en")
        shown = []
        for record in self._records(here):
            if record.port not in ports:
                continue
            alive = record.process is not None and proc(here).alive(record.process)
            held = proc(here).output(record.process.pid) if record.process is not None and alive else None
            progress = read_progress(Path(record.log), held)
            stages = [
                {"stage": stage.stage, "phase": stage.phase, "share": stage.share, "took_s": stage.took_s}
                for _, stage in sorted(progress.stages.items())
            ]
            shown.append({"port": record.port, "percent": progress.percent, "stages": stages})
        return shown

    def log(self, port: int, language: Language) -> Shown:
        """The end of the log of our server on ``port``: ``lines``, and ``marks`` with the line (from 0) each stands on."""
        here = self._here(language)
        record = next((record for record in self._records(here) if record.port == port), None)
        if record is None:
            return {"log": None, "lines": [], "marks": []}
        alive = record.process is not None and proc(here).alive(record.process)
        held = proc(here).output(record.process.pid) if record.process is not None and alive else None
        with LogFile(Path(record.log), held, _TAIL) as file:
            lines = [redacted(decode(line)) for line in file.lines()][-_TAIL:]
        hits = explained(explain_text("\n".join(lines)), language)
        marks = [{**hit, "line": int(str(hit["line"])) - 1} for hit in hits]
        return {"log": record.log, "lines": lines, "marks": marks}

    async def act(self, language: Language, *words: object) -> Shown:
        """Starts, stops or restarts, one at a time, in a process of its own: a server is no child of the page's."""
        line = [sys.executable, "-m", "launch", *map(str, words), "--json", "--lang", language]
        async with self._acting:
            process = await asyncio.create_subprocess_exec(
                *line,
                cwd=self._house,
                env=dict(self._environ),
                stdin=asyncio.subprocess.DEVNULL,
                stdout=asyncio.subprocess.PIPE,
                stderr=asyncio.subprocess.DEVNULL,
            )
            try:
                out, _ = await process.communicate()
            except asyncio.CancelledError:
                process.terminate()
                await process.wait()
                raise
        return _document(out, language, process.returncode)

    @staticmethod
    def layouts() -> Sequence[str]:
        """The names that may be started from the page. A deploy file of one's own is started from the command line."""
        return NAMES

    def _here(self, language: Language) -> Here:
        return Here(Output(language, True, io.StringIO(), io.StringIO()), self._environ, self._root)

    def _records(self, here: Here) -> list[Any]:
        return [settled(record, proc(here)) for record in Records(here.state_dir()).all()[0]]


def _document(printed: str | bytes, language: Language, code: int | None) -> Shown:
    """What a command printed. One that was killed in the middle has printed nothing, or half of it."""
    if printed:
        with suppress(ValueError):
            return json.loads(printed)
    told = explain(LaunchError("launcher-silent", code="—" if code is None else code), language)
    return {"error": {"id": told.id, "severity": told.severity, "cause": told.cause, "cure": told.cure, "detail": ""}}
