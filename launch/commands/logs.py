"""``logs``: a server's log, followed if wanted, one stage of it if wanted."""

from __future__ import annotations

import time
from argparse import Namespace
from pathlib import Path

from launch import redact
from launch.choosing import chosen
from launch.command_line import CommandParser, whole
from launch.errors import LaunchError
from launch.here import Here
from launch.log_file import LogFile
from launch.log_text import decode
from launch.progress import Progress
from launch.records import Record
from launch.watch import proc, settled

_TICK_S = 0.3  # between looks at a log that is followed: at once for the eye, nothing for the processor
LAST = 200  # lines, without -f as with it: two screens


def options(parser: CommandParser) -> None:
    parser.add_argument("-f", "--follow", action="store_true")
    parser.add_argument("--stage", metavar="N", type=whole(0, 9))
    parser.add_argument("--port", type=whole(1, 65535))
    parser.add_argument("--lines", metavar="N", default=LAST, type=whole(1))


def run(args: Namespace, here: Here) -> int:
    record = chosen(args.port, here, stopped=True)
    if record is None:
        raise LaunchError("no-server", where="" if args.port is None else f" ({args.port})")
    table = proc(here)
    record = settled(record, table)
    alive = record.process is not None and table.alive(record.process)
    held = table.output(record.process.pid) if record.process and alive else None
    path = Path(record.log)
    if held is None and not path.is_file():
        raise LaunchError("log-gone", file=path)
    if held is not None and not path.is_file():
        here.out.complain(here.out.text("logs.held", file=path))
    # A worker's stage is known by what stood before, so one stage's lines need the log from its beginning.
    with LogFile(path, held, None if args.stage is not None else args.lines) as log:
        shown = _select(log.lines(), Progress(), args.stage)[-args.lines :]
        if not (args.follow and not here.out.as_json):
            _print(shown, here)
            here.out.json({"log": record.log, "lines": [redact.text(line) for line in shown]})
            return 0
        _print(shown, here)
        return _follow(log, record, args.stage, here)


def _follow(log: LogFile, record: Record, stage: int | None, here: Here) -> int:
    """Until the server is gone; Ctrl-C ends it before."""
    table, progress = proc(here), Progress()
    while True:
        alive = record.process is not None and table.alive(record.process)
        _print(_select(log.lines(), progress, stage), here)
        if not alive:
            here.out.complain(here.out.text("logs.ended"))
            return 0
        time.sleep(_TICK_S)


def _select(lines: list[bytes], progress: Progress, stage: int | None) -> list[str]:
    texts = [decode(line) for line in lines]
    return [text for text in texts if progress.feed(text) == stage or stage is None]


def _print(lines: list[str], here: Here) -> None:
    for line in lines:
        here.out.line(redact.text(line))
