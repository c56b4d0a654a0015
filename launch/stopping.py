"""Stopping: asked first, then ended; only what is ours, each process by itself; watched until its cards are free."""

from __future__ import annotations

import signal
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace

from launch import card_memory
from launch.errors import LaunchError
from launch.here import Here
from launch.npu import NpuTable
from launch.processes import Identity, Proc, Process, lineage
from launch.records import Record, Records
from launch.watch import members, proc, settled

PATIENCE_S = 45.0  # the server takes up to 30 s for its orchestrator and 10 s for the rest
_KILLED_S = 5.0  # the kernel frees a killed process's memory in seconds, or it hangs in a driver
_MEMORY_S = 30.0  # an NPU's memory comes back a few seconds after its process
_MEMORY_TICK_S = 1.0  # npu-smi itself takes about that long
_MOST = 0.9  # of what was held: others on the card may take a little meanwhile
_TICK_S = 0.1


@dataclass(frozen=True)
class Stopped:
    """``ended``: pids that are gone; ``killed``: those of them that did not go when asked. ``freed_mb``: card memory
    they held, by card; ``held_mb``: what is still held there (empty: all is back).
    """

    ended: tuple[int, ...]
    killed: tuple[int, ...]
    took_s: float
    freed_mb: dict[int, int]
    held_mb: dict[int, int]


def stop(record: Record, here: Here, patience_s: float = PATIENCE_S) -> Stopped:
    """Stop one of ours, with the stages it left behind. Raises ``LaunchError`` (launch-busy, stop-refused)."""
    records = Records(here.state_dir())
    with records.lock(record.port):
        table = proc(here)
        record = settled(record, table)
        # First, so that whoever waits for this start knows that it did not die by itself.
        records.save(replace(record, stopped=True))
        return end(record.process, lambda: members(record, table), here, patience_s)


def clear_leftovers(record: Record, here: Here) -> None:
    """End the stages of a start whose server is gone: they hold the cards that the next start needs. Called with the
    port's lock held.
    """
    table = proc(here)
    left = members(record, table)
    if left:
        here.out.say("up.leftovers", count=len(left), pids=", ".join(str(process.pid) for process in left))
        end(None, lambda: members(record, table), here, PATIENCE_S)


def stop_strangers(pids: Sequence[int], here: Here, patience_s: float = PATIENCE_S) -> Stopped:
    """Stop servers or stages that another hand started, with the processes under them; the user asked for it. Raises
    ``LaunchError`` (stop-refused).
    """
    table = proc(here)
    everyone = table.all()
    family = [table.identity(process) for process in everyone.values() if set(pids) & lineage(process, everyone)]
    leader = next((who for who in family if who.pid == pids[0]), None) if len(pids) == 1 else None
    return end(leader, lambda: [p for who in family if (p := table.find(who)) and p.alive], here, patience_s)


def end(leader: Identity | None, living: Callable[[], list[Process]], here: Here, patience_s: float) -> Stopped:
    """Ask ``leader`` to end, and all others once it is gone; after ``patience_s`` kill what is left. ``living`` tells
    anew who is still there.
    """
    table = proc(here)
    began = time.monotonic()
    seen = {process.pid for process in living()}
    before = card_memory.read(here.environ)
    memory = card_memory.held(before, seen)
    asked: set[int] = set()
    while (left := living()) and time.monotonic() - began < patience_s:
        seen |= {process.pid for process in left}
        leads = leader is not None and table.alive(leader)
        for process in left:
            if process.pid not in asked and (not leads or (leader and process.pid == leader.pid)):
                asked.add(process.pid)
                _send(table, process, signal.SIGTERM)
        time.sleep(_TICK_S)
    killed = living()
    for process in killed:
        _send(table, process, signal.SIGKILL)
    until = time.monotonic() + _KILLED_S
    while (left := living()) and time.monotonic() < until:
        time.sleep(_TICK_S)
    if left:
        raise LaunchError("stop-refused", pids=", ".join(str(process.pid) for process in left))
    took_s = time.monotonic() - began
    held = _until_free(here, before, memory) if before else {}
    return Stopped(tuple(sorted(seen)), tuple(process.pid for process in killed), round(took_s, 1), memory, held)


def _send(table: Proc, process: Process, number: signal.Signals) -> None:
    try:
        table.send(table.identity(process), number)
    except PermissionError as refused:
        raise LaunchError("stop-refused", pids=process.pid) from refused


def _until_free(here: Here, before: NpuTable, memory: dict[int, int]) -> dict[int, int]:
    """Wait until the cards' use has fallen by what was held there; MB still used by card where it has not."""
    wanted = {die.card: die.hbm_used_mb - _MOST * memory[die.card] for die in before.dies if die.card in memory}
    until = time.monotonic() + _MEMORY_S
    while wanted:
        table = card_memory.read(here.environ)
        held = {die.card: die.hbm_used_mb for die in table.dies if die.card in wanted} if table else {}
        held = {card: used for card, used in held.items() if used > wanted[card]}
        if not held or time.monotonic() > until:
            return held
        time.sleep(_MEMORY_TICK_S)
    return {}
