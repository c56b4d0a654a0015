"""`make real`, with OMNI_VLLM, OMNI_MODEL and OMNI_DEPLOY: `python -m launch` starts that server, asks it, and stops it.

``OMNI_VLLM``: the server's ``vllm`` program; ``OMNI_MODEL``: a folder of weights; ``OMNI_DEPLOY``: a deploy YAML that fits
them; ``OMNI_ENV``: more variables for the server, ``K=V K=V``; ``OMNI_EXTRA``: more flags for ``vllm serve``.
"""

from __future__ import annotations

import json
import os
import shlex
import subprocess
import sys
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import psutil
import pytest

from launch.door import claim

Say = Callable[[str], None]


class Tool:
    """``python -m launch`` with a state folder of its own, so that it knows no other server."""

    def __init__(self, state: Path) -> None:
        self.environment = os.environ | {"XDG_STATE_HOME": str(state)}

    def __call__(self, *argv: str, code: int = 0) -> Any:
        """Its JSON. A start of a real server takes minutes; half an hour is the launcher's own patience."""
        line = [sys.executable, "-m", "launch", *argv]
        line.insert(line.index("--") if "--" in line else len(line), "--json")
        done = subprocess.run(line, capture_output=True, text=True, env=self.environment, timeout=1900, check=False)
        assert done.returncode == code, f"{argv}: {done.stdout[-3000:]}{done.stderr[-2000:]}"
        return json.loads(done.stdout)


@pytest.fixture(scope="module")
def tool(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Tool]:
    if not {"OMNI_VLLM", "OMNI_MODEL", "OMNI_DEPLOY"} <= os.environ.keys():
        pytest.skip("set OMNI_VLLM, OMNI_MODEL and OMNI_DEPLOY to start a real server")
    tool = Tool(tmp_path_factory.mktemp("state"))
    yield tool
    tool("down")


def test_a_real_server_goes_up_answers_and_goes_down(tool: Tool, say: Say) -> None:
    with claim("127.0.0.1", 0) as free:
        port = free.getsockname()[1]
    more = [word for one in shlex.split(os.environ.get("OMNI_ENV", "")) for word in ("--env", one)]
    asked = ["--layout", os.environ["OMNI_DEPLOY"], "--model", os.environ["OMNI_MODEL"], "--port", str(port)]
    extra = ["--", *shlex.split(os.environ.get("OMNI_EXTRA", ""))]

    up = tool("up", "--vllm", os.environ["OMNI_VLLM"], *asked, *more, "--wait", *extra)
    assert up["state"] == "ready"
    assert [stage["stage"] for stage in up["stages"]] == [0, 1, 2]
    assert all(stage["share"] == 1.0 for stage in up["stages"])
    took = ", ".join(f"stage {stage['stage']} {stage['took_s']:.0f} s" for stage in up["stages"])
    say(f"ready after {up['ready_after_s']:.0f} s ({took})")

    (server,) = tool("status")["servers"]
    assert (server["state"], server["ours"], server["port"]) == ("ready", True, port)
    processes = [process.pid for process in psutil.Process(server["pid"]).children(recursive=True)]
    say(f"status: {server['state']}, {1 + len(processes)} processes, {server['requests']} requests")

    health = tool("health", "--server", up["url"])
    assert health["healthy"]
    assert health["speech"]["rate_hz"] == 24_000
    say(f"health: speech {health['speech']['seconds']:.2f} s, peak {health['speech']['peak_dbfs']} dBFS")
    say(f"health: duplex {health['duplex']['state']} in {health['duplex']['open_ms']:.0f} ms")

    causes = tool("explain", up["log"])
    assert not [cause for cause in causes if cause["severity"] != "harmless"], causes
    say(f"explain: nothing but {sorted({cause['id'] for cause in causes})}")

    again = tool("up", "--vllm", os.environ["OMNI_VLLM"], *asked, *more, *extra)
    assert again["pid"] == up["pid"]
    say(f"the same start again: {again['state']}, still process {again['pid']}")

    (stopped,) = tool("down")["stopped"]
    assert not [pid for pid in processes if psutil.pid_exists(pid) and psutil.Process(pid).status() != "zombie"]
    after = tool("status")
    assert after["servers"] == []
    assert not set(processes) & {*after["orphans"]["ours"], *after["orphans"]["foreign"]}
    claim("127.0.0.1", port).close()
    say(f"down: {len(stopped['ended'])} processes in {stopped['took_s']:.0f} s, {len(stopped['killed'])} killed")
    say(f"left behind: {after['shm']['files']} files in /dev/shm, {after['shm']['bytes']} bytes")
