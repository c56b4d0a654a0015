"""The preflight: what would keep a layout from starting on this machine, or from lasting."""

from __future__ import annotations

import re
import shutil
import socket
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

from launch.card_memory import ask
from launch.cards import platform, visible
from launch.command import MODEL_PLACES
from launch.container import signs_of_container
from launch.door import holder
from launch.faults import catalogue
from launch.findings import Finding
from launch.here import Here
from launch.layouts import Layout
from launch.npu import Die, NpuTable, parse
from launch.output import launch_line
from launch.processes import Proc
from launch.server_python import ServerProgram
from launch.server_setup import is_whole
from launch.versions import numbers

_NODES = ("/dev/davinci_manager", "/dev/devmm_svm", "/dev/hisi_hdc")
_SHM_BYTES = 4 << 30  # the guide's --shm-size
_DISK_BYTES = 2 << 30  # logs of a long run, and some room
# What npu-smi says instead of a table, by the catalogue's own signatures.
_NO_TABLE = ("npu-dcmi-init-failed", "npu-driver-lib-missing", "npu-smi-missing")
_SPEECH = ("stepaudio2-minicpmo", "step-audio2")


@dataclass(frozen=True)
class Checkup:
    """``platform``: "npu", "cuda" or None. ``dies``: as npu-smi names them. ``inside``: signs of a container.
    ``model``: the folder looked at.
    """

    platform: str | None
    series: str | None
    dies: tuple[Die, ...]
    inside: tuple[str, ...]
    model: str
    findings: tuple[Finding, ...]


def check(here: Here, layout: Layout, program: ServerProgram | None, model: Path | None, port: int) -> Checkup:
    """Look at everything that ``layout`` needs. Nothing is changed and the server's Python is not started."""
    kind = platform(here.environ, here.root)
    said = ask(here.environ) if kind == "npu" else None
    table = parse(said or "")
    places = [here.under(place) for place in MODEL_PLACES]
    folder = model or next((place for place in places if place.is_dir()), places[-1])
    findings = [
        *(_npu(said, table, layout, here) if kind == "npu" else ()),
        *([Finding("cards-none")] if kind is None else ()),
        *_packages(program),
        *_model(folder),
        *_machine(here, port),
    ]
    dies = table.dies if table else ()
    signs = tuple(signs_of_container(here.root))
    return Checkup(kind, table.series if table else None, dies, signs, str(folder), tuple(findings))


def _npu(said: str | None, table: NpuTable | None, layout: Layout, here: Here) -> Iterator[Finding]:
    if table is None:
        known = (id for id in _NO_TABLE if re.search(catalogue()[id].signature, said or ""))
        yield Finding(next(known, "npu-smi-missing"))
    else:
        yield from _cards(table.dies, layout, visible(here.environ, "npu"))
    missing = [node for node in _NODES if not here.under(node).exists()]
    if missing:
        yield Finding("device-nodes-missing", {"nodes": ", ".join(missing)})
    if not here.under("/usr/local/Ascend/driver/version.info").is_file():
        yield Finding("driver-folder-missing")
    toolkit = here.under("/usr/local/Ascend/ascend-toolkit/set_env.sh").is_file()
    if not toolkit and not here.environ.get("ASCEND_HOME_PATH"):
        yield Finding("cann-env-not-sourced")
    if here.environ.get("ASCEND_LAUNCH_BLOCKING") == "1":
        yield Finding("launch-blocking-vs-graph")


def _cards(dies: Sequence[Die], layout: Layout, shown: Sequence[str] | None) -> Iterator[Finding]:
    mine = [die for die in dies if shown is None or str(die.card) in shown]
    for die in mine:
        facts = {"card": die.card, "npu": die.npu, "chip": die.chip, "health": die.health, "used": die.hbm_used_mb}
        if die.health != "OK":
            yield Finding("card-warning" if die.usable else "card-unhealthy", facts)
        if die.busy:
            holders = ", ".join(f"{holder.name} (pid {holder.pid})" for holder in die.holders) or "—"
            yield Finding("card-busy", {**facts, "holders": holders})
    free = [die.card for die in mine if die.usable and not die.busy]
    if len(free) < layout.cards:
        facts = {"layout": layout.name, "wanted": layout.cards, "free": len(free), "seen": len(mine)}
        yield Finding("cards-too-few", {**facts, "layouts": launch_line("layouts")})
    elif layout.cards and free[: layout.cards] != [die.card for die in mine][: layout.cards]:
        cards = ",".join(map(str, free[: layout.cards]))
        yield Finding("cards-choose", {"command": launch_line("up", "--layout", layout.name, "--cards", cards)})


def _packages(program: ServerProgram | None) -> Iterator[Finding]:
    if program is None:
        yield Finding("vllm-not-found", {"given": "vllm"})
        return
    absent = [name for name in ("vllm-omni", *_SPEECH) if program.package(name) is None]
    if absent:
        yield Finding("packages-missing", {"names": ", ".join(absent)})
    if program.package("onnxruntime") and program.package("onnxruntime-cann"):
        yield Finding("onnxruntime-twice")
    if program.package("gradio"):
        yield Finding("gradio-breaks-server-env")
    torch, torch_npu = program.package("torch"), program.package("torch-npu")
    if torch and torch_npu and numbers(torch.version)[:2] != numbers(torch_npu.version)[:2]:
        yield Finding("torch-apart", {"torch": torch.version, "npu": torch_npu.version})


def _model(folder: Path) -> Iterator[Finding]:
    if not is_whole(folder):
        facts = {"folder": folder, "command": launch_line("weights", "--into", folder)}
        yield Finding("model-incomplete" if folder.is_dir() else "model-absent", facts)


def _machine(here: Here, port: int) -> Iterator[Finding]:
    shm = here.under("/dev/shm")
    if shm.is_dir() and shutil.disk_usage(shm).total < _SHM_BYTES:
        yield Finding("shm-too-small")
    state = here.state_dir()
    free = shutil.disk_usage(next(place for place in (state, *state.parents) if place.is_dir())).free
    if free < _DISK_BYTES:
        yield Finding("disk-low", {"folder": state, "free": free >> 20})
    if shutil.which("ffmpeg", path=here.environ.get("PATH", "")) is None:
        yield Finding(
            "ffmpeg-missing", severity="harmless"
        )  # the page carries its own; only the server's video needs it
    if _taken(port):
        who, command = holder(port)
        yield Finding("port-taken", {"port": port, "holder": who, "command": command, "next": port + 1})
    environ = here.environ
    proxy = any(environ.get(name) or environ.get(name.upper()) for name in ("http_proxy", "https_proxy", "all_proxy"))
    if proxy and "127.0.0.1" not in (environ.get("no_proxy") or environ.get("NO_PROXY") or ""):
        yield Finding("proxy-env-loopback")
    if here.under("/proc/uptime").exists():
        left = Proc(here.under("/proc")).orphans()
        if left:
            pids = ", ".join(str(process.pid) for process in left)
            # Whose they are, and with it the command that ends them, is for `status` to say.
            yield Finding("stages-left", {"pids": pids, "command": launch_line("status")})


def _taken(port: int) -> bool:
    with socket.socket() as probe:
        probe.settimeout(1)  # loopback answers at once
        return probe.connect_ex(("127.0.0.1", port)) == 0
