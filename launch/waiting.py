"""Waiting for a start: shown by stage, until the server is ready or dead, or the user has seen enough."""

from __future__ import annotations

import subprocess
import time
from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING

from launch import probe
from launch.deploy_file import STAGES
from launch.here import Here
from launch.log_file import LogFile
from launch.log_text import decode
from launch.output import Output, launch_line, width
from launch.processes import Proc
from launch.progress import Progress, StageStart, clock
from launch.records import Record, Records
from launch.watch import proc

if TYPE_CHECKING:  # it and the catalogue take longer to load than a start may wait
    from launch.explain import Hit

INTERRUPTED = 130  # 128 + SIGINT
_TICK_S = 0.2  # between looks at the log: short for the eye, a thousandth of a core
_ASK_S = 2.0  # between questions to /health while the log does not say that the server is up
_BAR = 24  # characters
_QUIET_S = 60.0  # without a word in the log it is said that this is usual (npu.md: pages are locked for up to 5 min)


@dataclass(frozen=True)
class Outcome:
    """``state``: ready, dead, stopped (by ``down``), interrupted (by the user; the server goes on). ``hits``: what the
    log says of a death, most likely first.
    """

    state: str
    record: Record
    stages: tuple[StageStart, ...] = ()
    hits: tuple[Hit, ...] = ()


def wait_for(record: Record, here: Here, process: subprocess.Popen[bytes] | None = None) -> Outcome:
    """Watch a start to its end. ``process``: the server when it is this process's child, to be reaped."""
    progress = Progress()
    display = Display(here.out)
    table = proc(here)
    held = table.output(record.process.pid) if record.process and table.alive(record.process) else None
    try:
        with LogFile(Path(record.log), held) as log:
            state = _watch(record, log, progress, display, table, process)
    except KeyboardInterrupt:
        display.end()
        here.out.say("up.left", status=launch_line("status"), down=launch_line("down", "--port", record.port))
        return Outcome("interrupted", record, tuple(progress.stages.values()))
    display.end()
    stages = tuple(stage for _, stage in sorted(progress.stages.items()))
    records = Records(here.state_dir())
    now = records.get(record.port)
    if state == "ready":
        if record.ready_after_s is None:
            record = replace(record, ready_after_s=round(time.time() - record.started_at, 1))
            if now is not None and now.id == record.id:
                records.save(replace(now, ready_after_s=record.ready_after_s))
        here.out.say("up.ready", url=record.url, model=record.model, seconds=f"{record.ready_after_s:.1f}")
        return Outcome(state, record, stages)
    if now is not None and now.id == record.id and now.stopped:
        here.out.say("up.stopped")
        return Outcome("stopped", record, stages)
    return Outcome("dead", record, stages, tuple(_why(record, here, process)))


def _watch(
    record: Record,
    log: LogFile,
    progress: Progress,
    display: Display,
    table: Proc,
    process: subprocess.Popen[bytes] | None,
) -> str:
    heard = asked = time.monotonic()
    while True:
        # The pulse first, then the log: what it said last is read after it is known to be dead.
        if process is not None:
            process.poll()
        alive = record.process is not None and table.alive(record.process)
        lines = log.lines()
        for line in lines:
            progress.feed(decode(line))
        now = time.monotonic()
        heard = now if lines else heard
        display.show(progress, time.time() - record.started_at, now - heard)
        if not alive:
            return "dead"
        if progress.complete or now - asked >= _ASK_S:
            asked = now
            if probe.healthy(record.url):
                return "ready"
        time.sleep(_TICK_S)


def _why(record: Record, here: Here, process: subprocess.Popen[bytes] | None) -> Sequence[Hit]:
    from launch.commands.explain import show
    from launch.explain import explain_file

    code = process.returncode if process is not None else None
    here.out.complain(
        here.out.text("up.dead", seconds=round(time.time() - record.started_at), code="—" if code is None else code)
    )
    log = Path(record.log)
    hits = explain_file(log) if log.is_file() else []
    show(hits, here)
    here.out.say("up.log", log=record.log)
    return hits


class Display:
    """The start on a terminal: one line that changes, and a line for each stage that is done. Where nothing can change
    (a file, a pipe) a line for each new phase.
    """

    def __init__(self, out: Output) -> None:
        self.out = out
        self.live = out.colour and not out.as_json
        self._done: set[int] = set()
        self._shown = ""
        self._phase: tuple[int, str] | None = None
        self._quiet = False  # this silence was spoken of

    def show(self, progress: Progress, elapsed_s: float, quiet_s: float) -> None:
        for number, stage in sorted(progress.stages.items()):
            if stage.ready and number not in self._done:
                self._done.add(number)
                self.end()
                took = "—" if stage.took_s is None else f"{stage.took_s:.0f}"
                self.out.say("progress.stage_ready", stage=self._name(number), seconds=took)
        if quiet_s < _QUIET_S:
            self._quiet = False
        elif not self._quiet:
            self._quiet = True
            self.end()
            self.out.say("progress.quiet", time=clock(quiet_s))
        stage = progress.current
        where = self.out.text("progress.whole") if stage is None else self._name(stage.stage)
        phase = "" if stage is None else self.out.text(f"progress.{stage.phase}")
        if not self.live:
            if stage is not None and self._phase != (stage.stage, stage.phase):
                self._phase = (stage.stage, stage.phase)
                self.out.line(f"  {progress.percent:3d} %  {where}  {phase}")
            return
        full = progress.percent * _BAR // 100
        line = f"  [{'█' * full}{'·' * (_BAR - full)}] {progress.percent:3d} %  {clock(elapsed_s)}  {where}  {phase}"
        if line != self._shown:
            blank = " " * max(0, width(self._shown) - width(line))
            self.out.stream.write("\r" + line + blank)
            self.out.stream.flush()
            self._shown = line

    def end(self) -> None:
        """Leave the changing line, so that the next words stand on one of their own."""
        if self._shown:
            self.out.stream.write("\r" + " " * width(self._shown) + "\r")
            self.out.stream.flush()
            self._shown = ""

    def _name(self, stage: int) -> str:
        return self.out.text(f"stage.{STAGES[stage]}") if stage in STAGES else str(stage)
