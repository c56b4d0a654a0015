"""A machine with cards, as far as its tools tell: a fake ``npu-smi`` that answers with a text of tests/data/npu, or a
fake ``nvidia-smi``.
"""

from __future__ import annotations

from pathlib import Path

from launch.npu import parse
from tests.launch.console import server_python
from tests.launch.test_install import distribution, model

TEXTS = Path(__file__).resolve().parents[1] / "data" / "npu"
# As the contest image has them.
PACKAGES = {
    "vllm": "0.1.dev1+ge5588e49b.empty",
    "vllm-ascend": "0.19.1rc2.dev1014+g8092d3f66",
    "torch": "2.10.0+cpu",
    "torch-npu": "2.10.0",
    "stepaudio2-minicpmo": "0.1.1",
    "step-audio2": "1.0.0",
    "s3tokenizer": "0.3.0",
    "onnxruntime": "1.27.0",
}


def with_npu_smi(root: Path, text: str) -> dict[str, str]:
    """Put ``npu-smi`` into ``root``, and the device nodes of the cards it names; the environment that finds it."""
    table = parse((TEXTS / text).read_text())
    for die in table.dies if table else ():
        touch(root / f"dev/davinci{die.card}")
    return {"PATH": str(_tool(root, "npu-smi", f"exec /bin/cat '{TEXTS / text}'"))}


def with_nvidia_smi(root: Path, cards: str, holders: str = "", code: int = 0) -> dict[str, str]:
    """Put ``nvidia-smi`` into ``root``: ``cards`` and ``holders`` as its csv lines. The environment that finds it."""
    body = f"case $1 in --query-gpu*) /bin/echo '{cards}';; *) /bin/echo '{holders}';; esac; exit {code}"
    return {"PATH": str(_tool(root, "nvidia-smi", body))}


def whole_machine(root: Path, omni: str = "0.25.0rc2.dev5+g3f4abedbd.cpu") -> Path:
    """Give ``root`` all that an Ascend start needs but cards. Returns the home of the server's Python."""
    for file in (
        *("dev/davinci_manager", "dev/devmm_svm", "dev/hisi_hdc"),
        *("usr/local/Ascend/ascend-toolkit/set_env.sh", "usr/local/Ascend/nnal/atb/set_env.sh"),
    ):
        touch(root / file)
    write(root / "usr/local/Ascend/driver/version.info", (TEXTS / "version.info.txt").read_text())
    home = root / "usr/local/python3.12.13"
    server_python(home, version=omni)
    for name, version in PACKAGES.items():
        distribution(home, name, version)
    model(root / "workspace/MiniCPM-o-4_5")
    return home


def touch(file: Path) -> None:
    file.parent.mkdir(parents=True, exist_ok=True)
    file.touch()


def write(file: Path, text: str) -> None:
    touch(file)
    file.write_text(text)


def _tool(root: Path, name: str, body: str) -> Path:
    program = root / "tools" / name
    write(program, f"#!/bin/sh\n{body}\n")
    program.chmod(0o755)
    return program.parent
