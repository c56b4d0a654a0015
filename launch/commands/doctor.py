"""``doctor``: what is missing on this machine before a start."""

from __future__ import annotations

from argparse import Namespace
from dataclasses import asdict

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
    parser.add_argument("--model", metavar="DIR")
    parser.add_argument("--host", default="127.0.0.1")
    parser.add_argument("--port", metavar="N", type=whole(1, 65_535), default=PORT)
    parser.add_argument("--vllm", metavar="PATH")


def run(args: Namespace, here: Here) -> int:
    found = installed(find(args.vllm, here.environ, here.root))
    wanted = layout(args.layout, found)
    seen = check(here, wanted, found, args.model, args.port, args.host)
    _show(seen, here.out)
    here.out.json({**asdict(seen), "layout": wanted.name, "findings": here.out.told(seen.findings)})
    return exit_code(seen.findings)


def _show(seen: Checkup, out: Output) -> None:
    rows = [
        (
            card.card,
            card.name,
            out.paint(card.health, "good" if card.health == "OK" else "degraded" if card.usable else "fatal"),
            f"{card.used_mb}/{total} MB",
            ", ".join(f"{holder.name} {holder.pid}" for holder in card.holders),
        )
        for card, total in (
            *((die, die.hbm_total_mb) for die in seen.dies),
            *((card, card.total_mb) for card in seen.gpus),
        )
    ]
    if rows:
        out.table([out.text(f"doctor.{name}") for name in ("card", "name", "health", "memory", "held")], rows)
    if seen.versions:
        out.line("  ".join(f"{name} {version}" for name, version in seen.versions.items()))
    out.say("doctor.inside" if seen.inside else "doctor.host")
    for server in seen.running:
        out.say("doctor.ours", port=server.port, pid=server.pid, layout=server.layout, down=server.down)
    out.findings(seen.findings)
    if not seen.findings:
        out.say("doctor.well")
