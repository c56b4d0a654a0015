"""``job``: a long unattended run, its place in the queue, and what became of it."""

from __future__ import annotations

import signal
import time
from argparse import Namespace
from collections.abc import Sequence
from dataclasses import asdict
from pathlib import Path

from launch.command import plan
from launch.command_line import CommandParser
from launch.errors import InputError, LaunchError
from launch.faults import tell
from launch.here import Here
from launch.job_file import JobFile, load
from launch.jobs import Job, Jobs, StepState, carried, carry, digest, join_queue
from launch.output import launch_line
from launch.progress import clock
from launch.watch import proc

_STOP_S = 60.0  # its step gets 10 s, its server 45


def options(parser: CommandParser) -> None:
    parser.add_argument("what", metavar="FILE.yaml|status|stop")
    parser.add_argument("id", metavar="ID", nargs="?")
    parser.add_argument("--again", action="store_true")
    parser.add_argument("--dry-run", action="store_true")


def run(args: Namespace, here: Here) -> int:
    if args.what == "status":
        return _status(args.id, here)
    if args.what == "stop":
        return _stop(_chosen(args.id, here), here)
    path = Path(args.what).expanduser().absolute()
    file = load(path)
    cards = _cards(file, here)
    if cards is None:
        return 1
    _estimate(file, cards, here)
    text = path.read_text(encoding="utf-8")
    if args.dry_run:
        here.out.json({"name": file.name, "minutes": file.minutes(), "cards": cards, "unknown": file.unknown()})
        return 0
    job, key = _begun(file, text, cards, args.again, here)
    ahead = Jobs(here.state_dir()).ahead(job, proc(here))
    here.out.say(key, id=job.id, folder=job.folder)
    if ahead:
        here.out.say("job.waits", ids=", ".join(other.id for other in ahead))
    here.out.say("job.look", command=launch_line("job", "status", job.id))
    here.out.json({**_document(job, here), "ahead": [other.id for other in ahead]})
    return 0


def _begun(file: JobFile, text: str, cards: Sequence[str], again: bool, here: Here) -> tuple[Job, str]:
    """The job that now runs or waits, and the sentence about it: an unfinished one of the same file is gone on with."""
    jobs = Jobs(here.state_dir())
    known = [job for job in jobs.all() if job.digest == digest(text) and not job.ended]
    if known and not again:
        if carried(known[-1], proc(here)):
            return known[-1], "job.known"
        with jobs.queue():
            return carry(known[-1], here), "job.resumed"
    new = Job(
        id="",
        name=file.name,
        folder="",
        base=str(Path.cwd()),
        digest=digest(text),
        queued_at=0.0,
        cards=tuple(cards),
        minutes=file.minutes(),
        steps=tuple(StepState(step.name) for step in file.steps),
        port=file.server.port if file.server else None,
    )
    return join_queue(new, text, here), "job.queued"


def _cards(file: JobFile, here: Here) -> list[str] | None:
    """The cards it will use, as the machine numbers them; None when its server could not start."""
    cards = {str(card) for card in file.cards}
    if file.server is not None:
        start = plan(file.server.request(), here)
        here.out.findings(start.findings)
        if start.blocked:
            here.out.json({"findings": here.out.told(start.findings)})
            return None
        used = {card for stage in start.layout.stages for card in stage.cards}
        cards |= {start.cards[card] if start.cards and card < len(start.cards) else str(card) for card in used}
    return sorted(cards)


def _estimate(file: JobFile, cards: Sequence[str], here: Here) -> None:
    minutes = file.minutes()
    here.out.say(
        "job.estimate",
        time=clock(minutes * 60),
        cards=", ".join(cards) or "—",
        card_hours=f"{minutes / 60 * len(cards):.1f}",
    )
    if file.unknown():
        here.out.say("job.unknown", steps=", ".join(file.unknown()))


def _chosen(id: str | None, here: Here) -> Job:
    """The job with this id, else the last one. Raises ``InputError`` (job-unknown)."""
    jobs = Jobs(here.state_dir()).all()
    found = [job for job in jobs if id in (None, job.id)]
    if not found:
        raise InputError("job-unknown", id=id or "—")
    return found[-1]


def _status(id: str | None, here: Here) -> int:
    jobs = [_chosen(id, here)] if id else Jobs(here.state_dir()).all()
    out = here.out
    if not jobs:
        out.say("job.none")
    for job in jobs:
        state = _state(job, here)
        style = {"done": "good", "failed": "fatal", "lost": "fatal", "stopped": "degraded"}.get(state, "strong")
        out.line(f"{job.id}  {out.paint(out.text(f'job.state_{state}'), style)}")
        rows = [(out.text(f"job.step_state_{step.state}"), step.name, _took(step)) for step in job.steps]
        out.table((), rows, indent="    ")
        for step in job.steps:
            for name in step.results:
                out.line(f"        {job.results / name}")
        if job.error:
            told = tell(job.error[0], job.error[1], out.tongue)
            out.line("    " + told.cause)
            out.line("    " + out.text("findings.cure", cure=told.cure))
        if state == "lost":
            out.say("job.lost", command=launch_line("job", Path(job.folder) / "job.yaml"))
        out.line(f"    {job.log}")
    out.json({"jobs": [_document(job, here) for job in jobs]})
    return int(any(_state(job, here) in ("failed", "lost") for job in jobs))


def _stop(job: Job, here: Here) -> int:
    """Ask its process to end, which breaks off its step and stops its server."""
    table = proc(here)
    if job.runner is None or not carried(job, table):
        here.out.say("job.not_running", id=job.id)
        here.out.json(_document(job, here))
        return 0
    table.send(job.runner, signal.SIGTERM)
    until = time.monotonic() + _STOP_S
    while table.alive(job.runner):
        if time.monotonic() > until:
            raise LaunchError("stop-refused", pids=job.runner.pid)
        time.sleep(0.1)
    here.out.say("job.stopped", id=job.id)
    here.out.json(_document(_chosen(job.id, here), here))
    return 0


def _state(job: Job, here: Here) -> str:
    """Its own word for it, or "lost": unfinished, and nobody carries it (a reboot, a kill)."""
    return job.state if job.ended or carried(job, proc(here)) else "lost"


def _took(step: StepState) -> str:
    if step.began is None:
        return ""
    return clock((step.ended or time.time()) - step.began)


def _document(job: Job, here: Here) -> dict[str, object]:
    state = _state(job, here)
    marker = Path(job.folder) / state.upper()
    return {**asdict(job), "state": state, "log": str(job.log), "marker": str(marker) if marker.is_file() else None}
