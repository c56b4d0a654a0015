"""``layouts``: the table of card layouts."""

from __future__ import annotations

from argparse import Namespace

from launch.cards import platform
from launch.command_line import CommandParser
from launch.here import Here
from launch.layouts import UNLIMITED, Layout, table
from launch.output import Output
from launch.server_python import find
from launch.versions import installed


def options(parser: CommandParser) -> None:
    parser.add_argument("--vllm", metavar="PATH")
    parser.add_argument("--omni", metavar="VERSION")


def run(args: Namespace, here: Here) -> int:
    found = installed(find(args.vllm, here.environ, here.root), args.omni)
    rows = table(found, platform(here.environ, here.root) or "npu")
    out = here.out
    where = found.deploy or found.line.folder
    out.say(
        "layouts.installed" if found.deploy else "layouts.assumed",
        version=found.version or found.line.name,
        folder=where,
    )
    out.table(
        [
            out.text(f"layouts.{head}")
            for head in ("name", "cards", "stages", "mode", "images", "audios", "sequences", "sessions", "file")
        ],
        [_row(out, row) for row in rows],
    )
    out.say("layouts.cards_are_dies")
    out.json({"version": found.version, "line": found.line.name, "deploy": found.deploy, "layouts": rows})
    return 0


def _row(out: Output, row: Layout) -> list[object]:
    placed = " ".join(f"{out.text('stage.' + stage.name)}:{','.join(map(str, stage.cards))}" for stage in row.stages)
    limits = row.limits
    counts = [
        out.text("layouts.unlimited") if count >= UNLIMITED else count for count in (limits.images, limits.audios)
    ]
    file = "" if row.file is None else out.text("layouts.missing", file=row.missing) if row.missing else row.file
    return [
        row.name,
        row.cards,
        placed or "—",
        out.text(f"layouts.{row.session_mode}"),
        *counts,
        limits.sequences,
        limits.sessions or "—",
        file,
    ]
