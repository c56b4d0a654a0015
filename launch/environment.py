"""The environment of the server: the shell's, with what the toolkit's scripts add and what the launcher sets, each of
it shown.
"""

from __future__ import annotations

import os
import subprocess
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from launch.errors import InputError, LaunchError

Source = Callable[[Sequence[Path], Mapping[str, str]], Mapping[str, str]]

# A start by ssh, docker exec or nohup reads no ~/.bashrc, so what the image's login shell has must be sourced here.
# Each is skipped when the variable it sets is there: sourcing twice doubles every path. Since CANN 8.5 the tree is
# cann-<version>; ascend-toolkit is its older name.
ENVIRONMENT_SCRIPTS = (
    ("ASCEND_TOOLKIT_HOME", ("usr/local/Ascend/ascend-toolkit/set_env.sh", "usr/local/Ascend/cann/set_env.sh")),
    ("ATB_HOME_PATH", ("usr/local/Ascend/nnal/atb/set_env.sh",)),
)
# npu-smi's and CANN's user-mode driver, mounted from the host.
DRIVER_LIBRARIES = ("usr/local/Ascend/driver/lib64/driver", "usr/local/Ascend/driver/lib64/common")
# Lists of paths: a value given for one is appended. Replacing PYTHONPATH loses CANN's acl.so, which looks like a
# broken NPU.
PATH_LISTS = frozenset({"PATH", "PYTHONPATH", "LD_LIBRARY_PATH", "LD_PRELOAD"})
LOOPBACK = ("127.0.0.1", "localhost", "::1")
# bash itself sets these; they are not what a script is sourced for.
_SHELL_OWN = frozenset({"_", "SHLVL", "PWD", "OLDPWD"})
_SOURCE_S = 30.0  # the toolkit's script takes a second; on a cold network disk a few


@dataclass(frozen=True)
class ServerEnvironment:
    """``full``: what the process gets. ``changes``: what the launcher set beyond the shell and the scripts, as a shell
    would write it (a list that was added to names its old value: ``/opt/vllm/bin:$PATH``); redact it before showing.
    ``sourced``: the scripts that were sourced.
    """

    full: Mapping[str, str]
    changes: Mapping[str, str]
    sourced: tuple[Path, ...]


def build(
    environ: Mapping[str, str],
    settings: Mapping[str, str],
    given: Sequence[str] = (),
    *,
    program: Path | None = None,
    root: Path = Path("/"),
    source: Source | None = None,
) -> ServerEnvironment:
    """The server's environment. ``settings``: what the plan needs (cards, time-outs, key). ``given``: the user's
    ``K=V``, which win, save that the path lists are appended to. ``program``: its folder comes first in PATH, since
    the stages look for tools there.

    Raises ``InputError`` for a word that is no ``K=V``, ``LaunchError`` when a script cannot be sourced.
    """
    scripts = _scripts(environ, root)
    sourced = dict((source or _source)(scripts, environ)) if scripts else dict(environ)
    full = dict(sourced)
    for folder in DRIVER_LIBRARIES:
        if (root / folder).is_dir():
            _append(full, "LD_LIBRARY_PATH", str(root / folder))
    if program is not None and program.parent.is_absolute():
        kept = [place for place in full.get("PATH", "").split(os.pathsep) if place and place != str(program.parent)]
        full["PATH"] = os.pathsep.join([str(program.parent), *kept])
    for name in ("no_proxy", "NO_PROXY"):
        for host in LOOPBACK:
            _append(full, name, host, ",")
    full.update(settings)
    for word in given:
        name, equals, value = word.partition("=")
        if not equals or not name.replace("_", "a").isalnum() or name[0].isdigit():
            raise InputError("env-unreadable", given=name or word)
        if name in PATH_LISTS:
            _append(full, name, value)
        else:
            full[name] = value
    changes = {name: _told(name, sourced, value) for name, value in full.items() if sourced.get(name) != value}
    return ServerEnvironment(full, changes, tuple(scripts))


def _scripts(environ: Mapping[str, str], root: Path) -> list[Path]:
    found: list[Path] = []
    for variable, places in ENVIRONMENT_SCRIPTS:
        script = next((root / place for place in places if (root / place).is_file()), None)
        if script is not None and not environ.get(variable):
            found.append(script)
    return found


def _append(environment: dict[str, str], name: str, value: str, separator: str = os.pathsep) -> None:
    """``value`` at the end of a list, unless it is in it."""
    parts = [part for part in environment.get(name, "").split(separator) if part]
    environment[name] = separator.join(parts if value in parts else [*parts, value])


def _told(name: str, before: Mapping[str, str], value: str) -> str:
    """A value as a shell would write it: what was there before by its name."""
    old = before.get(name)
    if not old or old not in value or name not in (*PATH_LISTS, "no_proxy", "NO_PROXY"):
        return value
    return value.replace(old, f"${name}", 1)


def _source(scripts: Sequence[Path], environ: Mapping[str, str]) -> Mapping[str, str]:
    """What the scripts leave in the environment of a bash. Their exit codes say nothing: a last line that tests
    something is enough for 1.
    """
    body = 'for script in "$@"; do source "$script" >/dev/null; done; env -0'
    try:
        done = subprocess.run(
            ["bash", "-c", body, "bash", *map(str, scripts)],
            env=dict(environ),
            capture_output=True,
            timeout=_SOURCE_S,
            check=False,
        )
    except (OSError, subprocess.TimeoutExpired) as failed:
        raise LaunchError("set-env-failed", detail=str(failed), scripts=" ".join(map(str, scripts))) from failed
    pairs = (
        entry.partition("=") for entry in done.stdout.decode("utf-8", "surrogateescape").split("\0") if "=" in entry
    )
    after = {name: value for name, _, value in pairs if name not in _SHELL_OWN}
    if not after:
        raise LaunchError(
            "set-env-failed", detail=done.stderr.decode("utf-8", "replace")[-500:], scripts=" ".join(map(str, scripts))
        )
    return {**{name: value for name, value in environ.items() if name in _SHELL_OWN}, **after}
