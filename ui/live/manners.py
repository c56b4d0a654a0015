"""Manners: the instructions of a live conversation, chosen from ``assets/voices/manners.yaml`` or written by the user."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from functools import cache
from pathlib import Path

import yaml

from ui.turn.parts import Language

_FILE = Path(__file__).resolve().parent.parent.parent / "assets" / "voices" / "manners.yaml"
INSTRUCTIONS_MOST = 4_000
"""Characters: about 2,500 tokens of Chinese, which leaves most of an 8k context to the conversation."""


@dataclass(frozen=True)
class Manner:
    """``name``: on the page; ``says``: the instructions. Both by language."""

    id: str
    name: Mapping[Language, str]
    says: Mapping[Language, str]


@cache
def manners() -> Mapping[str, Manner]:
    """Every manner by id, in the order of the file; the first is the default."""
    rows = yaml.safe_load(_FILE.read_text(encoding="utf-8"))["manners"]
    return {row["id"]: Manner(row["id"], row["name"], row["says"]) for row in rows}


def instructions(wanted: str, language: Language) -> str:
    """The instructions a page wants: a manner by its id, the default for nothing, else its own words."""
    wanted = wanted.strip() or next(iter(manners()))
    manner = manners().get(wanted)
    return manner.says[language] if manner is not None else wanted
