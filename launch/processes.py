"""Processes as ``/proc`` tells them. A process is known by its pid, its start time and the machine's boot together:
neither a zombie nor a pid that was given away again passes for it.
"""

from __future__ import annotations

import errno
import os
import signal
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path

# In the environment of every server we start, with its record's id; children inherit it.
MARK = "OMNI_LAUNCH_RUN"
# How vLLM's stages call themselves. Their new title overwrites the environment that /proc shows, MARK with it.
STAGE_TITLE = "VLLM::"
_GONE = "ZXx"  # zombie, dead: holds no memory and no port, though `kill -0` succeeds


@dataclass(frozen=True)
class Process:
    """One process now. ``started``: clock ticks after boot; ``session``: pid of the session's first process."""

    pid: int
    parent: int
    session: int
    state: str
    started: int

    @property
    def alive(self) -> bool:
        return self.state not in _GONE


@dataclass(frozen=True)
class Identity:
    """A process for good. ``boot``: the kernel's id of this boot, since ticks begin anew with it."""

    pid: int
    started: int
    boot: str


class Proc:
    """The process table under ``folder`` (``/proc``)."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder

    def get(self, pid: int) -> Process | None:
        """The process with this pid, zombies too; None when there is none."""
        try:
            stat = (self.folder / str(pid) / "stat").read_text(encoding="utf-8", errors="replace")
        except OSError:  # it ended meanwhile
            return None
        # The name before the last ")" may hold blanks and brackets of its own.
        fields = stat[stat.rfind(")") + 1 :].split()
        return Process(pid, int(fields[1]), int(fields[3]), fields[0], int(fields[19]))

    def all(self) -> Mapping[int, Process]:
        """Every process by pid."""
        found = (self.get(int(entry.name)) for entry in os.scandir(self.folder) if entry.name.isdigit())
        return {process.pid: process for process in found if process is not None}

    def boot(self) -> str:
        return (self.folder / "sys/kernel/random/boot_id").read_text(encoding="ascii").strip()

    def identity(self, process: Process) -> Identity:
        return Identity(process.pid, process.started, self.boot())

    def find(self, who: Identity) -> Process | None:
        """``who`` as it is now, a zombie too; None when it is gone or its pid is another's."""
        process = self.get(who.pid)
        return process if process and process.started == who.started and self.boot() == who.boot else None

    def alive(self, who: Identity) -> bool:
        process = self.find(who)
        return process is not None and process.alive

    def age_s(self, process: Process) -> float:
        """Seconds since it started."""
        uptime = float((self.folder / "uptime").read_text(encoding="ascii").split()[0])
        return max(0.0, uptime - process.started / os.sysconf("SC_CLK_TCK"))

    def words(self, pid: int) -> list[str]:
        """Its command line; empty for a zombie or one that may not be read."""
        return self._strings(pid, "cmdline")

    def is_marked(self, pid: int, mark: str) -> bool:
        return f"{MARK}={mark}" in self._strings(pid, "environ")

    def output(self, pid: int) -> Path | None:
        """The file that its standard output goes to, readable even after the file's name is gone; None for a terminal
        or a pipe.
        """
        link = self.folder / str(pid) / "fd" / "1"
        return link if link.is_file() else None

    def mine(self, pid: int) -> bool:
        """Whether it runs as this user."""
        try:
            return (self.folder / str(pid)).stat().st_uid == os.getuid()
        except OSError:
            return False

    def members(self, leader: Identity, mark: str) -> list[Process]:
        """The living processes of one start: the server's session, and whatever carries its mark.

        With the server itself gone its session's number proves less, so that there a stage's title or the mark is asked
        for too.
        """
        if self.boot() != leader.boot:
            return []
        now = self.find(leader)
        recycled = now is None and self.get(leader.pid) is not None
        found: list[Process] = []
        for process in self.all().values():
            if not process.alive or process.started < leader.started or not self.mine(process.pid):
                continue
            inside = process.session == leader.pid and not recycled
            sure = inside and ((now is not None and now.alive) or self.is_stage(process.pid))
            if sure or self.is_marked(process.pid, mark):
                found.append(process)
        return found

    def marked(self, mark: str) -> Process | None:
        """The oldest living process with this mark: the server of a start whose recording was cut off."""
        found = [p for p in self.all().values() if p.alive and self.mine(p.pid) and self.is_marked(p.pid, mark)]
        return min(found, key=lambda process: process.started, default=None)

    def is_stage(self, pid: int) -> bool:
        return next(iter(self.words(pid)), "").startswith(STAGE_TITLE)

    def servers(self) -> Iterator[tuple[Process, list[str]]]:
        """Every living ``vllm serve --omni`` with its command line."""
        for process in self.all().values():
            words = self.words(process.pid) if process.alive else []
            if "--omni" in words and "serve" in words and _is_vllm(words):
                yield process, words

    def orphans(self) -> list[Process]:
        """Living stages that no living server stands above: they hold card memory and serve nobody."""
        table = self.all()
        servers = {process.pid for process, _ in self.servers()}
        return [
            process
            for process in table.values()
            if process.alive
            and self.is_stage(process.pid)
            and not servers & {process.session, *lineage(process, table)}
        ]

    def send(self, who: Identity, number: signal.Signals) -> bool:
        """Signal ``who`` and nobody else; False when it has ended. Raises ``PermissionError``.

        A pidfd holds on to the process before its start time is compared, so that its pid cannot change hands between.
        """
        try:
            handle = os.pidfd_open(who.pid)
        except ProcessLookupError:
            return False
        except OSError as refused:
            if refused.errno != errno.ENOSYS:  # kernels before 5.3 (EulerOS has 4.19) know no pidfd
                raise
            return self._kill(who, number)
        try:
            if not self.alive(who):
                return False
            signal.pidfd_send_signal(handle, number)
        except ProcessLookupError:
            return False
        finally:
            os.close(handle)
        return True

    def _kill(self, who: Identity, number: signal.Signals) -> bool:
        if not self.alive(who):
            return False
        try:
            os.kill(who.pid, number)
        except ProcessLookupError:
            return False
        return True

    def _strings(self, pid: int, name: str) -> list[str]:
        try:
            text = (self.folder / str(pid) / name).read_bytes()
        except OSError:  # another user's, or ended meanwhile
            return []
        return text.decode("utf-8", "surrogateescape").rstrip("\0").split("\0") if text.strip(b"\0") else []


def _is_vllm(words: list[str]) -> bool:
    """``vllm serve``, ``vllm-omni serve`` or ``python …/vllm serve``; not the ``docker exec`` around one."""
    names = [os.path.basename(word) for word in words[:2]]
    return names[0].startswith("vllm") or (names[0].startswith("python") and names[-1].startswith("vllm"))


def lineage(process: Process, table: Mapping[int, Process]) -> set[int]:
    """The pids of a process and of those above it."""
    found = {process.pid}
    while (parent := process.parent) in table and parent not in found:
        found.add(parent)
        process = table[parent]
    return found
