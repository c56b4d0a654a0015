"""``doctor``: what is missing on this machine before a start."""

from __future__ import annotations

from argparse import Namespace
from dataclasses import asdict
from pathlib import Path

from launch.command import PORT
from launch.command_line import CommandParser, whole
from launch.doctor import Checkup, check
from launch.findings import exit_code
from launch.here import Here
from launch.layouts import layout
from launch.output import Output
from launch.server_python import find
from launch.versions import installed


def options(parser: CommandParser) -> None:
    parser.add_argument("--layout", metavar="NAME|FILE", default="1card")
    parser.add_argument("--model", metavar="DIR", type=Path)
    parser.add_argument("--port", metavar="N", type=whole(1, 65_535), default=PORT)
    parser.add_argument("--vllm", metavar="PATH")


def run(args: Namespace, here: Here) -> int:
    program = find(args.vllm, here.environ, here.root)
    wanted = layout(args.layout, installed(program))
    model = args.model.expanduser().absolute() if args.model else None
    seen = check(here, wanted, program, model, args.port)
    _show(seen, here.out)
    here.out.json({**asdict(seen), "layout": wanted.name, "findings": here.out.told(seen.findings)})
    return exit_code(seen.findings)


def _show(seen: Checkup, out: Output) -> None:
    if seen.dies:
        heads = [out.text(f"doctor.{name}") for name in ("card", "name", "health", "memory", "held")]
        rows = [
            (
                die.card,
                die.name,
                out.paint(die.health, "good" if die.health == "OK" else "degraded" if die.usable else "fatal"),
                f"{die.hbm_used_mb}/{die.hbm_total_mb} MB",
                ", ".join(f"{holder.name} {holder.pid}" for holder in die.holders),
            )
            for die in seen.dies
        ]
        out.table(heads, rows)
    out.say("doctor.inside" if seen.inside else "doctor.host")
    out.findings(seen.findings)
    if not seen.findings:
        out.say("doctor.well")
