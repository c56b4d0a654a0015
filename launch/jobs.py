"""Jobs on this machine: each in a folder of its own, in one queue, so that no two use a card at once."""

from __future__ import annotations

import fcntl
import hashlib
import json
import os
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import asdict, dataclass, field, replace
from pathlib import Path

from launch import whole_file
from launch.command import ROOT
from launch.errors import LaunchError
from launch.here import Here
from launch.processes import Identity, Proc
from launch.watch import proc

ENDED = ("done", "failed", "stopped")


@dataclass(frozen=True)
class StepState:
    """``state``: waiting, running, done, failed. ``results``: file -> SHA-256, so that what is quoted later can be told
    from what was measured.
    """

    name: str
    state: str = "waiting"
    began: float | None = None
    ended: float | None = None
    code: int | None = None
    process: Identity | None = None
    results: dict[str, str] = field(default_factory=dict)


@dataclass(frozen=True)
class Job:
    """``state``: queued, starting (its server), running, done, failed, stopped. ``base``: the directory that its file's
    paths are meant from. ``digest``: of its file. ``error``: a
    catalogue id with its facts. ``runner``: the process that carries it.
    """

    id: str
    name: str
    folder: str
    base: str
    digest: str
    queued_at: float
    cards: tuple[str, ...]
    minutes: float
    steps: tuple[StepState, ...]
    port: int | None = None
    state: str = "queued"
    runner: Identity | None = None
    error: tuple[str, dict[str, str]] | None = None

    @property
    def ended(self) -> bool:
        return self.state in ENDED

    @property
    def log(self) -> Path:
        return Path(self.folder) / "job.log"

    @property
    def results(self) -> Path:
        """The working directory of its steps."""
        return Path(self.folder) / "results"

    def with_step(self, index: int, step: StepState) -> Job:
        return replace(self, steps=(*self.steps[:index], step, *self.steps[index + 1 :]))


class Jobs:
    """The jobs of one state folder."""

    def __init__(self, state: Path) -> None:
        self.folder = state / "jobs"

    def all(self) -> list[Job]:
        """In the order of the queue. What cannot be read is none."""
        found = (_read(path) for path in self.folder.glob("*/state.json")) if self.folder.is_dir() else ()
        return sorted((job for job in found if job is not None), key=lambda job: (job.queued_at, job.id))

    def get(self, id: str) -> Job | None:
        return next((job for job in self.all() if job.id == id), None)

    def save(self, job: Job) -> None:
        """Raises ``LaunchError`` (state-not-written)."""
        whole_file.write(Path(job.folder) / "state.json", json.dumps(asdict(job), ensure_ascii=False, indent=1))

    @contextmanager
    def queue(self) -> Iterator[None]:
        """One at a time may join the queue, so that its order is the order in which the others see it."""
        try:
            whole_file.private(self.folder)
            handle = os.open(self.folder / "queue.lock", os.O_RDWR | os.O_CREAT, 0o600)
        except OSError as refused:
            raise LaunchError("state-not-written", folder=self.folder, reason=refused.strerror or "") from refused
        try:
            fcntl.flock(handle, fcntl.LOCK_EX)
            yield
        finally:
            os.close(handle)

    def ahead(self, job: Job, table: Proc) -> list[Job]:
        """The living jobs before ``job`` in the queue that use one of its cards."""
        before = [other for other in self.all() if (other.queued_at, other.id) < (job.queued_at, job.id)]
        return [other for other in before if set(other.cards) & set(job.cards) and carried(other, table)]


def carried(job: Job, table: Proc) -> bool:
    """Whether a living process works on it or waits with it."""
    return not job.ended and job.runner is not None and table.alive(job.runner)


def digest(text: str) -> str:
    return hashlib.sha256(text.encode()).hexdigest()


def join_queue(job: Job, text: str, here: Here) -> Job:
    """Put a new job (``folder`` not yet set) with its file's ``text`` at the end of the queue and set it going."""
    jobs = Jobs(here.state_dir())
    with jobs.queue():
        now = time.time()
        id = f"{time.strftime('%Y%m%d-%H%M%S', time.localtime(now))}-{job.name}"
        taken = {other.id for other in jobs.all()}
        number = next(count for count in range(len(taken) + 1) if (f"{id}-{count}" if count else id) not in taken)
        id = f"{id}-{number}" if number else id
        job = replace(job, id=id, queued_at=now, folder=str(jobs.folder / id))
        whole_file.write(Path(job.folder) / "job.yaml", text)
        return carry(job, here)


def carry(job: Job, here: Here) -> Job:
    """Give ``job`` a process of its own that outlives the terminal. Steps that are done stay done. Called with the queue
    held.
    """
    jobs = Jobs(here.state_dir())
    job = replace(job, state="queued", error=None, runner=None)
    jobs.save(job)
    try:
        job.results.mkdir(exist_ok=True, mode=0o700)
        log = os.open(job.log, os.O_WRONLY | os.O_CREAT | os.O_APPEND, 0o600)
        try:
            runner = subprocess.Popen(
                [sys.executable, "-m", "launch.job_runner", job.folder, str(here.root)],
                cwd=ROOT,
                env={**here.environ, "OMNI_STATE": str(here.state_dir()), "OMNI_LANG": here.out.tongue},
                stdin=subprocess.DEVNULL,
                stdout=log,
                stderr=subprocess.STDOUT,
                start_new_session=True,
            )
        finally:
            os.close(log)
    except OSError as refused:
        raise LaunchError("state-not-written", folder=job.folder, reason=refused.strerror or "") from refused
    table = proc(here)
    born = table.get(runner.pid)
    job = replace(job, runner=table.identity(born) if born else None)
    jobs.save(job)
    return job


def _read(path: Path) -> Job | None:
    try:
        data = json.loads(path.read_text(encoding="utf-8"))
        steps = tuple(StepState(**{**step, "process": _identity(step["process"])}) for step in data["steps"])
        error = data["error"] and (data["error"][0], data["error"][1])
        runner = _identity(data["runner"])
        return Job(**{**data, "steps": steps, "cards": tuple(data["cards"]), "runner": runner, "error": error})
    except (OSError, ValueError, TypeError, KeyError, IndexError):
        return None


def _identity(data: dict[str, object] | None) -> Identity | None:
    return Identity(**data) if data else None  # type: ignore[arg-type]
