"""``set``: the table of knobs, or an overlay over a file with some of them set."""

from __future__ import annotations

from argparse import Namespace
from pathlib import Path

from launch.cards import platform
from launch.command_line import CommandParser, whole
from launch.deploy import Overlay, build
from launch.errors import InputError
from launch.findings import exit_code
from launch.here import Here
from launch.knobs import KNOBS, setting
from launch.lint.check import lint_overlay
from launch.server_python import find
from launch.texts import texts
from launch.versions import Installed, installed


def options(parser: CommandParser) -> None:
    parser.add_argument("file", metavar="L|FILE.yaml", nargs="?")
    parser.add_argument("values", metavar="KEY=VALUE", nargs="*")
    parser.add_argument("--images", metavar="N", type=whole(1))
    parser.add_argument("--to", metavar="FILE", type=Path)
    parser.add_argument("--vllm", metavar="PATH")
    parser.add_argument("--omni", metavar="VERSION")


def run(args: Namespace, here: Here) -> int:
    found = installed(find(args.vllm, here.environ, here.root), args.omni)
    if args.file is None:
        return _list(here, found)
    if not args.values and args.images is None:
        raise InputError("set-unreadable", given="")
    overlay = build(args.file, found, [setting(text, found.line) for text in args.values], args.images)
    findings = [f for f in lint_overlay(overlay, found, platform(here.environ, here.root)) if f.id != "images-too-few"]
    _put(overlay, args.to, here)
    bad = [finding for finding in findings if finding.tell("en").severity != "harmless"]
    for finding in bad:
        here.out.complain(finding.tell(here.out.tongue).what)
    here.out.json(
        {
            "base": overlay.base,
            "file": args.to and args.to.absolute(),
            "text": overlay.text,
            "changes": overlay.changes,
            "findings": here.out.told(findings),
        }
    )
    return exit_code(bad)


def _put(overlay: Overlay, to: Path | None, here: Here) -> None:
    """To the named file, else to the answer itself, so that ``> FILE`` works."""
    if to is None:
        here.out.line(overlay.text.rstrip())
        return
    try:
        to.write_text(overlay.text, encoding="utf-8")
    except OSError as failed:
        raise InputError("file-not-found", file=to, reason=failed.strerror or "") from failed
    here.out.say("set.written", file=to.absolute())


def _list(here: Here, found: Installed) -> int:
    out = here.out
    known = [knob for knob in KNOBS.values() if knob.place != "connector" or knob.name in found.line.extra]
    about = texts(out.tongue)
    out.table(
        [out.text(f"set.{head}") for head in ("knob", "kind", "where", "about")],
        [(knob.name, knob.kind, knob.where(), about.get(f"knob.{knob.name}", "")) for knob in known],
    )
    out.say("set.forms")
    out.json(
        {
            "line": found.line.name,
            "knobs": [
                {
                    "name": knob.name,
                    "kind": knob.kind,
                    "where": knob.where(),
                    "about": about.get(f"knob.{knob.name}", ""),
                }
                for knob in known
            ],
            "dead": sorted(found.line.dead),
        }
    )
    return 0
