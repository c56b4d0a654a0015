"""A machine for tests of starting and stopping: real processes, a fake `vllm`, a state folder and `/dev/shm` of its own."""

from __future__ import annotations

import os
import signal
import socket
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path

from launch.processes import Proc, Process
from launch.records import Record, Records
from tests.launch.console import Answer, launch, server_python

ROOT = Path(__file__).resolve().parents[2]
PROGRAM = """#!{python}
import sys
sys.path.insert(0, {root!r})
from tests.launch.fake_vllm.program import main
main()
"""


@dataclass
class Box:
    """`root`: the machine's file system, its `/proc` this one's. `port`: a free one."""

    root: Path
    vllm: Path
    port: int
    path: str = ""
    environ: dict[str, str] = field(default_factory=dict)

    def launch(self, *words: object, **fake: object) -> Answer:
        return launch(*words, root=self.root, environ=self.shell(**fake))

    def shell(self, **fake: object) -> dict[str, str]:
        """The user's environment, with wishes for the fake server."""
        asked = {f"FAKE_VLLM_{name.upper()}": str(value) for name, value in fake.items()}
        return {"OMNI_LANG": "en", "OMNI_STATE": str(self.root / "state"), "PATH": self.path, **self.environ, **asked}

    def words(self, *more: object, port: int | None = None) -> list[str]:
        model = self.root / "model"
        return [
            *("up", "--layout", "1card", "--model", str(model), "--vllm", str(self.vllm)),
            *("--port", str(port or self.port), *map(str, more)),
        ]

    def up(self, *more: object, port: int | None = None, **fake: object) -> Answer:
        return self.launch(*self.words(*more, port=port), **fake)

    def record(self, port: int | None = None) -> Record:
        record = Records(self.root / "state").get(port or self.port)
        assert record is not None
        return record

    def ours(self) -> list[dict[str, object]]:
        """What `status` says of the servers started here: the machine may run others."""
        return [one for one in self.launch("status", "--json").json["servers"] if one["ours"]]

    @property
    def proc(self) -> Proc:
        return Proc(Path("/proc"))

    def living(self, port: int | None = None) -> list[Process]:
        """The processes of the start on `port`."""
        record = self.record(port)
        return self.proc.members(record.process, record.id) if record.process else []

    def end_all(self) -> None:
        records, _ = Records(self.root / "state").all()
        for record in records:
            for process in self.proc.members(record.process, record.id) if record.process else ():
                self.proc.send(self.proc.identity(process), signal.SIGKILL)


def free_port() -> int:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return probe.getsockname()[1]


@contextmanager
def box(root: Path) -> Iterator[Box]:
    """A machine, emptied of what was started on it at the end."""
    (root / "model").mkdir()
    (root / "dev" / "shm").mkdir(parents=True)
    (root / "proc").symlink_to("/proc")
    vllm = server_python(root / "python")
    vllm.write_text(PROGRAM.format(python=sys.executable, root=str(ROOT)))
    here = Box(root, vllm, free_port())
    try:
        yield here
    finally:
        here.end_all()
        reap()


def reap() -> None:
    """Servers started in this process are its children; those that have ended must not stay as zombies."""
    try:
        while os.waitpid(-1, os.WNOHANG)[0]:
            pass
    except ChildProcessError:
        pass


def until(true: Callable[[], object], patience_s: float = 20.0) -> None:
    """Wait for a condition of another process."""
    deadline = time.monotonic() + patience_s
    while not true():
        assert time.monotonic() < deadline, "it did not come to pass"
        time.sleep(0.05)
