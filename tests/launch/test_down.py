"""Stopping and watching: asked, killed, restarted; strangers left alone; what is said of a server."""

import re
import subprocess
import sys
from dataclasses import replace
from pathlib import Path

import pytest

from launch.records import Records
from tests.launch.fake_vllm.program import TITLE
from tests.launch.running import Box, free_port, until

DATA = Path(__file__).resolve().parents[1] / "data" / "npu"


def test_a_server_is_asked_to_end_and_leaves_nothing(machine: Box) -> None:
    machine.up(pace=0.2)
    family = {process.pid for process in machine.living()}
    assert len(family) == 4
    down = machine.launch("down", "--json")
    assert down.code == 0
    assert set(down.json["stopped"][0]["ended"]) == family
    assert down.json["stopped"][0]["killed"] == []
    assert machine.living() == []
    assert machine.ours() == []
    assert machine.launch("down").text == "There is nothing to stop.\n"
    assert machine.launch("logs", "--lines", "1").code == 0  # the log stays
    back = machine.launch("restart", "--json", pace=0.2)
    assert (back.code, back.json["state"], back.json["port"]) == (0, "ready", machine.port)


def test_the_deaf_are_killed(machine: Box) -> None:
    machine.up(pace=0.2, deaf=1)
    family = {process.pid for process in machine.living()}
    down = machine.launch("down", "--timeout", 1, "--json").json["stopped"][0]
    assert set(down["killed"]) == family
    assert 1 <= down["took_s"] < 6
    assert machine.living() == []


def test_stages_that_outlive_their_server_are_ended_with_it(machine: Box) -> None:
    machine.up(pace=0.2, stray=1)
    stages = {process.pid for process in machine.living() if machine.proc.is_stage(process.pid)}
    down = machine.launch("down", "--json").json["stopped"][0]
    assert len(stages) == 3
    assert stages <= set(down["ended"])
    assert (down["killed"], machine.living()) == ([], [])


def test_a_server_that_was_killed_is_dead_though_its_entry_stays(machine: Box) -> None:
    machine.up(pace=0.2)
    record = machine.record()
    assert record.process is not None
    machine.proc.send(record.process, 9)  # type: ignore[arg-type]
    until(lambda: not machine.proc.alive(record.process))  # type: ignore[arg-type]
    shown = machine.launch("status", "--json")
    assert (shown.code, shown.json["servers"][0]["state"]) == (1, "zombie")
    assert len(shown.json["orphans"]["ours"]) == 3
    assert "status" not in shown.errors
    down = machine.launch("down", "--json").json["stopped"][0]
    assert len(down["ended"]) == 3


def test_a_pid_that_was_given_away_is_not_hit(machine: Box) -> None:
    machine.up(pace=0.2)
    record = machine.record()
    machine.launch("down")
    with subprocess.Popen(["sleep", "60"], start_new_session=True) as stranger:
        process = machine.proc.get(stranger.pid)
        assert process is not None
        assert record.process is not None
        recycled = replace(record, process=replace(record.process, pid=stranger.pid), stopped=False)
        Records(machine.root / "state").save(recycled)
        assert machine.launch("status", "--json").json["servers"][0]["state"] == "dead"
        assert machine.launch("down", "--json").json["stopped"][0]["ended"] == []
        assert stranger.poll() is None
        stranger.kill()


def test_strangers_are_shown_and_only_stopped_when_named(machine: Box) -> None:
    port = free_port()
    command = [machine.vllm, "serve", "/m", "--omni", "--served-model-name", "theirs", "--port", str(port)]
    environ = {"FAKE_VLLM_PACE": "0.2"}
    stage = [TITLE.format(0), "60"]
    with (
        subprocess.Popen(command, env=environ, stdout=subprocess.DEVNULL, start_new_session=True) as theirs,
        subprocess.Popen(stage, executable="/bin/sleep", env={}, start_new_session=True) as orphan,
    ):
        try:

            def seen() -> dict[str, object]:
                servers = machine.launch("status", "--json").json["servers"]
                return next((one for one in servers if one["port"] == port), {})

            until(lambda: seen().get("state") == "ready")
            assert (seen()["ours"], seen()["model"], seen()["pid"]) == (False, "theirs", theirs.pid)
            status = machine.launch("status", "--json").json
            assert orphan.pid in status["orphans"]["foreign"]
            assert machine.launch("down", "--all").text == "There is nothing to stop.\n"
            assert machine.launch("down", "--port", port).text == "There is nothing to stop.\n"
            assert theirs.poll() is None
            down = machine.launch("down", "--foreign", "--port", port, "--json").json["stopped"]
            assert theirs.pid in down[0]["ended"]
            assert len(down[0]["ended"]) == 4
            assert theirs.wait(10) == 0
            assert orphan.poll() is None
        finally:
            theirs.kill()
            orphan.kill()


