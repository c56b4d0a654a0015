"""Where a command runs: what it may print to, and the machine it looks at. A test passes another."""

from __future__ import annotations

import os
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

from launch.output import Output

# On the contest boxes this folder outlives the container; a home folder does not.
PERSISTENT = "/workspace/user_data"


@dataclass(frozen=True)
class Here:
    """``environ``: the environment of the user's shell. ``root``: the root of the file system looked at (a fake one in
    tests: ``dev/``, ``proc/``, ``usr/local/Ascend/``). ``extra``: what stood after ``--`` on the command line.
    ``folder``: the working directory, where an ``omni.yaml`` may lie.
    """

    out: Output
    environ: Mapping[str, str]
    root: Path = Path("/")
    extra: tuple[str, ...] = ()
    folder: Path = Path()

    def under(self, path: str) -> Path:
        """An absolute path of the machine looked at."""
        return self.root / path.lstrip("/")

    def state_dir(self) -> Path:
        """Where records, logs and written overlays live (``state_dir`` below); it may not exist yet."""
        return state_dir(self.environ, self.under(PERSISTENT))


def state_dir(environ: Mapping[str, str], persistent: Path = Path(PERSISTENT)) -> Path:
    """``OMNI_STATE``, else the contest boxes' persistent folder when it is writable, else the XDG state folder. Not
    created here: whoever writes makes it with mode 0700, since logs may hold what users said.
    """
    if environ.get("OMNI_STATE"):
        return Path(environ["OMNI_STATE"]).expanduser().absolute()
    if persistent.is_dir() and os.access(persistent, os.W_OK):
        return persistent / "omni-showcase"
    home = Path(environ.get("HOME") or Path.home())
    return Path(environ.get("XDG_STATE_HOME") or home / ".local" / "state") / "omni-showcase"
