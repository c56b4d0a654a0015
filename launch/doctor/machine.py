"""What any start needs of the machine: room in memory and on disk, a free port, proxies that leave loopback alone."""

from __future__ import annotations

import errno
import shutil
from collections.abc import Callable, Iterator, Sequence
from typing import Any

from launch import port as door
from launch.doctor.servers import Running
from launch.findings import Finding
from launch.here import Here

_SHM_BYTES = 4 << 30  # the guide's --shm-size
_DISK_BYTES = 2 << 30  # logs of a long run, and some room


def find(here: Here, host: str, port: int, ours: Sequence[Running], usage: Callable[[Any], Any]) -> Iterator[Finding]:
    """A port that a server of ours holds is no finding."""
    shm = here.under("/dev/shm")
    if shm.is_dir() and usage(shm).total < _SHM_BYTES:
        yield Finding("shm-too-small")
    state = here.state_dir()
    free = usage(next(place for place in (state, *state.parents) if place.is_dir())).free
    if free < _DISK_BYTES:
        yield Finding("disk-low", {"folder": state, "free": free >> 20})
    if shutil.which("ffmpeg", path=here.environ.get("PATH", "")) is None:
        # The page carries its own; only the server's video needs it.
        yield Finding("ffmpeg-missing", severity="harmless")
    if port not in {server.port for server in ours}:
        yield from _port(host, port)
    environ = here.environ
    proxy = any(environ.get(name) or environ.get(name.upper()) for name in ("http_proxy", "https_proxy", "all_proxy"))
    if proxy and "127.0.0.1" not in (environ.get("no_proxy") or environ.get("NO_PROXY") or ""):
        yield Finding("proxy-env-loopback")


def _port(host: str, port: int) -> Iterator[Finding]:
    refused = door.refusal(host, port)
    if refused is None:
        return
    if refused.errno != errno.EADDRINUSE:
        yield Finding("host-refused", {"host": host, "port": port, "reason": refused.strerror or str(refused)})
        return
    from launch.door import holder  # psutil, which a port that is free need not wait for

    who, command = holder(port)
    yield Finding("port-taken", {"port": port, "holder": who, "command": command, "next": port + 1})
