"""How far a start has come, out of the server's log: which stage does what, the share done, and how long each took."""

from __future__ import annotations

import re
from dataclasses import dataclass
from datetime import datetime

from launch.log_text import split

_TIME = re.compile(r"\b(\d\d)-(\d\d) (\d\d):(\d\d):(\d\d)\b")
_YEAR_S = 366 * 86_400.0  # the log names no year; the one we compute in has a 29 February
_WRITER = re.compile(r"\bpid=(\d+)")
_STAGE_WRITER = re.compile(r"_stage(\d+)_")
_LAUNCHING = re.compile(r"Launching Orchestrator thread with (\d+) stages")
_BEGUN = re.compile(r"Stage-(\d+) set runtime devices")
# 0.26 says all three; 0.30 only the last, and its `set runtime devices` only where it sets some.
_STARTED = re.compile(
    r"Stage (?P<a>\d+) (?:engine startup completed|initialized)|stage-(?P<b>\d+) \[rep-\d+\] EngineCore running"
)
_SHARDS = re.compile(r"Loading safetensors checkpoint shards:\s+(\d+)% Completed")
_REHEARSAL_LOADING = re.compile(r"^loading \S+ ([\d.]+)$")

# What a stage says, the phase it is then in, and the share of its start that lies behind it: from the real server's log
# and the durations of one card (Python 35 %, weights 30 %, profile and graphs 35 %; estimates, disks differ).
_PHASES = (
    ("Initializing a V1 LLM engine", "engine", 0.30),
    ("Starting to load model", "weights", 0.35),
    ("Loading weights took", "warm-up", 0.65),
    ("Capturing", "graphs", 0.75),
    ("init engine (profile", "linking", 0.95),
)
_SHARDS_FROM, _SHARDS_SHARE = 0.35, 0.30
# Of the whole: before the first stage, after the last; and the stages between by weight (0 has most of the model).
_BEFORE, _AFTER = 0.10, 0.04
_WEIGHTS = {0: 0.5, 1: 0.3, 2: 0.2}
_STAGES = 3


@dataclass
class StageStart:
    """One stage on its way. ``began``, ``ended``: seconds on the log's clock, which has whole seconds; None where the
    log shows no time. ``share``: 0 to 1.
    """

    stage: int
    began: float | None
    ended: float | None = None
    phase: str = "python"
    share: float = 0.0

    @property
    def ready(self) -> bool:
        return self.share >= 1.0

    @property
    def took_s(self) -> float | None:
        """Seconds until it was ready; None before, or without times."""
        return None if self.ended is None or self.began is None else (self.ended - self.began) % _YEAR_S


class Progress:
    """Fed with the log's decoded lines in their order."""

    def __init__(self) -> None:
        self.stages: dict[int, StageStart] = {}
        self.count = _STAGES
        self.complete = False
        self._share = 0.0
        self._clock: float | None = None
        self._stage_of: dict[str, int] = {}  # pid of a worker -> its stage

    @property
    def percent(self) -> int:
        """0 to 100; 100 only when the log says that the server is up. It never falls."""
        return 100 if self.complete else min(99, int(self._share * 100))

    @property
    def current(self) -> StageStart | None:
        """The first stage that is still starting; None before the first and after the last."""
        return next((stage for _, stage in sorted(self.stages.items()) if not stage.ready), None)

    def feed(self, line: str) -> int | None:
        """Take one line. Returns the stage that wrote it, None when nobody can tell."""
        who, text = split(line)
        self._tick(line)
        stage = self._writer(who)
        if found := _LAUNCHING.search(text):
            self.count, self._share = int(found[1]), max(self._share, _BEFORE)
        elif found := _BEGUN.search(text):
            self.stages.setdefault(int(found[1]), StageStart(int(found[1]), self._clock))
        elif found := _STARTED.search(text):
            self._ready(int(found["a"] or found["b"]))
        elif "Application startup complete" in text or text.startswith("ready http"):
            self.complete = True
        elif found := _REHEARSAL_LOADING.match(text):
            self._share = max(self._share, float(found[1]))
        elif stage in self.stages:
            self._within(self.stages[stage], text)
        self._sum()
        return stage

    def _tick(self, line: str) -> None:
        if found := _TIME.search(line[:200]):
            month, day, hour, minute, second = map(int, found.groups())
            try:
                moment = datetime(2000, month, day, hour, minute, second)
            except ValueError:  # five numbers that are no time
                return
            self._clock = (moment - datetime(2000, 1, 1)).total_seconds()

    def _writer(self, who: str) -> int | None:
        """The stage's own process says which it is. A worker does not: it belongs to the one stage that is starting;
        when several are, nobody can tell.
        """
        if found := _STAGE_WRITER.search(who):
            self.stages.setdefault(int(found[1]), StageStart(int(found[1]), self._clock))
            return int(found[1])
        pid = _WRITER.search(who)
        if pid is None or not who.startswith("Worker"):
            return None
        starting = [stage.stage for stage in self.stages.values() if not stage.ready]
        if pid[1] not in self._stage_of and len(starting) == 1:
            self._stage_of[pid[1]] = starting[0]
        return self._stage_of.get(pid[1])

    def _ready(self, number: int) -> None:
        stage = self.stages.setdefault(number, StageStart(number, self._clock))
        if not stage.ready:
            stage.ended, stage.share, stage.phase = self._clock, 1.0, "ready"

    def _within(self, stage: StageStart, text: str) -> None:
        if stage.ready:
            return
        if found := _SHARDS.search(text):
            share = _SHARDS_FROM + _SHARDS_SHARE * int(found[1]) / 100
            stage.phase, stage.share = "weights", max(stage.share, share)
        for words, phase, share in _PHASES:
            if words in text and share > stage.share:
                stage.phase, stage.share = phase, share

    def _sum(self) -> None:
        if not self.stages:
            return
        weights = {number: _WEIGHTS.get(number, 0.2) for number in {*self.stages, *range(self.count)}}
        done = sum(stage.share * weights[number] for number, stage in self.stages.items()) / sum(weights.values())
        self._share = max(self._share, _BEFORE + (1 - _BEFORE - _AFTER) * done)


def clock(seconds: float) -> str:
    """``m:ss``, or ``h:mm:ss``."""
    minutes, rest = divmod(int(seconds), 60)
    hours, minutes = divmod(minutes, 60)
    return f"{hours}:{minutes:02d}:{rest:02d}" if hours else f"{minutes}:{rest:02d}"
