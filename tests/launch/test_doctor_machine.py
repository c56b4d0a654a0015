"""What `doctor` says of memory, disk, ports, proxies, our own servers and the stages they left."""

import io
import socket
import subprocess
import sys
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

from launch.doctor import check
from launch.here import Here
from launch.layouts import layout
from launch.output import Output
from launch.versions import installed
from tests.launch.console import launch
from tests.launch.running import ROOT, Box, free_port, until
from tests.launch.test_doctor import ids


def rehearsal(root: Path, port: int, *words: str, **environ: str) -> Any:
    return launch("doctor", "--layout", "rehearsal", "--port", port, "--json", *words, root=root, environ=environ).json


def test_an_empty_machine_and_a_taken_port(tmp_path: Path) -> None:
    with socket.create_server(("127.0.0.1", 0)) as held:
        port = held.getsockname()[1]
        told = launch("doctor", "--port", port, "--json", root=tmp_path, environ={"http_proxy": "http://proxy:1"})
    assert told.code == 1
    assert ids(told.json) == {"cards-none", "vllm-not-found", "model-absent", "port-taken", "proxy-env-loopback"}


def test_the_rehearsal_engine_needs_no_card_no_server_and_no_weights(tmp_path: Path) -> None:
    told = rehearsal(tmp_path, free_port())
    assert (ids(told), told["model"], told["dies"], told["versions"]) == (set(), None, [], {})


def test_a_port_is_looked_at_where_the_server_would_listen(tmp_path: Path) -> None:
    with socket.create_server(("127.0.0.1", 0)) as held:
        port = held.getsockname()[1]
        assert ids(rehearsal(tmp_path, port)) == {"port-taken"}
        assert ids(rehearsal(tmp_path, port, "--host", "127.0.0.2")) == set()
        assert ids(rehearsal(tmp_path, port, "--host", "0.0.0.0")) == {"port-taken"}
    assert ids(rehearsal(tmp_path, free_port(), "--host", "192.0.2.1")) == {"host-refused"}  # TEST-NET: nobody has it


def test_proxies_that_leave_loopback_alone(tmp_path: Path) -> None:
    proxy = {"https_proxy": "http://proxy:1"}
    assert ids(rehearsal(tmp_path, free_port(), **proxy)) == {"proxy-env-loopback"}
    assert ids(rehearsal(tmp_path, free_port(), **proxy, no_proxy="localhost,127.0.0.1")) == set()


@pytest.mark.parametrize(
    ("shm", "free", "found"),
    [(64 << 20, 3 << 30, {"shm-too-small"}), (4 << 30, 1 << 30, {"disk-low"}), (4 << 30, 3 << 30, set())],
)
def test_little_shared_memory_and_a_full_disk(shm: int, free: int, found: set[str], tmp_path: Path) -> None:
    (tmp_path / "dev/shm").mkdir(parents=True)

    def usage(place: Path) -> SimpleNamespace:
        return (
            SimpleNamespace(total=shm, free=shm) if place.name == "shm" else SimpleNamespace(total=1 << 40, free=free)
        )

    here = Here(Output("en", True, io.StringIO(), io.StringIO()), {"HOME": str(tmp_path)}, tmp_path)
    nothing = installed(None)
    seen = check(here, layout("rehearsal", nothing), nothing, None, free_port(), usage=usage)
    assert {finding.id for finding in seen.findings} - {"ffmpeg-missing"} == found


def test_our_own_server_is_a_word_and_no_finding(machine: Box) -> None:
    machine.up(pace=0.2)
    words = ("doctor", "--layout", "rehearsal", "--port", machine.port)
    told = machine.launch(*words, "--json").json
    assert not ids(told) & {"port-taken", "stages-left"}
    (server,) = told["running"]
    assert (server["port"], server["pid"]) == (machine.port, machine.record().process.pid)  # type: ignore[union-attr]
    assert set(server["pids"]) == {process.pid for process in machine.living()}
    shown = machine.launch(*words).text
    assert f"process {server['pid']}" in shown
    assert f"`python -m launch down --port {machine.port}`" in shown
    machine.launch("down")
    assert machine.launch(*words, "--json").json["running"] == []


def test_a_card_that_only_our_server_holds_is_free_enough(machine: Box) -> None:
    machine.up(pace=0.2)
    stage = next(process.pid for process in machine.living() if machine.proc.is_stage(process.pid))
    row = "0, GPU-a, RTX 4090, 20000, 24564, 570.86"
    tool = machine.root / "tools/nvidia-smi"
    tool.parent.mkdir()
    machine.path = str(tool.parent)
    for holder, found in ((stage, False), (1, True)):
        tool.write_text(
            f"#!/bin/sh\ncase $1 in --query-gpu*) echo '{row}';; *) echo 'GPU-a, {holder}, x, 20000';; esac\n"
        )
        tool.chmod(0o755)
        told = machine.launch("doctor", "--layout", "1card", "--port", machine.port, "--json").json
        assert ({"card-busy", "cards-too-few"} <= ids(told)) == found


def test_stages_of_a_dead_start_and_the_line_that_ends_them(machine: Box) -> None:
    machine.up(pace=0.2)
    record = machine.record()
    assert record.process is not None
    machine.proc.send(record.process, 9)  # type: ignore[arg-type]
    until(lambda: not machine.proc.alive(record.process))  # type: ignore[arg-type]
    told = machine.launch("doctor", "--layout", "rehearsal", "--port", free_port(), "--json", "--lang", "en").json
    left = {f"{process.pid}" for process in machine.living()}
    cures = [
        row["cure"] for row in told["findings"] if row["id"] == "stages-left" and all(p in row["what"] for p in left)
    ]
    assert len(left) == 3
    assert cures == [f"`python -m launch down --port {machine.port}`"]
    ended = machine.launch(*cures[0].strip("`").split()[3:], "--json").json["stopped"][0]["ended"]
    assert {str(pid) for pid in ended} == left


def test_status_does_without_the_doctor(tmp_path: Path) -> None:
    """It is typed often, and the doctor brings half of the launcher along."""
    code = (
        "import sys; from launch.cli import main; main(['status'], {'HOME': sys.argv[1]});"
        "print([name for name in sys.modules if 'doctor' in name])"
    )
    line = [sys.executable, "-c", code, str(tmp_path)]
    done = subprocess.run(line, cwd=ROOT, capture_output=True, text=True, check=True, timeout=60)
    assert done.stdout.splitlines()[-1] == "[]"
