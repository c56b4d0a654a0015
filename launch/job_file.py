"""A job as its author writes it: the server it wants, the steps, what each should leave, how long each may take."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Any

import yaml
from pydantic import BaseModel, ConfigDict, Field, ValidationError

from launch.command import PORT, SERVED_NAME, Request
from launch.errors import InputError
from launch.fast_yaml import parse

# A whole start on an A3 with a warm disk took 2 to 4 minutes (npu.md §6).
START_MIN = 4.0


class _Part(BaseModel):
    model_config = ConfigDict(extra="forbid")


class ServerPart(_Part):
    """The options of ``up``, by their names. ``keep``: leave it running when the job is done."""

    layout: str
    model: str | None = None
    cards: str | None = None
    host: str = "127.0.0.1"
    port: Annotated[int, Field(ge=1, le=65535)] = PORT
    served_model_name: str = SERVED_NAME
    api_key_file: str | None = None
    set: list[str] = []
    images: int | None = None
    media_path: str | None = None
    interleave: bool = False
    vllm: str | None = None
    env: list[str] = []
    extra: list[str] = []
    keep: bool = False

    def request(self) -> Request:
        """What ``up`` would be asked."""
        words: dict[str, Any] = self.model_dump(exclude={"keep", "set", "env", "extra"})
        return Request(**words, sets=tuple(self.set), env=tuple(self.env), extra=tuple(self.extra))


class StepPart(_Part):
    """``run``: one line for bash. ``minutes``: what its author expects. ``save``: patterns of files that it must leave
    in its working directory. ``restart``: with a server begun anew, since one slows down after about 350 requests.
    """

    name: Annotated[str, Field(pattern=r"^[\w.-]{1,40}$")]  # part of a file's name
    run: str
    minutes: Annotated[float, Field(gt=0)] | None = None
    save: list[str] = []
    restart: bool = False


class JobFile(_Part):
    """``cards``: those that the steps themselves use, beside the server's."""

    name: Annotated[str, Field(pattern=r"^[\w.-]{1,40}$")] = "job"
    server: ServerPart | None = None
    cards: list[int] = []
    steps: Annotated[list[StepPart], Field(min_length=1)]

    def minutes(self) -> float:
        """The estimate, with every start of the server in it; steps without one count as nothing."""
        starts = 0 if self.server is None else 1 + sum(step.restart for step in self.steps)
        return starts * START_MIN + sum(step.minutes or 0.0 for step in self.steps)

    def unknown(self) -> list[str]:
        """Steps whose author gave no estimate."""
        return [step.name for step in self.steps if step.minutes is None]


def load(path: Path) -> JobFile:
    """Raises ``InputError``: file-not-found, job-unreadable."""
    try:
        text = path.read_text(encoding="utf-8")
    except OSError as missing:
        raise InputError("file-not-found", file=path, reason=missing.strerror or "") from missing
    return read(text, path)


def read(text: str, path: Path) -> JobFile:
    """The job in ``text``, read from ``path``. Raises ``InputError`` (job-unreadable)."""
    try:
        job = JobFile.model_validate(parse(text))
    except yaml.YAMLError as broken:
        raise InputError("job-unreadable", file=path, problem=" ".join(str(broken).split())) from broken
    except ValidationError as wrong:
        first = wrong.errors()[0]
        place = ".".join(map(str, first["loc"]))
        raise InputError("job-unreadable", file=path, problem=f"{place}: {first['msg']}") from wrong
    names = [step.name for step in job.steps]
    if len(set(names)) != len(names):
        raise InputError("job-unreadable", file=path, problem=f"steps: {', '.join(names)}")
    return job
