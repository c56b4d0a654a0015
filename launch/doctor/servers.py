"""Servers of ours that are up, and stages that earlier ones left behind."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from launch.findings import Finding
from launch.here import Here
from launch.output import launch_line
from launch.processes import Process
from launch.records import Records
from launch.watch import members, proc, settled


@dataclass(frozen=True)
class Running:
    """A server that this launcher started and that lives. ``pids``: it and its stages. ``down``: what ends it."""

    port: int
    pid: int
    layout: str
    pids: tuple[int, ...]
    down: str


def running(here: Here) -> tuple[Running, ...]:
    """By their records; nobody is asked over the wire."""
    table = proc(here)
    found: list[Running] = []
    for record in (settled(record, table) for record in Records(here.state_dir()).all()[0]):
        if record.process is not None and table.alive(record.process):
            pids = tuple(process.pid for process in members(record, table))
            down = launch_line("down", "--port", record.port)
            found.append(Running(record.port, record.process.pid, record.layout, pids, down))
    return tuple(found)


def orphans(here: Here) -> Iterator[Finding]:
    """Stages that hold cards and serve nobody, each with the command that ends them: ours by the port of their start."""
    if not here.under("/proc/uptime").exists():
        return
    table = proc(here)
    known: set[int] = set()
    for record in (settled(record, table) for record in Records(here.state_dir()).all()[0]):
        if record.process is not None and not table.alive(record.process):
            left = members(record, table)
            known |= {process.pid for process in left}
            if left:
                yield _left(left, launch_line("down", "--port", record.port))
    strangers = [process for process in table.orphans() if process.pid not in known]
    if strangers:
        yield _left(strangers, launch_line("down", "--foreign"))


def _left(stages: Sequence[Process], command: str) -> Finding:
    return Finding("stages-left", {"pids": ", ".join(str(stage.pid) for stage in stages), "command": command})
