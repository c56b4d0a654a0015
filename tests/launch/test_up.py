"""Starting: to ready, to death, beside others, and without whoever asked for it."""

import json
import os
import pty
import signal
import socket
import subprocess
import sys
from dataclasses import replace
from pathlib import Path

from launch.records import Records
from tests.launch.running import ROOT, Box, until

COMMAND = [sys.executable, "-m", "launch"]


def test_a_start_is_shown_by_stage_and_is_there_afterwards(machine: Box) -> None:
    shown = machine.up(pace=0.6)
    assert shown.code == 0, shown.errors
    for words in ("thinker: ready after 81 s", "talker: ready after 47 s", "vocoder: ready after 42 s"):
        assert words in shown.text
    assert f"http://127.0.0.1:{machine.port}, model openbmb/MiniCPM-o-4_5" in shown.text
    status = machine.launch("status", "--json").json
    server = status["servers"][0]
    assert (server["state"], server["ours"], server["layout"]) == ("ready", True, "1card")
    assert 0 < server["ready_after_s"] < 20
    assert machine.proc.get(server["pid"]).session == server["pid"]  # type: ignore[union-attr]

    joined = machine.up("--json")
    assert (joined.code, joined.json["state"], joined.json["pid"]) == (0, "ready", server["pid"])
    other = machine.up("--images", 96, "--json")
    assert (other.code, other.json["error"]["id"]) == (1, "up-already")
    assert f"python -m launch down --port {machine.port}" in other.json["error"]["cure"]


def test_a_start_in_the_background_tells_where_it_stands(machine: Box) -> None:
    shown = machine.up("--no-wait", "--json", pace=20)
    assert (shown.code, shown.json["state"]) == (0, "starting")
    until(lambda: machine.launch("status", "--json").json["servers"][0]["stage"] is not None)
    server = machine.launch("status", "--json").json["servers"][0]
    assert (server["state"], server["stage"]) == ("starting", 0)
    assert 10 <= server["percent"] < 53
    assert "starting" in machine.launch("status").text


def test_a_port_that_another_holds_is_named(machine: Box) -> None:
    with socket.create_server(("127.0.0.1", machine.port)):
        refused = machine.up("--json")
        assert (refused.code, refused.json["error"]["id"]) == (1, "port-taken")
        assert str(os.getpid()) in refused.json["error"]["cause"]
    assert Records(machine.root / "state").get(machine.port) is None


def test_a_death_is_explained_and_its_stages_do_not_stand_in_the_next_ones_way(machine: Box) -> None:
    words = "(APIServer pid=3) OSError: [Errno 98] Address already in use"
    dead = machine.up("--json", pace=0.4, die_at="Stage-2 set runtime devices", last_words=words)
    assert (dead.code, dead.json["state"]) == (1, "dead")
    assert dead.json["causes"][0]["id"] == "port-in-use"
    assert [stage["stage"] for stage in dead.json["stages"]] == [0, 1, 2]
    status = machine.launch("status", "--json")
    assert status.code == 1
    assert status.json["servers"][0]["state"] == "dead"
    left = status.json["orphans"]["ours"]
    assert len(left) == 3
    assert {finding["id"] for finding in status.json["findings"]} >= {"server-dead", "stages-left"}
    again = machine.up(pace=0.2)
    assert again.code == 0, again.errors
    assert "3 stages" in again.text
    assert not [pid for pid in left if (process := machine.proc.get(pid)) and process.alive]


def test_a_full_disk_starts_nothing(machine: Box) -> None:
    servers = machine.root / "state" / "servers"
    servers.mkdir(parents=True)
    (servers / f"{machine.port}.{os.getpid()}").symlink_to("/dev/full")
    refused = machine.up("--json")
    assert (refused.code, refused.json["error"]["id"]) == (1, "state-not-written")
    assert machine.port not in _ports(machine)


def _ports(machine: Box) -> list[int]:
    return [int(words[words.index("--port") + 1]) for _, words in machine.proc.servers() if "--port" in words]


def test_ctrl_c_leaves_the_server_starting(machine: Box) -> None:
    environ = machine.shell(pace=3)
    with subprocess.Popen([*COMMAND, *machine.words()], cwd=ROOT, env=environ, stdout=subprocess.PIPE, text=True) as up:
        assert up.stdout is not None
        for line in up.stdout:
            if "thinker" in line:
                break
        up.send_signal(signal.SIGINT)
        rest = up.stdout.read()
        assert up.wait(20) == 130
    assert "goes on starting" in rest
    assert f"python -m launch down --port {machine.port}" in rest
    assert machine.living()


def test_a_lost_terminal_does_not_matter(machine: Box) -> None:
    pid, terminal = pty.fork()
    if pid == 0:
        os.chdir(ROOT)
        os.execve(sys.executable, [*COMMAND, *machine.words()], {**machine.shell(pace=2), "TERM": "xterm"})
    seen = b""
    while b"thinker" not in seen:
        seen += os.read(terminal, 4096)
    assert b"\r" in seen
    assert "█".encode() in seen
    os.close(terminal)  # the terminal hangs up
    assert os.WIFSIGNALED(os.waitpid(pid, 0)[1])
    until(lambda: machine.launch("status", "--json").json["servers"][0]["state"] == "ready")


def test_two_launches_at_once_start_one_server(machine: Box) -> None:
    words = [*COMMAND, *machine.words("--no-wait", "--json")]
    environ = machine.shell(pace=5)
    both = [subprocess.Popen(words, cwd=ROOT, env=environ, stdout=subprocess.PIPE) for _ in range(2)]
    told = [json.loads(launch.communicate(timeout=60)[0]) for launch in both]
    assert _ports(machine).count(machine.port) == 1
    for answer in told:
        assert answer.get("pid") == machine.record().process.pid or answer["error"]["id"] == "launch-busy"  # type: ignore[union-attr]
    assert any("pid" in answer for answer in told)


def test_a_server_whose_recording_was_cut_off_is_found_by_its_mark(machine: Box) -> None:
    machine.up(pace=0.2)
    record = machine.record()
    Records(machine.root / "state").save(replace(record, process=None))
    assert [(one["pid"], one["ours"], one["state"]) for one in machine.ours()] == [(record.process.pid, True, "ready")]  # type: ignore[union-attr]
    assert machine.launch("down", "--json").json["stopped"][0]["ended"]


def test_secrets_are_not_kept(machine: Box) -> None:
    secret = "s3cret-value-7"
    key = machine.root / "key"
    key.write_text(secret + "x")
    shown = machine.up("--env", f"MY_TOKEN={secret}", "--api-key-file", key, "--json", pace=0.2)
    assert shown.code == 0
    state = [path.read_text() for path in (machine.root / "state").rglob("*") if path.is_file()]
    assert not [text for text in (shown.text, *state) if secret in text]
    machine.launch("down")
    refused = machine.launch("restart", "--json")
    assert refused.json["error"]["id"] == "restart-secret-gone"
    machine.environ["MY_TOKEN"] = secret
    assert machine.launch("restart", pace=0.2).code == 0
    environ = Path(f"/proc/{machine.record().process.pid}/environ").read_bytes()  # type: ignore[union-attr]
    assert f"MY_TOKEN={secret}\0".encode() in environ
    assert f"VLLM_API_KEY={secret}x\0".encode() in environ
