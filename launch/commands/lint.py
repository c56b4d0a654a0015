"""``lint``: what is wrong with a deploy file."""

from __future__ import annotations

from argparse import Namespace
from pathlib import Path

from launch.cards import card_list, platform, visible
from launch.command_line import CommandParser
from launch.findings import exit_code
from launch.here import Here
from launch.lint.check import lint
from launch.server_python import find
from launch.versions import installed


def options(parser: CommandParser) -> None:
    parser.add_argument("file", metavar="FILE", type=Path)
    parser.add_argument("--cards", metavar="4,5")
    parser.add_argument("--vllm", metavar="PATH")
    parser.add_argument("--omni", metavar="VERSION")


def run(args: Namespace, here: Here) -> int:
    found = installed(find(args.vllm, here.environ, here.root), args.omni)
    kind = platform(here.environ, here.root)
    seen = card_list(args.cards) if args.cards else visible(here.environ, kind)
    findings = lint(args.file.expanduser().absolute(), found, kind, seen)
    out = here.out
    out.say("lint.against", version=found.version or found.line.name)
    out.findings(findings)
    out.say("lint.clean" if not findings else "lint.count", count=len(findings))
    out.json(
        {
            "file": args.file.absolute(),
            "version": found.version,
            "line": found.line.name,
            "findings": out.told(findings),
        }
    )
    return exit_code(findings)
