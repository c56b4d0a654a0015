"""The engine dies with the process that started it, even when that one is killed.

On Linux the kernel tells: a pidfd becomes readable when its process ends, and a pid given away again cannot fool it.
(``PR_SET_PDEATHSIG`` would fire too early: it goes by the *thread* that started us.) Elsewhere pid and start time are
looked at twice a second.
"""

from __future__ import annotations

import contextlib
import os
import select
import signal
import threading
import time

import psutil

POLL_S = 0.5  # an orphan of half a second harms nobody
GRACE_S = 3.0  # for an orderly end; uvicorn gives answers under way one second


def die_with(pid: int) -> None:
    """Watch process ``pid`` from a thread, and end this one when it is gone. Raises ``ProcessLookupError``."""
    try:
        parent = psutil.Process(pid)
    except psutil.NoSuchProcess as error:
        raise ProcessLookupError(f"There is no process {pid} to live with.") from error
    threading.Thread(target=_watch, args=(parent,), name="parent watch", daemon=True).start()


def _watch(parent: psutil.Process) -> None:
    try:
        descriptor = os.pidfd_open(parent.pid)
    except (AttributeError, OSError):  # not Linux; a kernel before 5.3, as on many NPU hosts; or it has just ended
        wait_by_looking(parent)
    else:
        select.select([descriptor], [], [])
        os.close(descriptor)
    os.kill(os.getpid(), signal.SIGTERM)
    time.sleep(GRACE_S)
    os._exit(1)


def wait_by_looking(parent: psutil.Process, poll_s: float = POLL_S) -> None:
    """Return when ``parent`` has ended, whether or not somebody has collected it, and though its pid may be taken."""
    with contextlib.suppress(psutil.NoSuchProcess):
        while parent.is_running() and parent.status() != psutil.STATUS_ZOMBIE:
            time.sleep(poll_s)
