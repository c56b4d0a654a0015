"""The whole lint of one deploy file."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from launch.deploy import Overlay
from launch.deploy_file import DeployFile, open_file
from launch.findings import Finding, worst_first
from launch.layouts import search_path
from launch.lint import blocks, fit, keys
from launch.lint.case import Case
from launch.loader_keys import loader_keys
from launch.versions import Installed
from launch.yaml_lines import parse_document


def lint(path: Path, here: Installed, platform: str | None = None, cards: Sequence[str] | None = None) -> list[Finding]:
    """Everything wrong with the deploy file at ``path`` for the vLLM-Omni that is ``here``, worst first.

    ``platform``: "npu", "cuda" or None for unknown. ``cards``: the visible cards, when known. Raises ``InputError``
    for a file that cannot be read, is no YAML, or whose base is missing.
    """
    return _check(open_file(path, search_path(here)), here, platform, cards)


def lint_overlay(
    overlay: Overlay, here: Installed, platform: str | None = None, cards: Sequence[str] | None = None
) -> list[Finding]:
    """The same for an overlay that is not written yet. Its base is judged as a user's file unless vLLM-Omni ships
    it.
    """
    document = parse_document(overlay.text, Path(overlay.name))
    return _check(DeployFile(document, open_file(overlay.base, search_path(here))), here, platform, cards)


def _check(file: DeployFile, here: Installed, platform: str | None, cards: Sequence[str] | None) -> list[Finding]:
    case = Case(
        file=file,
        line=here.line,
        keys=loader_keys(here.line.name, here.program if here.deploy else None),
        platform=platform,
        cards=cards,
        shipped=search_path(here),
    )
    return worst_first([*keys.check(case), *blocks.check(case), *fit.check(case)])
