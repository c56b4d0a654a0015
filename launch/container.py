"""The deployment guide's container (§1, §2) for some cards, and whether this already is one."""

from __future__ import annotations

import shlex
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Literal

Series = Literal["A2", "A3"]
# Where the guide pulls from inside China, and the origin.
MIRROR, ORIGIN = "quay.nju.edu.cn/ascend/vllm-omni", "quay.io/ascend/vllm-omni"
_CONTROL = ("/dev/davinci_manager", "/dev/devmm_svm", "/dev/hisi_hdc")
_NPU_SMI = ("/usr/local/bin/npu-smi", "/usr/local/sbin/npu-smi")  # newer drivers put it into sbin
_SHM = "4g"  # the guide's; Docker's own 64 MB is too small for what the stages pass on


@dataclass(frozen=True)
class Container:
    """``cards``: numbers of ``/dev/davinciN``. ``ports``: published number for number. ``npu_smi``: where the host has
    the tool.
    """

    series: Series
    image: str
    cards: tuple[int, ...]
    ports: tuple[int, ...]
    npu_smi: str

    @property
    def pull(self) -> str:
        return shlex.join(["docker", "pull", self.image])

    @property
    def run(self) -> str:
        """One line. ``$HOME`` is left to the shell that it is pasted into, hence quoted by hand."""
        devices = (*(f"/dev/davinci{card}" for card in self.cards), *_CONTROL)
        driver = "/usr/local/Ascend/driver"
        mounts = (
            "/usr/local/dcmi:/usr/local/dcmi",
            f"{self.npu_smi}:{self.npu_smi}",
            f"{driver}/lib64/:{driver}/lib64/",
            f"{driver}/version.info:{driver}/version.info",
            "/etc/ascend_install.info:/etc/ascend_install.info",
        )
        words = ["docker", "run", "--rm", "--name", f"vllm-omni-{self.series.lower()}", f"--shm-size={_SHM}"]
        words += [word for device in devices for word in ("--device", device)]
        words += [word for mount in mounts for word in ("-v", mount)]
        ports = [word for port in self.ports for word in ("-p", f"{port}:{port}")]
        return f'{shlex.join(words)} -v "$HOME/.cache:/root/.cache" {shlex.join([*ports, "-it", self.image, "bash"])}'


def container(series: Series, tag: str, cards: Sequence[int], ports: Sequence[int], root: Path) -> Container:
    """The guide's container on the mirror. ``root``: of the host, where ``npu-smi`` is looked for."""
    tool = next((place for place in _NPU_SMI if (root / place.lstrip("/")).exists()), _NPU_SMI[0])
    return Container(series, f"{MIRROR}:{tag}", tuple(cards), tuple(dict.fromkeys(ports)), tool)


def signs_of_container(root: Path) -> list[str]:
    """What speaks for being inside a container already. Several signs: on cgroup v2 the guide's own
    (``/proc/1/cgroup``) says nothing.
    """
    return list(_signs(root))


def _signs(root: Path) -> Iterator[str]:
    for marker in (".dockerenv", "run/.containerenv"):
        if (root / marker).exists():
            yield f"/{marker}"
    if any(word in _read(root / "proc/1/cgroup") for word in ("docker", "kubepods", "containerd", "lxc")):
        yield "/proc/1/cgroup"
    mounts = _read(root / "proc/1/mountinfo")
    if "/docker/containers/" in mounts or any(_is_overlay_root(line) for line in mounts.splitlines()):
        yield "/proc/1/mountinfo"


def _is_overlay_root(line: str) -> bool:
    """proc(5): the fifth field is the mount point, the type stands after the lone dash."""
    before, _, after = line.partition(" - ")
    return before.split()[4:5] == ["/"] and after.split()[:1] == ["overlay"]


def _read(path: Path) -> str:
    try:
        return path.read_text(encoding="utf-8", errors="replace")
    except OSError:  # not there, or another user's
        return ""
