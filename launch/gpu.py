"""CUDA cards, as ``nvidia-smi`` names them."""

from __future__ import annotations

import csv
import shutil
import subprocess
from collections.abc import Mapping
from dataclasses import dataclass

from launch.npu import BUSY_MB, Holder

_PATIENCE_S = 10.0  # it takes a second; with a card in trouble it may hang for good
_CARDS = "index,uuid,name,memory.used,memory.total,driver_version"
_HOLDERS = "gpu_uuid,pid,process_name,used_memory"


@dataclass(frozen=True)
class Gpu:
    """One CUDA card; ``card`` is the number that ``CUDA_VISIBLE_DEVICES`` means. Memory in MB."""

    card: int
    name: str
    driver: str
    used_mb: int
    total_mb: int
    holders: tuple[Holder, ...] = ()

    @property
    def health(self) -> str:
        """nvidia-smi has no word for it: a card that is lost is not listed."""
        return "OK"

    @property
    def usable(self) -> bool:
        return True

    @property
    def busy(self) -> bool:
        return self.used_mb > BUSY_MB or bool(self.holders)


def read(environ: Mapping[str, str]) -> tuple[Gpu, ...] | None:
    """The machine's CUDA cards; None where ``nvidia-smi`` is missing, fails or does not answer."""
    cards = _ask(environ, f"--query-gpu={_CARDS}")
    if cards is None:
        return None
    held: dict[str, list[Holder]] = {}
    for uuid, pid, name, memory in (row for row in _ask(environ, f"--query-compute-apps={_HOLDERS}") or () if row[3:]):
        held.setdefault(uuid, []).append(Holder(int(pid), name, _mb(memory)))
    return tuple(
        Gpu(int(index), name, driver, _mb(used), _mb(total), tuple(held.get(uuid, ())))
        for index, uuid, name, used, total, driver in (row for row in cards if row[5:])
    )


def _mb(text: str) -> int:
    """``[N/A]`` stands for memory that may not be seen, as in a container."""
    return int(text) if text.isdigit() else 0


def _ask(environ: Mapping[str, str], query: str) -> list[list[str]] | None:
    program = shutil.which("nvidia-smi", path=environ.get("PATH", ""))
    if program is None:
        return None
    line = [program, query, "--format=csv,noheader,nounits"]
    try:
        done = subprocess.run(line, env=dict(environ), capture_output=True, timeout=_PATIENCE_S, check=False)
    except (OSError, subprocess.TimeoutExpired):
        return None
    if done.returncode:
        return None
    return list(csv.reader(done.stdout.decode("utf-8", "replace").splitlines(), skipinitialspace=True))
