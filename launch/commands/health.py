"""``health``: whether a server really answers."""

from __future__ import annotations

from argparse import Namespace
from dataclasses import asdict
from pathlib import Path

from launch.choosing import chosen
from launch.command import PORT, read_key
from launch.command_line import CommandParser
from launch.errors import InputError
from launch.findings import exit_code
from launch.health import Health, check
from launch.here import Here
from launch.layouts import layout
from launch.output import Output
from launch.records import Record, Records
from launch.server_python import find
from launch.versions import installed


def options(parser: CommandParser) -> None:
    parser.add_argument("--server", metavar="URL")
    parser.add_argument("--api-key-file", metavar="FILE")


def run(args: Namespace, here: Here) -> int:
    record = _of(args.server, here) if args.server else chosen(None, here)
    url = args.server or (record.url if record else f"http://127.0.0.1:{PORT}")
    file = args.api_key_file or (record.request.get("api_key_file") if record else None)
    health = check(url, read_key(str(Path(file).expanduser())) if file else None, _duplex_layout(record, here))
    show(health, here.out)
    here.out.json({**asdict(health), "findings": here.out.told(health.findings)})
    return exit_code(health.findings)


def _of(url: str, here: Here) -> Record | None:
    """The start of ours that answers at an address, when it is one."""
    return next((record for record in Records(here.state_dir()).all()[0] if record.url == url.rstrip("/")), None)


def _duplex_layout(record: Record | None, here: Here) -> str | None:
    """The layout a server of ours was started with, when that is one for live conversations."""
    if record is None or record.stopped:
        return None
    found = installed(find(record.request.get("vllm"), here.environ, here.root))
    try:
        return record.layout if layout(record.layout, found).session_mode == "duplex" else None
    except InputError:  # its file is gone; what it said is not known any more
        return None


def show(health: Health, out: Output) -> None:
    """What was asked and what came, in words."""
    out.line(health.url)
    rows = []
    if health.reached:
        word = out.paint(
            out.text("health.good" if health.healthy else "health.bad"), "good" if health.healthy else "fatal"
        )
        rows.append(("health.health", f"{word}  {health.latency_ms.get('health', 0):.0f} ms"))
    if health.models:
        rows.append(("health.models", ", ".join(health.models)))
    if health.wire:
        rows.append(("health.wire", out.text("health.line_030" if health.wire == "0.30" else "health.line_026")))
    if health.speech and health.speech.seconds:
        said = health.speech
        rows.append(
            (
                "health.speech",
                out.text(
                    "health.spoken",
                    text=said.text,
                    seconds=said.seconds,
                    rate=said.rate_hz,
                    peak=said.peak_dbfs,
                    first=f"{(said.first_audio_ms or 0) / 1000:.2f}",
                    total=f"{(said.total_ms or 0) / 1000:.2f}",
                ),
            )
        )
    if health.duplex:
        took = f"  {health.duplex.open_ms:.0f} ms" if health.duplex.open_ms is not None else ""
        rows.append(("health.duplex", out.text(f"health.duplex_{health.duplex.state}") + took))
    out.table((), [(out.text(key), words) for key, words in rows], indent="    ")
    out.findings(health.findings)
    if not health.findings:
        out.line("    " + out.paint(out.text("health.well"), "good"))
