"""``npu-smi info``, run: which process holds how much of which card."""

from __future__ import annotations

import shutil
import subprocess
from collections.abc import Mapping

from launch.npu import NpuTable, parse

_PATIENCE_S = 10.0  # it takes a second; with a card in trouble it may hang for good


def read(environ: Mapping[str, str]) -> NpuTable | None:
    """The table of the machine's ``npu-smi``; None where there is none, or where it does not answer."""
    return parse(ask(environ) or "")


def ask(environ: Mapping[str, str]) -> str | None:
    """All that ``npu-smi info`` says, complaints too; None where there is none, or where it does not answer."""
    program = shutil.which("npu-smi", path=environ.get("PATH", ""))
    if program is None:
        return None
    line, env = [program, "info"], dict(environ)
    try:
        done = subprocess.run(
            line, env=env, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, timeout=_PATIENCE_S, check=False
        )
    except (OSError, subprocess.TimeoutExpired):
        return None
    return done.stdout.decode("utf-8", "replace")


def held(table: NpuTable | None, pids: set[int]) -> dict[int, int]:
    """MB by card that the processes ``pids`` hold. npu-smi names no process of another container."""
    found: dict[int, int] = {}
    for die in table.dies if table else ():
        mine = sum(holder.memory_mb for holder in die.holders if holder.pid in pids)
        if mine:
            found[die.card] = mine
    return found
