"""``forward``: the page of the NPU box in the browser of one's own computer."""

from __future__ import annotations

from argparse import Namespace
from dataclasses import asdict

from launch.command_line import CommandParser, whole
from launch.errors import InputError
from launch.findings import exit_code
from launch.forward import ALIAS, Forward, forward
from launch.here import Here
from launch.output import Output, launch_line

_PAGE_PORT = 7862  # where app.py listens
# What to know, in the order in which one meets it.
_NOTES = ("open", "works", "gateway", "microphone", "token", "busy")


def options(parser: CommandParser) -> None:
    parser.add_argument("--target", metavar="U@H")
    parser.add_argument("--jump", metavar="U@H:P")
    parser.add_argument("--port", metavar="N", type=whole(1, 65_535), action="append", default=[])
    parser.add_argument("--check", metavar="URL")


def run(args: Namespace, here: Here) -> int:
    if args.check:
        return _check(args.check, here.out)
    if not args.target:
        raise InputError("forward-target-needed")
    tunnel = forward(args.target, args.jump, [int(port) for port in args.port] or [_PAGE_PORT])
    notes = {name: _note(here.out, name, tunnel) for name in _NOTES}
    _show(tunnel, notes, here.out)
    shape = {"openssh": tunnel.openssh, "powershell": tunnel.powershell, "config": tunnel.config, "urls": tunnel.urls}
    here.out.json({**shape, "notes": notes})
    return 0


def _show(tunnel: Forward, notes: dict[str, str], out: Output) -> None:
    for key, words in (("openssh", tunnel.openssh), ("powershell", tunnel.powershell), ("config", tunnel.config)):
        out.line(out.paint(out.text(f"forward.{key}", alias=ALIAS), "strong"))
        for line in words.splitlines():
            out.line("  " + line)
        out.line()
    for words in notes.values():
        out.line("- " + words)


def _note(out: Output, name: str, tunnel: Forward) -> str:
    check = launch_line("forward", "--check", tunnel.urls[0])
    return out.text(f"forward.{name}", urls=" ".join(tunnel.urls), check=check, port=tunnel.ports[0])


def _check(url: str, out: Output) -> int:
    from launch.forward_check import check_forward  # brings httpx along; the guide itself needs none

    found = check_forward(url)
    styles = {"good": "good", "broken": "fatal", "not-asked": "dim"}
    parts = (("page", found.page), ("stream", found.stream), ("socket", found.socket))
    out.line(found.url)
    rows = [
        (out.text(f"forward.part_{part}"), out.paint(out.text(f"forward.state_{state}"), styles[state]))
        for part, state in parts
    ]
    out.table((), rows, indent="    ")
    out.findings(found.findings)
    out.json({**asdict(found), "findings": out.told(found.findings)})
    return exit_code(found.findings)
