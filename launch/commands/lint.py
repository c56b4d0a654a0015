"""``lint``: what is wrong with a deploy file."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from launch.cards import card_list, platform, visible
from launch.findings import exit_code
from launch.here import Here
from launch.lint.check import lint
from launch.server_python import find
from launch.versions import installed


def run(
    ctx: typer.Context,
    file: Annotated[Path, typer.Argument(metavar="FILE")],
    cards: Annotated[str | None, typer.Option(metavar="4,5")] = None,
    vllm: Annotated[str | None, typer.Option(metavar="PATH")] = None,
    omni: Annotated[str | None, typer.Option(metavar="VERSION")] = None,
) -> int:
    here: Here = ctx.obj
    found = installed(find(vllm, here.environ, here.root), omni)
    kind = platform(here.environ, here.root)
    seen = card_list(cards) if cards else visible(here.environ, kind)
    findings = lint(file.expanduser().absolute(), found, kind, seen)
    out = here.out
    out.say("lint.against", version=found.version or found.line.name)
    out.findings(findings)
    out.say("lint.clean" if not findings else "lint.count", count=len(findings))
    out.json(
        {"file": file.absolute(), "version": found.version, "line": found.line.name, "findings": out.told(findings)}
    )
    return exit_code(findings)