def test_what_ails_a_running_server(machine: Box) -> None:
    sick = machine.root / "sick"
    (machine.root / "dev" / "shm" / "shm_chatcmpl-1_0_0_lockfile.lock").touch()
    (machine.root / "dev" / "shm" / "chatcmpl-1_0_0").write_bytes(b"x" * 100)
    (machine.root / "dev" / "shm" / "psm_other").touch()
    machine.up(pace=0.2, answered=320, sick_file=sick)
    shown = machine.launch("status", "--json")
    assert shown.code == 1
    assert shown.json["servers"][0]["requests"] == 320
    told = {finding["id"]: finding for finding in shown.json["findings"]}
    assert "restart" in told["requests-near-cliff"]["cure"]
    assert "server-unhealthy" not in told
    assert shown.json["shm"] == {"files": 2, "bytes": 100}
    sick.touch()
    shown = machine.launch("status", "--json")
    assert shown.json["servers"][0]["state"] == "unhealthy"
    assert "server-unhealthy" in {finding["id"] for finding in shown.json["findings"]}
    (machine.root / "state" / "servers" / "1.json").write_text("{")
    told = machine.launch("status")
    assert "1.json" in told.text


def test_card_memory_is_told_by_process_and_watched_until_it_is_back(machine: Box) -> None:
    """`npu-smi` here: a table with the server's pid in it, and an idle one once that pid is gone."""
    machine.up(pace=0.2)
    record = machine.record()
    assert record.process is not None
    busy = (DATA / "a3_npu6_busy.txt").read_text()
    tools = machine.root / "tools"
    tools.mkdir()

    row = re.search(r"\| +(\d+) +\| +VLLMStageEngi", busy)
    assert row is not None
    (tools / "busy").write_text(busy.replace(row[1], str(record.process.pid).rjust(len(row[1]))))
    (tools / "idle").write_text((DATA / "a3_8.txt").read_text())
    (tools / "npu-smi").write_text(
        f"#!/bin/sh\nif grep -q ' [RS] ' /proc/{record.process.pid}/stat 2>/dev/null; then cat {tools}/busy; else cat {tools}/idle; fi\n"
    )
    (tools / "npu-smi").chmod(0o755)
    machine.path = f"{tools}:/usr/bin:/bin"
    held = machine.launch("status", "--json").json["servers"][0]["card_mb"]
    assert list(held.values()) != []
    down = machine.launch("down", "--json").json["stopped"][0]
    assert (down["freed_mb"], down["held_mb"]) == (held, {})


def test_a_log_that_was_taken_away_is_still_shown(machine: Box) -> None:
    machine.up(pace=0.2)
    Path(machine.record().log).unlink()
    shown = machine.launch("logs", "--lines", 5)
    assert (shown.code, len(shown.text.splitlines())) == (0, 5)
    assert "moved or deleted" in shown.errors
    machine.launch("down")
    assert machine.launch("logs", "--json").json["error"]["id"] == "log-gone"


def test_a_log_is_followed_to_its_end_and_by_stage(machine: Box) -> None:
    machine.up(pace=0.2)
    one = machine.launch("logs", "--stage", 1, "--lines", 10_000)
    assert {line.partition(" ")[0] for line in one.text.splitlines() if line.startswith("(")} == {
        "(StageEngineCoreProc_stage1_replica0",
        "(Worker",
    }
    follow = subprocess.Popen(
        [sys.executable, "-m", "launch", "logs", "-f", "--lines", "2"],
        cwd=Path(__file__).resolve().parents[2],
        env=machine.shell(),
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    )
    assert follow.stdout is not None
    follow.stdout.readline()
    with Path(machine.record().log).open("a") as log:
        log.write("api_key=abcdefgh one more line\n")
    machine.launch("down")
    text, errors = follow.communicate(timeout=20)
    assert "one more line" in text
    assert "abcdefgh" not in text
    assert "ended" in errors


@pytest.mark.parametrize("words", [("down",), ("restart",), ("logs",)])
def test_several_servers_want_a_choice(machine: Box, words: tuple[str, ...]) -> None:
    records = Records(machine.root / "state")
    machine.up("--no-wait", pace=20)
    records.save(replace(machine.record(), port=machine.port + 1, process=None, id="another"))
    told = machine.launch(*words, "--json")
    assert (told.code, told.json["error"]["id"]) == (2, "which-server")
    assert str(machine.port) in told.json["error"]["cause"]
