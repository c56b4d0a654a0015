"""The process that carries one job: waits for its cards, starts its server, runs its steps, keeps what they leave, and
writes down how it ended.
"""

from __future__ import annotations

import hashlib
import os
import signal
import subprocess
import sys
import time
from dataclasses import replace
from pathlib import Path

from launch import supervise, whole_file
from launch.command import plan
from launch.errors import LaunchError, OmniError
from launch.here import Here
from launch.job_file import JobFile, StepPart, load
from launch.jobs import Job, Jobs, StepState
from launch.output import Output
from launch.processes import MARK
from launch.records import Records
from launch.stopping import end, stop
from launch.texts import language
from launch.watch import look, proc

_TICK_S = 1.0  # between looks at the queue and at a step: jobs take hours
_STEP_PATIENCE_S = 10.0  # for a step to end when it is asked


class Told(SystemExit):
    """SIGTERM came: ``job stop``, or the machine goes down."""


class Runner:
    def __init__(self, folder: Path, here: Here) -> None:
        self.here = here
        self.jobs = Jobs(here.state_dir())
        self.file: JobFile = load(folder / "job.yaml")
        job = self.jobs.get(folder.name)
        if job is None:
            raise LaunchError("job-unknown", id=folder.name)
        os.chdir(job.base)  # paths in the file are meant from where its user stood
        me = proc(here).get(os.getpid())
        self.job: Job = replace(job, runner=proc(here).identity(me) if me else None)

    def run(self) -> int:
        """The exit code: 0 when every step did its work."""
        state, error = "failed", None
        try:
            self._clear_leftovers()
            self._wait_for_cards()
            for index, step in enumerate(self.file.steps):
                if self.job.steps[index].state != "done":
                    self._serve(anew=step.restart)
                    self._save(state="running")
                    self._step(index, step)
            state = "done" if all(step.state == "done" for step in self.job.steps) else "failed"
        except Told:
            state = "stopped"
        except OmniError as failed:
            error = (failed.key, {name: str(value) for name, value in failed.facts.items()})
        finally:
            signal.signal(signal.SIGTERM, signal.SIG_IGN)  # asked once is enough; what follows must be finished
            self._clear_leftovers()
            self._end_server()
            self._save(state=state, error=error)
            self._mark(state)
        return 0 if state == "done" else 1

    def _wait_for_cards(self) -> None:
        self._save(state="queued")
        told: list[str] = []
        while ahead := self.jobs.ahead(self.job, proc(self.here)):
            ids = [job.id for job in ahead]
            if ids != told:
                self._say("job.waits", ids=", ".join(ids))
                told = ids
            time.sleep(_TICK_S)

    def _serve(self, *, anew: bool) -> None:
        """See that the job's server answers. Raises ``LaunchError`` (job-server-failed, and what ``up`` raises)."""
        if self.file.server is None:
            return
        request = self.file.server.request()
        records = Records(self.here.state_dir())
        record = records.get(request.port)
        if record is not None and not anew and not record.stopped and look(record, self.here).state == "ready":
            return
        self._save(state="starting")
        if record is not None and anew and not record.stopped:
            stop(record, self.here)
        start = plan(request, self.here)
        self.here.out.findings(start.findings)
        if start.blocked or supervise.start(start, self.here, wait=True) != 0:
            raise LaunchError("job-server-failed", log=self.job.log)

    def _step(self, index: int, step: StepPart) -> None:
        self._say("job.step", name=step.name)
        began = time.time()
        with (Path(self.job.folder) / f"{index + 1}-{step.name}.log").open("ab") as log:
            process = subprocess.Popen(
                ["bash", "-c", step.run],
                cwd=self.job.results,
                env=self._environment(),
                stdin=subprocess.DEVNULL,
                stdout=log,
                stderr=subprocess.STDOUT,
                start_new_session=True,
            )
        table = proc(self.here)
        born = table.get(process.pid)
        running = StepState(step.name, "running", began, process=table.identity(born) if born else None)
        self._put(index, running)
        while process.poll() is None:
            time.sleep(_TICK_S / 4)
        results = self._results(step, began)
        kept = results is not None
        state = "done" if process.returncode == 0 and kept else "failed"
        self._put(
            index,
            replace(
                running, state=state, ended=time.time(), code=process.returncode, process=None, results=results or {}
            ),
        )
        self._say(f"job.step_{state}", name=step.name, code=process.returncode)
        if not kept:
            self._say("job.nothing_saved", patterns=", ".join(step.save))

    def _environment(self) -> dict[str, str]:
        server = self.file.server
        told = {"OMNI_RESULTS": str(self.job.results), MARK: self.job.id}
        if server is not None:
            told["OMNI_SERVER"] = f"http://127.0.0.1:{server.port}"
            told["OMNI_MODEL"] = server.served_model_name
        return {**self.here.environ, **told}

    def _results(self, step: StepPart, began: float) -> dict[str, str] | None:
        """What the step left, by its patterns; None when one of them fits nothing new."""
        found: dict[str, str] = {}
        for pattern in step.save:
            fresh = [path for path in sorted(self.job.results.glob(pattern)) if path.stat().st_mtime >= began - 1]
            if not fresh:
                return None
            for path in fresh:
                found[str(path.relative_to(self.job.results))] = _digest(path)
        return found

    def _clear_leftovers(self) -> None:
        """End a step that outlived the process that carried it (or is to be broken off)."""
        table = proc(self.here)
        for index, step in enumerate(self.job.steps):
            who = step.process
            if who is not None:
                end(who, lambda who=who: table.members(who, self.job.id), self.here, _STEP_PATIENCE_S)
                self._put(index, replace(step, state="waiting", process=None))

    def _end_server(self) -> None:
        if self.file.server is None or self.file.server.keep:
            return
        record = Records(self.here.state_dir()).get(self.file.server.port)
        if record is not None and not record.stopped and record.request == supervise.kept(self.file.server.request()):
            try:
                stop(record, self.here)
            except OmniError as failed:
                self._say("job.server_stays", id=failed.key)

    def _put(self, index: int, step: StepState) -> None:
        self.job = self.job.with_step(index, step)
        self.jobs.save(self.job)

    def _save(self, state: str, error: tuple[str, dict[str, str]] | None = None) -> None:
        self.job = replace(self.job, state=state, error=error)
        self.jobs.save(self.job)

    def _mark(self, state: str) -> None:
        """The marker that a returning user looks for: DONE, FAILED or STOPPED, with each step and its results."""
        lines = [f"{state} {time.strftime('%F %T')}"]
        for step in self.job.steps:
            lines.append(f"{step.state} {step.name}")
            lines += [f"  {digest}  {name}" for name, digest in step.results.items()]
        for name in ("DONE", "FAILED", "STOPPED"):
            (Path(self.job.folder) / name).unlink(missing_ok=True)
        whole_file.write(Path(self.job.folder) / state.upper(), "\n".join(lines) + "\n")
        self._say(f"job.{state}", id=self.job.id)

    def _say(self, key: str, **facts: object) -> None:
        self.here.out.line(f"{time.strftime('%F %T')}  {self.here.out.text(key, **facts)}")


def _digest(path: Path) -> str:
    digest = hashlib.sha256()
    with path.open("rb") as file:
        while block := file.read(1 << 20):
            digest.update(block)
    return digest.hexdigest()


def main(folder: str, root: str) -> int:
    def told(*_: object) -> None:
        raise Told

    signal.signal(signal.SIGTERM, told)
    out = Output(language(os.environ), as_json=False, stream=sys.stdout, errors=sys.stderr)
    return Runner(Path(folder), Here(out, dict(os.environ), Path(root))).run()


if __name__ == "__main__":
    sys.exit(main(*sys.argv[1:3]))
