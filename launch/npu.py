"""What ``npu-smi info`` says, as values.

Split on ``|``, never on columns: the frame's width and the blanks differ from version to version.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from itertools import pairwise

HEALTH = ("OK", "Warning", "Alarm", "Critical", "UNKNOWN")
USABLE = ("OK", "Warning")  # Warning is minor; from Alarm on the die may fail in the middle of an answer
BUSY_MB = 5_000  # an idle 64 GiB die holds 2.8-3.4 GB of driver memory; above this somebody is there

_VERSION = re.compile(r"npu-smi\s+(\S+)")
_LOAD = re.compile(r"(\d+)\s+(\d+)\s*/\s*(\d+)\s+(\d+)\s*/\s*(\d+)")
_NUMBERS = re.compile(r"\d+")


@dataclass(frozen=True)
class Holder:
    """A process that npu-smi names on a die. ``memory_mb``: its HBM. Processes of another container are not named."""

    pid: int
    name: str
    memory_mb: int


@dataclass(frozen=True)
class Die:
    """One usable device; on an Atlas A3 one 910C shows as two. HBM in MB. ``card``: the number that ``/dev/davinciN``
    and a deploy file's ``devices`` mean, which is Phy-ID where npu-smi prints one.
    """

    npu: int
    chip: int
    card: int
    name: str
    health: str
    bus_id: str
    aicore_pct: int
    hbm_used_mb: int
    hbm_total_mb: int
    holders: tuple[Holder, ...] = ()

    @property
    def usable(self) -> bool:
        return self.health in USABLE

    @property
    def used_mb(self) -> int:
        return self.hbm_used_mb

    @property
    def busy(self) -> bool:
        """Somebody holds memory here. By HBM first: processes of another container are not listed."""
        return self.hbm_used_mb > BUSY_MB or bool(self.holders)


@dataclass(frozen=True)
class NpuTable:
    """``series``: "A3" when the table has a Phy-ID column (910C), "A2" otherwise (910B)."""

    version: str
    series: str
    dies: tuple[Die, ...]


def parse(text: str) -> NpuTable | None:
    """The table of ``npu-smi info``; None when ``text`` holds none (an error message, another program)."""
    version = _VERSION.search(text)
    if version is None or "HBM-Usage" not in text:
        return None
    rows = [[cell.strip() for cell in line.strip().strip("|").split("|")] for line in text.splitlines() if "|" in line]
    holders = _holders(rows)
    dies: list[Die] = []
    for upper, lower in pairwise(rows):
        if len(upper) != 3 or len(lower) != 3 or upper[1] not in HEALTH or (load := _LOAD.search(lower[2])) is None:
            continue
        npu, name = upper[0].split(maxsplit=1)
        ids = [int(number) for number in _NUMBERS.findall(lower[0])]
        chip, phy = ids[0], ids[1] if len(ids) > 1 else None
        dies.append(
            Die(
                npu=int(npu),
                chip=chip,
                card=int(npu) if phy is None else phy,
                name=name,
                health=upper[1],
                bus_id=lower[1],
                aicore_pct=int(load[1]),
                hbm_used_mb=int(load[4]),
                hbm_total_mb=int(load[5]),
                holders=tuple(holders.get((int(npu), chip), ())),
            )
        )
    return NpuTable(version[1], "A3" if "Phy-ID" in text else "A2", tuple(dies))


def _holders(rows: list[list[str]]) -> dict[tuple[int, int], list[Holder]]:
    found: dict[tuple[int, int], list[Holder]] = {}
    for row in rows:
        if len(row) == 4 and row[1].isdigit() and row[3].isdigit():
            npu, chip = (int(number) for number in row[0].split())
            found.setdefault((npu, chip), []).append(Holder(int(row[1]), row[2], int(row[3])))
    return found
