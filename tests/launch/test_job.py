"""Unattended runs: to the marker, in turn, gone on with after a break, and stopped."""

import hashlib
import os
import signal
from pathlib import Path

import pytest

from launch.job_file import JobFile
from launch.jobs import Job, Jobs, StepState
from launch.processes import Proc
from launch.records import Records
from tests.launch.running import Box, until


def write(machine: Box, text: str, name: str = "job.yaml") -> Path:
    path = machine.root / name
    server = f"""
server:
  layout: 1card
  model: {machine.root / "model"}
  vllm: {machine.vllm}
  port: {machine.port}
"""
    path.write_text(text.replace("@server", server))
    return path


def job(machine: Box, id: str | None = None) -> Job:
    jobs = Jobs(machine.root / "state").all()
    return next(one for one in jobs if id in (None, one.id))


@pytest.fixture
def box(machine: Box) -> Box:
    """With a shell's tools on PATH."""
    machine.path = "/usr/bin:/bin"
    return machine


def test_a_job_serves_runs_saves_and_leaves_its_marker(box: Box) -> None:
    file = write(
        box,
        """
name: night
@server
steps:
  - {name: first, run: 'echo "$OMNI_SERVER" > first.json', minutes: 20, save: ['*.json']}
  - {name: second, run: 'exit 3', minutes: 30}
  - {name: third, run: 'true', save: ['nothing-*.json']}
  - {name: fourth, run: 'test -f first.json && echo yes > fourth.txt', restart: true}
""",
    )
    dry = box.launch("job", file, "--dry-run")
    assert "58:00" in dry.text  # 20 + 30 minutes and two starts of 4
    assert "third, fourth" in dry.text
    begun = box.launch("job", file, "--json", pace=0.2)
    assert begun.code == 0, begun.errors
    until(lambda: job(box).ended, 60)
    told = box.launch("job", "status", "--json")
    assert told.code == 1
    night = told.json["jobs"][0]
    assert (night["name"], night["state"]) == ("night", "failed")
    assert [(step["name"], step["state"], step["code"]) for step in night["steps"]] == [
        ("first", "done", 0),
        ("second", "failed", 3),
        ("third", "failed", 0),
        ("fourth", "done", 0),
    ]
    said = f"http://127.0.0.1:{box.port}\n".encode()
    assert night["steps"][0]["results"] == {"first.json": hashlib.sha256(said).hexdigest()}
    until(lambda: (Path(night["folder"]) / "FAILED").is_file())
    assert "failed second" in (Path(night["folder"]) / "FAILED").read_text()
    record = Records(box.root / "state").get(box.port)
    assert record is not None
    assert record.stopped
    assert box.living() == []


def test_two_jobs_on_one_card_take_turns(box: Box) -> None:
    for name, card in (("a", 0), ("b", 0), ("c", 1)):
        steps = f"name: {name}\ncards: [{card}]\nsteps:\n  - {{name: s, run: 'sleep 1.5; date +%s.%N > {box.root}/{name}'}}\n"
        told = box.launch("job", write(box, steps, f"{name}.yaml"), "--json").json
        assert bool(told["ahead"]) == (name == "b")
    until(lambda: all(one.ended for one in Jobs(box.root / "state").all()), 60)
    ended = {one.name: one.steps[0] for one in Jobs(box.root / "state").all()}
    assert [step.state for step in ended.values()] == ["done"] * 3
    assert ended["b"].began >= ended["a"].ended  # type: ignore[operator]
    assert ended["c"].began < ended["a"].ended  # type: ignore[operator]


def test_a_job_that_was_killed_goes_on_with_the_step_it_was_at(box: Box) -> None:
    file = write(
        box,
        """
steps:
  - {name: one, run: 'echo x >> one'}
  - {name: two, run: 'echo x >> two; test -f go || sleep 60'}
""",
    )
    box.launch("job", file)
    until(lambda: job(box).steps[1].process is not None)
    first = job(box)
    assert first.runner is not None
    box.proc.send(first.runner, signal.SIGKILL)
    until(lambda: not box.proc.alive(first.runner))  # type: ignore[arg-type]
    lost = box.launch("job", "status")
    assert lost.code == 1
    assert "broken off" in lost.text
    assert box.proc.alive(first.steps[1].process)  # type: ignore[arg-type]
    (first.results / "go").touch()
    again = box.launch("job", file, "--json").json
    assert again["id"] == first.id
    until(lambda: job(box).ended)
    assert job(box).state == "done"
    assert not box.proc.alive(first.steps[1].process)  # type: ignore[arg-type]
    assert (first.results / "one").read_text() == "x\n"
    assert (first.results / "two").read_text() == "x\nx\n"
    until(lambda: (Path(first.folder) / "DONE").is_file())


def test_a_job_is_joined_and_stopped_with_all_it_started(box: Box) -> None:
    file = write(box, "@server\nsteps:\n  - {name: long, run: 'sleep 60'}\n")
    begun = box.launch("job", file, "--json", pace=0.2).json
    assert box.launch("job", file, "--json").json["id"] == begun["id"]
    until(lambda: job(box).steps[0].process is not None)
    step = job(box).steps[0].process
    assert step is not None
    stopped = box.launch("job", "stop", "--json").json
    assert stopped["state"] == "stopped"
    assert stopped["marker"].endswith("STOPPED")
    assert not box.proc.alive(step)
    assert box.living() == []


def test_what_is_no_job_and_what_cannot_start(box: Box) -> None:
    for text in (
        "steps: []",
        "[",
        "steps:\n  - {name: 'a/b', run: x}",
        "step: 1",
        "steps:\n  - {name: a, run: x, minute: 3}",
    ):
        told = box.launch("job", write(box, text), "--json")
        assert (told.code, told.json["error"]["id"]) == (2, "job-unreadable"), text
    assert box.launch("job", "status", "nobody", "--json").json["error"]["id"] == "job-unknown"
    blocked = write(box, "server: {layout: 1card, model: /nowhere}\nsteps:\n  - {name: a, run: x}\n")
    assert box.launch("job", blocked, "--json").code == 1
    assert Jobs(box.root / "state").all() == []


def test_the_queue_knows_only_living_jobs_before(tmp_path: Path) -> None:
    jobs = Jobs(tmp_path)

    def made(id: str, at: float, cards: tuple[str, ...], pid: int | None) -> Job:
        process = Proc(Path("/proc")).get(pid) if pid else None
        one = Job(
            id=id,
            name=id,
            folder=str(jobs.folder / id),
            base="/",
            digest="",
            queued_at=at,
            cards=cards,
            minutes=1,
            steps=(StepState("s"),),
            runner=Proc(Path("/proc")).identity(process) if process else None,
        )
        jobs.save(one)
        return one

    me = os.getpid()
    made("dead", 1, ("0",), None)
    made("here", 2, ("0", "1"), me)
    made("elsewhere", 3, ("2",), me)
    mine = made("mine", 4, ("1",), me)
    made("later", 5, ("1",), me)
    assert [one.id for one in jobs.ahead(mine, Proc(Path("/proc")))] == ["here"]


def test_the_estimate_counts_each_start() -> None:
    file = JobFile.model_validate(
        {
            "server": {"layout": "1card"},
            "steps": [{"name": "a", "run": "x", "minutes": 10}, {"name": "b", "run": "x", "restart": True}],
        }
    )
    assert (file.minutes(), file.unknown()) == (18, ["b"])
