"""Who lives, who is ours, and that a signal never reaches anybody else."""

import signal
import subprocess
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

import pytest

from launch.processes import MARK, Identity, Proc

BOOT = "24d46707-4e04-4df0-a87c-1a32b9aef5ea"


class Table:
    """A `/proc` of text files."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        (folder / "sys/kernel/random").mkdir(parents=True)
        (folder / "sys/kernel/random/boot_id").write_text(BOOT + "\n")
        self.proc = Proc(folder)

    def add(
        self,
        pid: int,
        *,
        parent: int = 1,
        session: int | None = None,
        state: str = "S",
        started: int = 100,
        name: str = "vllm",
        words: Sequence[str] = (),
        marked: str = "",
    ) -> None:
        place = self.folder / str(pid)
        place.mkdir()
        fields = [state, parent, pid, session or pid, *[0] * 15, started, 0]
        (place / "stat").write_text(f"{pid} ({name}) {' '.join(map(str, fields))}\n")
        (place / "cmdline").write_bytes(b"".join(word.encode() + b"\0" for word in words))
        (place / "environ").write_text(f"A=b\0{MARK}={marked}\0" if marked else "")


@pytest.fixture
def table(tmp_path: Path) -> Table:
    return Table(tmp_path)


def pids(processes: Sequence[object]) -> list[int]:
    return sorted(process.pid for process in processes)  # type: ignore[attr-defined]


def test_a_name_with_blanks_and_brackets_hides_no_state(table: Table) -> None:
    table.add(7, state="Z", name="a) S (b", parent=3, started=42)
    process = table.proc.get(7)
    assert process is not None
    assert (process.state, process.parent, process.started, process.alive) == ("Z", 3, 42, False)


def test_a_zombie_is_not_alive_and_a_recycled_pid_is_somebody_else(table: Table) -> None:
    table.add(7, started=100)
    table.add(8, started=100, state="Z")
    assert table.proc.alive(Identity(7, 100, BOOT))
    assert table.proc.find(Identity(8, 100, BOOT)) is not None
    assert not table.proc.alive(Identity(8, 100, BOOT))
    assert table.proc.find(Identity(7, 99, BOOT)) is None
    assert table.proc.find(Identity(7, 100, "another boot")) is None
    assert table.proc.find(Identity(9, 100, BOOT)) is None


def test_a_signal_reaches_the_process_it_is_for_and_no_other() -> None:
    proc = Proc(Path("/proc"))
    with subprocess.Popen(["sleep", "60"]) as child:
        process = proc.get(child.pid)
        assert process is not None
        who = proc.identity(process)
        assert proc.send(replace(who, started=who.started - 1), signal.SIGKILL) is False
        assert proc.send(replace(who, boot="another boot"), signal.SIGKILL) is False
        assert child.poll() is None
        assert proc.send(who, signal.SIGTERM) is True
        assert child.wait(10) == -signal.SIGTERM
    assert proc.send(who, signal.SIGKILL) is False


def test_a_server_and_its_session_are_one_start(table: Table) -> None:
    table.add(10, started=100, marked="run")
    table.add(11, parent=10, session=10, started=110, words=["VLLM::Worker"])
    table.add(12, parent=10, session=10, started=111, state="Z")
    table.add(13, parent=10, started=112, marked="run")  # it took a session of its own
    table.add(14, started=90, session=10)  # older than the server: not its child
    table.add(15, started=200, marked="another run")
    assert pids(table.proc.members(Identity(10, 100, BOOT), "run")) == [10, 11, 13]
    assert table.proc.members(Identity(10, 100, "another boot"), "run") == []


def test_without_its_server_a_stage_is_ours_by_title_or_mark(table: Table) -> None:
    table.add(11, session=10, started=110, words=["VLLM::StageEngineCoreProc_stage0_replica0_DP0"])
    table.add(12, session=10, started=111, words=["python"], marked="run")
    table.add(13, session=10, started=112, words=["somebody", "else"])
    assert pids(table.proc.members(Identity(10, 100, BOOT), "run")) == [11, 12]


def test_a_session_whose_number_was_given_away_is_not_ours(table: Table) -> None:
    table.add(10, started=500, words=["another", "leader"])
    table.add(11, session=10, started=510, words=["VLLM::Worker"])
    assert table.proc.members(Identity(10, 100, BOOT), "run") == []


def test_servers_and_orphans_on_the_machine(table: Table) -> None:
    serve = ["serve", "/m", "--omni", "--port", "8091"]
    table.add(20, words=["/usr/bin/python3", "/opt/bin/vllm", *serve])
    table.add(21, parent=20, session=20, words=["VLLM::StageEngineCoreProc_stage0_replica0_DP0"])
    table.add(22, words=["docker", "exec", "box", "vllm", *serve])
    table.add(23, words=["bash", "-c", "vllm serve /m --omni"])
    table.add(24, words=["vllm", "serve", "/m"])
    table.add(30, session=29, words=["VLLM::Worker"])
    assert [process.pid for process, _ in table.proc.servers()] == [20]
    assert pids(table.proc.orphans()) == [30]
