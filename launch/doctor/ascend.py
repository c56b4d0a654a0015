"""Ascend without its cards: driver, firmware, device nodes, and the toolkit's environment."""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path

from launch.environment import ENVIRONMENT_SCRIPTS
from launch.faults import catalogue
from launch.findings import Finding
from launch.here import Here
from launch.layouts import Layout
from launch.npu import Die, NpuTable
from launch.versions import Installed, numbers

_CONTROL = ("/dev/davinci_manager", "/dev/devmm_svm", "/dev/hisi_hdc")
_DRIVER = "/usr/local/Ascend/driver/version.info"
_FIRMWARE = "/usr/local/Ascend/firmware/version.info"  # of the host; containers are not given it
# What npu-smi says instead of a table, by the catalogue's own signatures.
_NO_TABLE = ("npu-dcmi-init-failed", "npu-driver-lib-missing", "npu-smi-missing")
_NOT_THERE = {"ASCEND_TOOLKIT_HOME": "cann-env-not-sourced", "ATB_HOME_PATH": "atb-missing"}
_DRIVER_OF_CANN_9 = 25  # CANN 9 was only seen on drivers from 25 on (npu.md §2)
_HOMES = ("ASCEND_TOOLKIT_HOME", "ASCEND_HOME_PATH")
_TREES = ("/usr/local/Ascend/ascend-toolkit/latest", "/usr/local/Ascend/cann")


def find(said: str | None, table: NpuTable | None, layout: Layout, found: Installed, here: Here) -> Iterator[Finding]:
    """``said``: all that npu-smi said, None where there is none; ``table``: what could be read of it."""
    if table is None:
        known = (id for id in _NO_TABLE if re.search(catalogue()[id].signature, said or ""))
        yield Finding(next(known, "npu-smi-missing"))
    missing = [*_card_nodes(table, layout, here), *(node for node in _CONTROL if not here.under(node).exists())]
    if missing:
        yield Finding("device-nodes-missing", {"nodes": ", ".join(missing)})
    yield from _driver(here, found)
    yield from _toolkit(here, found)
    if here.environ.get("ASCEND_LAUNCH_BLOCKING") == "1":
        # From 0.30 on the vocoder's graph refuses it; before, it makes every kernel wait for the one before.
        old = found.line.since < (0, 30)
        yield Finding("launch-blocking-slow" if old else "launch-blocking-vs-graph")


def versions(here: Here) -> dict[str, str]:
    """Driver, firmware and CANN, as far as they can be read."""
    known = {
        "driver": _entries(here.under(_DRIVER)).get("Version"),
        "firmware": _entries(here.under(_FIRMWARE)).get("Version"),
        "cann": cann(here),
    }
    return {name: version for name, version in known.items() if version}


def cann(here: Here) -> str | None:
    """The toolkit's version: of the tree that the environment names, else of the usual places."""
    homes = [home for name in _HOMES if (home := here.environ.get(name))]
    for home in [*homes, *_TREES]:
        folder = here.under(home)
        for record in sorted(folder.glob("*-linux/ascend_toolkit_install.info")):
            if version := _entries(record).get("version"):
                return version
        if named := re.fullmatch(r"cann-(\d[\w.]*)", folder.resolve().name):  # since 8.5 the tree is cann-<version>
            return named[1]
    trees = sorted(here.under("/usr/local/Ascend").glob("cann-[0-9]*"), key=lambda tree: numbers(tree.name[5:]))
    return trees[-1].name.removeprefix("cann-") if trees else None


def passed_in(table: NpuTable, here: Here) -> list[Die]:
    """The dies whose device node is here: the others no process of this machine or container can open."""
    return [die for die in table.dies if here.under(f"/dev/davinci{die.card}").exists()]


def _card_nodes(table: NpuTable | None, layout: Layout, here: Here) -> list[str]:
    """The nodes that are missing, where fewer are there than the layout uses: of the dies that npu-smi shows; without a
    table, of the first ones.
    """
    there = {node.name for node in here.under("/dev").glob("davinci[0-9]*")}
    known = [die.card for die in table.dies] if table is not None else range(layout.cards)
    missing = [f"/dev/davinci{card}" for card in known if f"davinci{card}" not in there]
    return missing if len(known) - len(missing) < layout.cards else []


def _driver(here: Here, found: Installed) -> Iterator[Finding]:
    driver = _entries(here.under(_DRIVER))
    if not driver:
        yield Finding("driver-folder-missing")
        return
    version, toolkit = driver.get("Version", ""), cann(here) or found.line.belong.get("cann", "")
    if numbers(version) and numbers(version)[0] < _DRIVER_OF_CANN_9 and numbers(toolkit)[:1] >= (9,):
        yield Finding("driver-too-old", {"version": version, "cann": toolkit, "wanted": _DRIVER_OF_CANN_9})
    firmware = _entries(here.under(_FIRMWARE)).get("Version")
    bounds = re.findall(r"[\d.]+", driver.get("compatible_version_fw", ""))
    if firmware and len(bounds) == 2 and not numbers(bounds[0]) <= numbers(firmware)[:3] <= numbers(bounds[1]):
        yield Finding(
            "firmware-apart", {"firmware": firmware, "driver": version, "least": bounds[0], "most": bounds[1]}
        )


def _toolkit(here: Here, found: Installed) -> Iterator[Finding]:
    for variable, scripts in ENVIRONMENT_SCRIPTS:  # `up` sources those that are there
        if not here.environ.get(variable) and not any(here.under(script).is_file() for script in scripts):
            yield Finding(_NOT_THERE[variable])
    version, wanted = cann(here), found.line.belong.get("cann")
    if version and wanted and numbers(version)[:1] < numbers(wanted)[:1]:
        yield Finding("cann-too-old", {"version": version, "wanted": wanted})
    paths = here.environ.get("PYTHONPATH", "").split(":")
    if here.environ.get("ASCEND_TOOLKIT_HOME") and not any(
        path.rstrip("/").endswith("/python/site-packages") for path in paths
    ):
        yield Finding("pythonpath-without-cann", {"home": here.environ["ASCEND_TOOLKIT_HOME"]})


def _entries(file: Path) -> dict[str, str]:
    """A ``key=value`` file; empty where there is none."""
    if not file.is_file():
        return {}
    lines = file.read_text(encoding="utf-8", errors="replace").splitlines()
    return {name.strip(): value.strip() for name, equals, value in (line.partition("=") for line in lines) if equals}
