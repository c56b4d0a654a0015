"""Which kind of cards this machine has, and which of them a start may use."""

from __future__ import annotations

import shutil
from collections.abc import Mapping, Sequence
from pathlib import Path

from launch.errors import InputError

# The variable that shows a process only some cards. A deploy file's `devices` count inside it.
VISIBLE = {"npu": "ASCEND_RT_VISIBLE_DEVICES", "cuda": "CUDA_VISIBLE_DEVICES"}


def platform(environ: Mapping[str, str], root: Path = Path("/")) -> str | None:
    """ "npu" or "cuda" by device nodes and tools, None where there is neither."""
    path = environ.get("PATH", "")
    if any((root / "dev").glob("davinci[0-9]*")) or shutil.which("npu-smi", path=path):
        return "npu"
    if any((root / "dev").glob("nvidia[0-9]*")) or shutil.which("nvidia-smi", path=path):
        return "cuda"
    return None


def card_list(text: str) -> list[str]:
    """``"4,5"`` as a list of card numbers. Raises ``InputError`` for anything else, and for a card named twice."""
    words = [word.strip() for word in text.split(",")]
    if not all(word.isdigit() for word in words) or len(set(words)) != len(words):
        raise InputError("cards-unreadable", given=text)
    return words


def visible(environ: Mapping[str, str], kind: str | None) -> Sequence[str] | None:
    """The cards that the shell already shows to a process, None when it shows all."""
    value = environ.get(VISIBLE[kind]) if kind else None
    return [word.strip() for word in value.split(",") if word.strip()] if value is not None else None
