"""Everything that a layout needs, looked at in one go."""

from __future__ import annotations

import shutil
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any

from launch import card_memory, gpu
from launch.cards import platform, visible
from launch.container import signs_of_container
from launch.doctor import ascend, enough, machine, packages, servers, weights
from launch.doctor.servers import Running
from launch.findings import Finding
from launch.gpu import Gpu
from launch.here import Here
from launch.layouts import Layout
from launch.npu import Die, parse
from launch.versions import Installed

Usage = Callable[[Any], Any]


@dataclass(frozen=True)
class Checkup:
    """``platform``: "npu", "cuda" or None. ``dies``: as npu-smi names them; ``gpus``: as nvidia-smi does. ``inside``:
    signs of a container. ``model``: the folder or hub id looked at, None for the rehearsal engine. ``versions``: what
    was found, by name (driver, firmware, cann, python, packages). ``running``: servers of ours that are up.
    """

    platform: str | None
    series: str | None
    dies: tuple[Die, ...]
    gpus: tuple[Gpu, ...]
    inside: tuple[str, ...]
    model: str | None
    versions: Mapping[str, str] = field(default_factory=dict)
    running: tuple[Running, ...] = ()
    findings: tuple[Finding, ...] = ()


def check(
    here: Here,
    layout: Layout,
    found: Installed,
    model: str | None,
    port: int,
    host: str = "127.0.0.1",
    usage: Usage = shutil.disk_usage,
) -> Checkup:
    """Look at everything that ``layout`` needs. Nothing is changed and the server's Python is not started. The
    rehearsal engine needs neither cards nor vLLM nor weights. ``usage``: how big and how full a folder's disk is.
    """
    ours = servers.running(here)
    signs = tuple(signs_of_container(here.root))
    around = [*machine.find(here, host, port, ours, usage), *servers.orphans(here)]
    if layout.name == "rehearsal":
        kind = platform(here.environ, here.root)
        return Checkup(kind, None, (), (), signs, None, running=ours, findings=tuple(around))
    kind = platform(here.environ, here.root)
    said = card_memory.ask(here.environ) if kind == "npu" else None
    table = parse(said or "")
    cards = gpu.read(here.environ) if kind == "cuda" else None
    place = weights.place(here, model)
    shown = visible(here.environ, kind)
    findings: list[Finding] = [Finding("cards-none")] if kind is None else []
    if kind == "npu":
        findings += ascend.find(said, table, layout, found, here)
        if table is not None:
            findings += enough.find(ascend.passed_in(table, here), layout, shown, ours)
    if kind == "cuda":
        findings += [Finding("nvidia-smi-silent")] if cards is None else enough.find(cards, layout, shown, ours)
    findings += packages.find(found, kind, here)
    findings += weights.find(place, here)
    versions = {**(ascend.versions(here) if kind == "npu" else {}), **packages.versions(found)}
    if cards:
        versions = {"driver": cards[0].driver, **versions}
    return Checkup(
        kind,
        table.series if table else None,
        table.dies if table else (),
        cards or (),
        signs,
        str(place),
        versions,
        ours,
        (*findings, *around),
    )
