"""``restart``: stop a server and start it the same way."""

from __future__ import annotations

from argparse import BooleanOptionalAction, Namespace

from launch import supervise
from launch.choosing import chosen
from launch.command import plan
from launch.command_line import CommandParser, whole
from launch.commands.down import tell
from launch.commands.up import document, show
from launch.errors import LaunchError
from launch.here import Here
from launch.stopping import stop


def options(parser: CommandParser) -> None:
    parser.add_argument("--port", type=whole(1, 65535))
    parser.add_argument("--wait", action=BooleanOptionalAction, default=True)


def run(args: Namespace, here: Here) -> int:
    record = chosen(args.port, here, stopped=True)
    if record is None:
        raise LaunchError("no-server", where="" if args.port is None else f" ({args.port})")
    # Planned first: what cannot be started again is not stopped.
    start = plan(supervise.asked(record, here.environ), here)
    if start.blocked:
        show(start, here)
        here.out.json(document(start, here))
        return 1
    here.out.say("down.stopping", port=record.port)
    tell(stop(record, here), here.out)
    return supervise.start(start, here, wait=args.wait)
