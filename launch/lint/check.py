"""The whole lint of one deploy file."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from launch.deploy_file import open_file
from launch.findings import Finding, worst_first
from launch.layouts import search_path
from launch.lint import blocks, fit, keys
from launch.lint.case import Case
from launch.loader_keys import loader_keys
from launch.versions import Installed


def lint(path: Path, here: Installed, platform: str | None = None, cards: Sequence[str] | None = None) -> list[Finding]:
    """Everything wrong with the deploy file at ``path`` for the vLLM-Omni that is ``here``, worst first.

    ``platform``: "npu", "cuda" or None for unknown. ``cards``: the visible cards, when known. Raises ``InputError``
    for a file that cannot be read, is no YAML, or whose base is missing.
    """
    case = Case(
        file=open_file(path, search_path(here)),
        line=here.line,
        keys=loader_keys(here.line.name, here.program if here.deploy else None),
        platform=platform,
        cards=cards,
        shipped=search_path(here),
    )
    return worst_first([*keys.check(case), *blocks.check(case), *fit.check(case)])
