"""A machine with cards, as far as its tools tell: a fake ``npu-smi`` that answers with a text of tests/data/npu."""

from __future__ import annotations

from pathlib import Path

TEXTS = Path(__file__).resolve().parents[1] / "data" / "npu"


def with_npu_smi(root: Path, text: str) -> dict[str, str]:
    """Put ``npu-smi`` into ``root``; the environment that finds it."""
    program = root / "tools" / "npu-smi"
    program.parent.mkdir(exist_ok=True)
    program.write_text(f"#!/bin/sh\nexec /bin/cat '{TEXTS / text}'\n")
    program.chmod(0o755)
    return {"PATH": str(program.parent)}
