"""Which keys of a deploy file vLLM-Omni reads: out of the installed package's source (parsed, never imported), else
as known for its line.

Any other key is dropped by its loader without a word (protocol §5.1), except in ``duplex_session``, where it ends the
start-up.
"""

from __future__ import annotations

import ast
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any

from launch.fast_yaml import parse
from launch.server_python import ServerProgram

DEPLOY = Path(__file__).resolve().parent.parent / "deploy"
# Read by the loader although no dataclass field is called so.
_TOP_EXTRA = ("base_config",)
_STAGE_EXTRA = ("engine_args", "runtime")
# Stage keys with a meaning of their own; they are not engine arguments.
_PLATFORM_EXTRA = ("stages",)


@dataclass(frozen=True)
class LoaderKeys:
    """``top``, ``stage``: keys that are read there. ``duplex``: those of ``duplex_session`` with their defaults.
    ``platform``: those of one platform's section. ``source``: where this is known from.
    """

    top: frozenset[str]
    stage: frozenset[str]
    duplex: Mapping[str, Any]
    platform: frozenset[str]
    source: str


def loader_keys(line: str, program: ServerProgram | None) -> LoaderKeys:
    """The keys of the installed package; those of ``line`` ("0.26", "0.30") where it is not installed or no longer
    looks as it did.
    """
    return (program and from_package(program)) or of_line(line)


@cache
def of_line(line: str) -> LoaderKeys:
    """As written in ``deploy/<line>/loader.yaml``, which was made by ``from_package`` out of the published wheels."""
    rows = parse((DEPLOY / line / "loader.yaml").read_text(encoding="utf-8"))
    return LoaderKeys(
        frozenset(rows["top"]),
        frozenset(rows["stage"]),
        rows["duplex"],
        frozenset(rows["platform"]),
        f"vllm-omni {line}",
    )


def from_package(program: ServerProgram) -> LoaderKeys | None:
    """Read from the dataclasses of the installed vllm-omni and vllm; None when one of them is not where it is
    expected.
    """
    omni = program.package("vllm-omni")
    base = next(
        (place for site in program.sites if (place := site / "vllm" / "engine" / "arg_utils.py").is_file()), None
    )
    if vllm := program.package("vllm"):
        base = vllm.folder / "engine" / "arg_utils.py" if vllm.folder else base
    if omni is None or omni.folder is None or base is None:
        return None
    config = _fields(omni.folder / "config" / "stage_config.py")
    deploy, stage, duplex = (
        config.get(name) for name in ("DeployConfig", "StageDeployConfig", "DuplexSessionRuntimeConfig")
    )
    engine = _fields(base).get("EngineArgs")
    own = _fields(omni.folder / "engine" / "arg_utils.py").get("OmniEngineArgs")
    if not (deploy and stage and duplex and engine and own):
        return None
    platform = {*_PLATFORM_EXTRA, *(("model_runner",) if "model_runner" in deploy else ())}
    return LoaderKeys(
        top=frozenset({*deploy, *_TOP_EXTRA}),
        stage=frozenset({*stage, *engine, *own, *_STAGE_EXTRA}),
        duplex=duplex,
        platform=frozenset(platform),
        source=f"{omni.name} {omni.version}",
    )


def _fields(path: Path) -> dict[str, dict[str, Any]]:
    """Class -> field -> default (None where it is no plain expression) of every class in a source file."""
    if not path.is_file():
        return {}
    tree = ast.parse(path.read_text(encoding="utf-8"))
    return {
        node.name: {
            item.target.id: _value(item.value)
            for item in node.body
            if isinstance(item, ast.AnnAssign) and isinstance(item.target, ast.Name)
        }
        for node in tree.body
        if isinstance(node, ast.ClassDef)
    }


def _value(node: ast.expr | None) -> Any:
    """A constant, or a product of constants (``8 * 1024 * 1024``)."""
    if isinstance(node, ast.BinOp) and isinstance(node.op, ast.Mult):
        left, right = _value(node.left), _value(node.right)
        return left * right if isinstance(left, (int, float)) and isinstance(right, (int, float)) else None
    return node.value if isinstance(node, ast.Constant) else None
