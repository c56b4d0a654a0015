"""``down``: stop servers and give their cards back."""

from __future__ import annotations

from argparse import Namespace
from dataclasses import asdict

from launch.choosing import chosen
from launch.command_line import CommandParser, whole
from launch.findings import Finding
from launch.here import Here
from launch.output import Output
from launch.records import Record, Records
from launch.stopping import PATIENCE_S, Stopped, stop, stop_strangers
from launch.watch import look_around


def options(parser: CommandParser) -> None:
    parser.add_argument("--port", type=whole(1, 65535))
    parser.add_argument("--all", action="store_true")
    parser.add_argument("--foreign", action="store_true")
    parser.add_argument("--timeout", metavar="S", default=int(PATIENCE_S), type=whole(1))


def run(args: Namespace, here: Here) -> int:
    out = here.out
    done: list[tuple[int, Stopped]] = []
    for record in _meant(args, here):
        out.say("down.stopping", port=record.port)
        done.append((record.port, stop(record, here, args.timeout)))
        tell(done[-1][1], out)
    if args.foreign:
        done += _foreign(args, here)
    if not done:
        out.say("down.none")
    held = {card: mb for _, stopped in done for card, mb in stopped.held_mb.items()}
    findings = [Finding("card-memory-held", {"cards": ", ".join(f"{card}: {mb} MB" for card, mb in held.items())})]
    findings = findings if held else []
    out.findings(findings)
    out.json({"stopped": [{"port": port, **asdict(stopped)} for port, stopped in done], "findings": out.told(findings)})
    return int(bool(held))


def _meant(args: Namespace, here: Here) -> list[Record]:
    if args.all:
        return [record for record in Records(here.state_dir()).all()[0] if not record.stopped]
    if args.foreign and args.port is None:
        return []
    record = chosen(args.port, here)
    return [record] if record else []


def _foreign(args: Namespace, here: Here) -> list[tuple[int, Stopped]]:
    """Servers that another hand started (``--port``: only that one), and stages without a server."""
    sight = look_around(here)
    done: list[tuple[int, Stopped]] = []
    for server in sight.servers:
        if not server.ours and server.pid is not None and args.port in (None, server.port):
            here.out.say("down.stopping", port=server.port)
            done.append((server.port, stop_strangers([server.pid], here, args.timeout)))
            tell(done[-1][1], here.out)
    if sight.orphans and args.port is None:
        here.out.say("down.orphans", pids=", ".join(map(str, sight.orphans)))
        done.append((0, stop_strangers(sight.orphans, here, args.timeout)))
        tell(done[-1][1], here.out)
    return done


def tell(stopped: Stopped, out: Output) -> None:
    """How a stop went."""
    out.say("down.done", count=len(stopped.ended), seconds=f"{stopped.took_s:.1f}")
    if stopped.killed:
        out.say("down.killed", pids=", ".join(map(str, stopped.killed)))
    if stopped.freed_mb and not stopped.held_mb:
        out.say("down.freed", cards=", ".join(f"{card}: {mb} MB" for card, mb in stopped.freed_mb.items()))
