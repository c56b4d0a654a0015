"""Starting a server so that it outlives the terminal, and waiting until it is ready or dead."""

from __future__ import annotations

import errno
import os
import subprocess
import time
from collections.abc import Mapping
from dataclasses import asdict, replace
from pathlib import Path
from typing import Any

from launch import deploy, redact, whole_file
from launch.command import Plan, Request
from launch.errors import LaunchError
from launch.here import Here
from launch.output import launch_line
from launch.port import refusal
from launch.processes import MARK
from launch.records import Record, Records
from launch.stopping import clear_leftovers
from launch.waiting import INTERRUPTED, Outcome, wait_for
from launch.watch import look, proc, settled


def start(plan: Plan, here: Here, *, wait: bool) -> int:
    """Start what ``plan`` says and return the exit code: 0 started (with ``wait``: ready), 1 dead, 130 when the user
    left while it starts. A start that runs already the same way is joined.

    Raises ``LaunchError``: another server of ours or a stranger on the port, another ``launch`` at work on it, a disk
    that takes nothing.
    """
    records = Records(here.state_dir())
    port = plan.request.port
    with records.lock(port):
        running = _running(plan, here, records)
        record, process = (running, None) if running else _spawn(plan, here, records)
    here.out.say("up.joined" if running else "up.started", pid=record.process.pid if record.process else "—")
    here.out.say("up.log", log=record.log)
    if not wait:
        here.out.say("up.watch", command=launch_line("status"))
        here.out.json(document(record, "starting"))
        return 0
    return finish(record, here, process)


def finish(record: Record, here: Here, process: subprocess.Popen[bytes] | None = None) -> int:
    """Wait for a start, tell how it ended, and return the exit code. ``process``: it, when it is this one's child."""
    outcome = wait_for(record, here, process)
    here.out.json(document(outcome.record, outcome.state, outcome, here))
    if outcome.state == "interrupted":
        return INTERRUPTED
    return 0 if outcome.state == "ready" else 1


def document(record: Record, state: str, outcome: Outcome | None = None, here: Here | None = None) -> dict[str, Any]:
    """What ``up`` and ``restart`` say with ``--json`` (docs/launch-json.md)."""
    causes: list[dict[str, object]] = []
    if outcome is not None and outcome.hits and here is not None:
        from launch.commands.explain import document as told

        causes = told(list(outcome.hits), here.out.tongue)
    return {
        "state": state,
        "port": record.port,
        "url": record.url,
        "model": record.model,
        "layout": record.layout,
        "pid": record.process.pid if record.process else None,
        "log": record.log,
        "ready_after_s": record.ready_after_s,
        "stages": [asdict(stage) | {"took_s": stage.took_s} for stage in outcome.stages] if outcome else [],
        "causes": causes,
    }


def _running(plan: Plan, here: Here, records: Records) -> Record | None:
    """Our server on this port when it lives and was started the same way. Clears the way for a new one otherwise.
    Raises ``LaunchError`` when the port is not free.
    """
    record = records.get(plan.request.port)
    if record is not None:
        record = settled(record, proc(here))
        server = look(record, here)
        if server.alive:
            if record.request == kept(plan.request) and not record.stopped:
                return record
            raise LaunchError(
                "up-already",
                port=record.port,
                layout=record.layout,
                pid=server.pid,
                down=launch_line("down", "--port", record.port),
            )
        clear_leftovers(record, here)
    _require_free(plan.request.host, plan.request.port)
    return None


def _require_free(host: str, port: int) -> None:
    """Raises ``LaunchError`` (port-taken) with who holds it, when nothing can listen there."""
    refused = refusal(host, port)
    if refused is None:
        return
    if refused.errno != errno.EADDRINUSE:
        raise LaunchError("host-refused", host=host, port=port, reason=refused.strerror) from refused
    from launch import door  # psutil, which a port that is free need not wait for

    who, command = door.holder(port)
    raise LaunchError("port-taken", port=port, holder=who, command=command, next=port + 1) from refused


def _spawn(plan: Plan, here: Here, records: Records) -> tuple[Record, subprocess.Popen[bytes]]:
    """The record is written before the start, so that a disk that is full stops it, and again with the process."""
    record = _record(plan, here)
    try:
        if plan.overlay is not None and plan.deploy_file is not None:
            deploy.write(plan.overlay, plan.deploy_file.parent)
        whole_file.private(Path(record.log).parent)
        log = os.open(record.log, os.O_WRONLY | os.O_CREAT | os.O_APPEND, 0o600)
    except OSError as refused:
        raise LaunchError("state-not-written", folder=here.state_dir(), reason=refused.strerror or "") from refused
    try:
        records.save(record)
        process = subprocess.Popen(
            plan.command,
            cwd=plan.folder,
            env={**plan.environment.full, MARK: record.id},
            stdin=subprocess.DEVNULL,
            stdout=log,
            stderr=subprocess.STDOUT,
            start_new_session=True,  # out of reach of the terminal's hang-up and Ctrl-C
        )
    except OSError as refused:
        raise LaunchError("start-refused", program=plan.command[0], reason=refused.strerror or "") from refused
    finally:
        os.close(log)
    table = proc(here)
    born = table.get(process.pid)
    record = replace(record, process=table.identity(born) if born else None)
    try:
        records.save(record)
    except LaunchError:
        process.terminate()
        process.wait()
        raise
    return record, process


def _record(plan: Plan, here: Here) -> Record:
    now = time.time()
    logs = here.state_dir() / "logs"
    run = f"{time.strftime('%Y%m%d-%H%M%S', time.localtime(now))}-{plan.request.port}"
    if (logs / f"{run}.log").exists():  # a restart within the second
        run += f"-{int(now % 1 * 1e6):06d}"
    return Record(
        id=run,
        port=plan.request.port,
        url=plan.url,
        layout=plan.layout.name,
        # The rehearsal engine has one model and one name for it.
        model="rehearsal" if plan.layout.name == "rehearsal" else plan.request.served_model_name,
        version=plan.installed.version,
        stages={str(stage.stage): ",".join(map(str, stage.cards)) for stage in plan.layout.stages},
        request=kept(plan.request),
        command=tuple(redact.command(plan.command)),
        log=str(logs / f"{run}.log"),
        started_at=now,
    )


def kept(request: Request) -> Mapping[str, Any]:
    """A request as the record holds it, in JSON's own kinds. A secret's value is left out: ``NAME`` instead of
    ``NAME=value``.
    """
    env = [word.partition("=")[0] if redact.is_secret(word.partition("=")[0]) else word for word in request.env]
    return {
        name: list(value) if isinstance(value, tuple) else value
        for name, value in asdict(replace(request, env=tuple(env), extra=tuple(redact.command(request.extra)))).items()
    }


def asked(record: Record, environ: Mapping[str, str]) -> Request:
    """The request of a record, to start the same way again; secrets come from the shell's environment. Raises
    ``LaunchError`` (restart-secret-gone) for one that is not there, or when the record holds no request.
    """
    words = dict(record.request)
    env = []
    for word in words.get("env", ()):
        if "=" not in word:
            if word not in environ:
                raise LaunchError("restart-secret-gone", name=word)
            word = f"{word}={environ[word]}"
        env.append(word)
    for word in words.get("extra", ()):
        if redact.MASK in word:
            raise LaunchError("restart-secret-gone", name="--")
    words |= {"env": tuple(env), "extra": tuple(words.get("extra", ())), "sets": tuple(words.get("sets", ()))}
    try:
        return Request(**words)
    except TypeError as strange:  # written by another version of this launcher
        raise LaunchError("restart-unreadable", port=record.port) from strange
