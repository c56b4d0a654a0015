"""What a server is doing now: ours by its record, others by their command line."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from pathlib import Path

from launch import card_memory, probe
from launch.here import Here
from launch.log_file import LogFile
from launch.log_text import decode
from launch.processes import Identity, Proc, Process
from launch.progress import Progress
from launch.records import Record, Records

# One instance slows down suddenly at about 350 answered requests (catalogue: slow-after-350-requests).
REQUESTS_CLIFF = 350
REQUESTS_NEAR = 300
_BUSY_S = 5.0  # a server that was ready may be too busy to answer at once; one that starts is refused at once
_SERVE_PORT = 8000  # vllm serve's own default


@dataclass(frozen=True)
class Server:
    """``state``: starting, ready, unhealthy, dead, zombie, stopped. ``ours``: started by this launcher. ``stage``,
    ``phase``, ``percent``: where a start stands. ``requests``: answered so far. ``card_mb``: by card.
    """

    state: str
    ours: bool
    port: int
    url: str
    pid: int | None
    layout: str | None
    model: str | None
    up_s: float | None
    log: str | None
    ready_after_s: float | None = None
    stage: int | None = None
    phase: str | None = None
    percent: int | None = None
    requests: int | None = None
    card_mb: Mapping[int, int] = field(default_factory=dict)

    @property
    def alive(self) -> bool:
        return self.state in ("starting", "ready", "unhealthy")

    @property
    def near_cliff(self) -> bool:
        return self.requests is not None and self.requests >= REQUESTS_NEAR


def proc(here: Here) -> Proc:
    return Proc(here.under("/proc"))


def settled(record: Record, table: Proc) -> Record:
    """The record with its process, found by its mark where recording was cut off."""
    if record.process is not None:
        return record
    process = table.marked(record.id)
    return record if process is None else replace(record, process=table.identity(process))


def look(record: Record, here: Here) -> Server:
    """The state of one of ours."""
    table = proc(here)
    record = settled(record, table)
    process = table.find(record.process) if record.process else None
    server = Server(
        state="dead",
        ours=True,
        port=record.port,
        url=record.url,
        pid=record.process.pid if record.process else None,
        layout=record.layout,
        model=record.model,
        up_s=None,
        log=record.log,
        ready_after_s=record.ready_after_s,
    )
    if process is None or not process.alive:
        return replace(server, state="stopped" if record.stopped else "dead" if process is None else "zombie")
    server = replace(server, up_s=table.age_s(process))
    if probe.healthy(record.url, _BUSY_S if record.ready_after_s is not None else probe.PATIENCE_S):
        return replace(server, state="ready", requests=probe.requests(record.url))
    if record.ready_after_s is not None:
        return replace(server, state="unhealthy")
    progress = read_progress(Path(record.log), table.output(process.pid))
    current = progress.current
    return replace(
        server,
        state="unhealthy" if progress.complete else "starting",
        stage=current.stage if current else None,
        phase=current.phase if current else None,
        percent=progress.percent,
    )


def read_progress(log: Path, held: Path | None) -> Progress:
    """How far the start that writes ``log`` has come."""
    progress = Progress()
    with LogFile(log, held) as file:
        for line in file.lines():
            progress.feed(decode(line))
    return progress


def foreign(process: Process, words: list[str], table: Proc) -> Server:
    """A ``vllm serve --omni`` that another hand started: its port and model by its command line."""
    host, port = _option(words, "--host"), _option(words, "--port")
    number = int(port) if port and port.isdigit() else _SERVE_PORT
    url = f"http://{'127.0.0.1' if host in (None, '', '0.0.0.0', '::') else host}:{number}"
    after = words[words.index("serve") + 1 :]
    model = _option(words, "--served-model-name") or (after[0] if after and not after[0].startswith("-") else None)
    ready = probe.healthy(url)
    output = table.output(process.pid)
    return Server(
        state="ready" if ready else "starting",
        ours=False,
        port=number,
        url=url,
        pid=process.pid,
        layout=_option(words, "--deploy-config"),
        model=model,
        up_s=table.age_s(process),
        log=str(output.readlink()) if output else None,
        requests=probe.requests(url) if ready else None,
    )


def _option(words: list[str], name: str) -> str | None:
    for index, word in enumerate(words):
        if word == name and index + 1 < len(words):
            return words[index + 1]
        if word.startswith(name + "="):
            return word.partition("=")[2]
    return None


@dataclass(frozen=True)
class Sight:
    """Everything ``status`` shows. ``orphans``: pids of stages without a server, ``ours`` those of our dead starts.
    ``shm_files``, ``shm_bytes``: what audio requests left in ``/dev/shm``. ``damaged``: records that cannot be read.
    """

    servers: tuple[Server, ...]
    orphans: tuple[int, ...]
    our_orphans: tuple[int, ...]
    shm_files: int
    shm_bytes: int
    damaged: tuple[Path, ...]


def look_around(here: Here) -> Sight:
    """All servers on this machine and what earlier ones left behind."""
    table = proc(here)
    records, damaged = Records(here.state_dir()).all()
    records = [settled(record, table) for record in records]
    ours = {record.process.pid: record for record in records if record.process}
    servers = [server for server in (look(record, here) for record in records) if server.state != "stopped"]
    known = {server.pid for server in servers if server.alive}
    servers += [foreign(process, words, table) for process, words in table.servers() if process.pid not in known]
    orphans = tuple(process.pid for process in table.orphans())
    leftover = {
        member.pid for record in ours.values() if not _alive(record.process, table) for member in members(record, table)
    }
    memory = card_memory.read(here.environ)
    if memory is not None:
        servers = [
            replace(server, card_mb=card_memory.held(memory, _family(server, ours, table))) for server in servers
        ]
    files, size = shm(here)
    return Sight(
        tuple(servers),
        tuple(pid for pid in orphans if pid not in leftover),
        tuple(sorted(leftover)),
        files,
        size,
        tuple(damaged),
    )


def members(record: Record, table: Proc) -> list[Process]:
    """The living processes of one start."""
    return table.members(record.process, record.id) if record.process else []


def _alive(who: Identity | None, table: Proc) -> bool:
    return who is not None and table.alive(who)


def _family(server: Server, ours: Mapping[int, Record], table: Proc) -> set[int]:
    """The pids of a server and its stages."""
    if server.pid is None:
        return set()
    if server.ours:
        return {process.pid for process in members(ours[server.pid], table)}
    return {
        process.pid for process in table.all().values() if server.pid in (process.pid, process.session, process.parent)
    }


def shm(here: Here) -> tuple[int, int]:
    """Files and bytes that audio requests left in ``/dev/shm``: 0.26 leaves a segment and its lock file a request."""
    folder = here.under("/dev/shm")
    sizes = [
        size for path in (folder.glob("*chatcmpl-*") if folder.is_dir() else ()) if (size := _size(path)) is not None
    ]
    return len(sizes), sum(sizes)


def _size(path: Path) -> int | None:
    try:
        return path.stat().st_size
    except OSError:  # taken away meanwhile
        return None
