"""``status``: every server on this machine, and what earlier ones left behind."""

from __future__ import annotations

from argparse import Namespace
from collections.abc import Sequence
from dataclasses import asdict
from pathlib import Path

from launch.command_line import CommandParser
from launch.findings import Finding, exit_code
from launch.here import Here
from launch.output import Output, launch_line
from launch.progress import clock
from launch.watch import REQUESTS_CLIFF, Server, Sight, look_around


def options(parser: CommandParser) -> None:
    """None: it shows everything."""


def run(args: Namespace, here: Here) -> int:
    sight = look_around(here)
    found = findings(sight)
    out = here.out
    if not sight.servers:
        out.say("status.none")
    for server in sight.servers:
        show(server, out)
    if sight.shm_files:
        out.say("status.shm", files=sight.shm_files, mb=f"{sight.shm_bytes / 2**20:.1f}")
    out.findings(found)
    out.json(
        {
            "servers": [asdict(server) for server in sight.servers],
            "orphans": {"ours": sight.our_orphans, "foreign": sight.orphans},
            "shm": {"files": sight.shm_files, "bytes": sight.shm_bytes},
            "findings": out.told(found),
        }
    )
    return exit_code(found)


def findings(sight: Sight) -> list[Finding]:
    """What is wrong with the servers and what is left of them."""
    found = [Finding("record-damaged", {"file": path}) for path in sight.damaged]
    for server in sight.servers:
        facts = {
            "port": server.port,
            "log": server.log or "",
            "explain": launch_line("explain", server.log or ""),
            "up": launch_line("restart", "--port", server.port),
            "down": launch_line("down", "--port", server.port),
        }
        if server.state in ("dead", "zombie"):
            found.append(Finding("server-dead", facts))
        if server.state == "unhealthy":
            found.append(Finding("server-unhealthy", facts))
        if server.near_cliff:
            found.append(
                Finding("requests-near-cliff", {**facts, "requests": server.requests, "cliff": REQUESTS_CLIFF})
            )
    for pids, ours in ((sight.our_orphans, True), (sight.orphans, False)):
        if pids:
            command = launch_line("down", *([] if ours else ["--foreign"]))
            found.append(Finding("stages-left", {"pids": _listed(pids), "command": command}))
    return found


def show(server: Server, out: Output) -> None:
    """A server in a few lines."""
    style = {"ready": "good", "starting": "degraded"}.get(server.state, "fatal")
    state = out.paint(out.text(f"state.{server.state}"), style)
    if server.state == "starting" and server.percent is not None:
        from launch.deploy_file import STAGES  # brings the package readers along; only this state needs it

        stage = f"  {out.text('stage.' + STAGES[server.stage])}" if server.stage in STAGES else ""
        state += f"  {server.percent} %{stage}" + (f"  {out.text('progress.' + server.phase)}" if server.phase else "")
    mark = "" if server.ours else "  " + out.text("status.foreign")
    out.line(f"{server.url}  {state}{mark}")
    rows = [
        ("status.model", server.model),
        ("status.layout", server.layout),
        ("status.pid", server.pid),
        ("status.up", None if server.up_s is None else clock(server.up_s)),
        ("status.ready_after", None if server.ready_after_s is None else f"{server.ready_after_s:.0f} s"),
        ("status.requests", server.requests),
        ("status.memory", "  ".join(f"{card}: {mb} MB" for card, mb in server.card_mb.items()) or None),
        ("status.log", server.log),
    ]
    out.table((), [(out.text(key), value) for key, value in rows if value is not None], indent="    ")


def _listed(pids: Sequence[int] | Sequence[Path]) -> str:
    return ", ".join(map(str, pids))
