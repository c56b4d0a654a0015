"""``explain``: the causes in a server's log."""

from __future__ import annotations

import sys
from argparse import Namespace
from pathlib import Path

from launch import redact
from launch.command_line import CommandParser
from launch.explain import explain_file, rank
from launch.faults import tell
from launch.here import Here
from launch.log_search import Hit, scan


def options(parser: CommandParser) -> None:
    parser.add_argument("log", metavar="LOG|-", type=Path)


def run(args: Namespace, here: Here) -> int:
    hits = rank(scan(sys.stdin.buffer)) if str(args.log) == "-" else explain_file(args.log.expanduser())
    show(hits, here)
    here.out.json(document(hits, here.out.tongue))
    return int(any(hit.fault.severity != "harmless" for hit in hits))


def show(hits: list[Hit], here: Here) -> None:
    """Each hit with the line it stands on, its cause and its cure."""
    out = here.out
    if not hits:
        out.say("explain.nothing")
    for hit in hits:
        told = tell(hit.fault.id, {}, out.tongue)
        role = out.text("explain.symptom") if hit.fault.role == "symptom" and told.severity != "harmless" else ""
        mark = out.paint(out.text(f"severity.{told.severity}"), told.severity)
        out.line(f"{mark}  {role}{told.cause}")
        out.line("    " + out.text("findings.cure", cure=told.cure))
        out.line(
            "    " + out.paint(out.text("explain.at", line=hit.line, text=redact.text(hit.text.strip())[:300]), "dim")
        )


def document(hits: list[Hit], tongue: str) -> list[dict[str, object]]:
    """The list for ``--json``, most likely cause first."""
    told = [(hit, tell(hit.fault.id, {}, tongue)) for hit in hits]
    return [
        {
            "id": hit.fault.id,
            "role": hit.fault.role,
            "severity": hit.fault.severity,
            "line": hit.line,
            "cause": words.cause,
            "cure": words.cure,
        }
        for hit, words in told
    ]
