"""Steps of the deployment guide as commands: shown as lines to paste, or run one after another."""

from __future__ import annotations

import shlex
import subprocess
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

from launch.errors import LaunchError

_STDERR = 2  # what pip and git print goes there: standard output is the command's own


@dataclass(frozen=True)
class Step:
    """``name``: of its sentence in the texts. ``done``: what it would bring is there already. ``environment``: set
    for this step only.
    """

    name: str
    words: tuple[str, ...]
    done: bool
    environment: Mapping[str, str] = field(default_factory=dict)

    @property
    def line(self) -> str:
        """One line for a shell."""
        return " ".join(
            [*(f"{name}={shlex.quote(value)}" for name, value in self.environment.items()), shlex.join(self.words)]
        )


def carry_out(step: Step, environ: Mapping[str, str]) -> None:
    """Run a step to its end. Raises ``LaunchError`` when it fails or its program is not there."""
    env = {**environ, **step.environment}
    try:
        done = subprocess.run(step.words, env=env, stdin=subprocess.DEVNULL, stdout=_STDERR, check=False)
    except OSError as absent:
        raise LaunchError("step-failed", line=step.line, detail=str(absent)) from absent
    if done.returncode:
        raise LaunchError("step-failed", line=step.line, detail=f"exit {done.returncode}")


def pip(python: str, packages: Sequence[str], index: str | None, *flags: str) -> tuple[str, ...]:
    """pip of that Python, from ``index`` when one is given."""
    return (python, "-m", "pip", "install", *packages, *flags, *(("-i", index) if index else ()))
