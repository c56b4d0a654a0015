"""The sample cards, read from ``assets/samples/samples.yaml``."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from functools import cache
from pathlib import Path

import yaml

from launch.errors import InputError
from ui.turn.parts import Language

FOLDER = Path(__file__).resolve().parent.parent / "assets" / "samples"


@dataclass(frozen=True)
class Question:
    """One question of a sample: what is typed, and the files in the order they are sent."""

    prompt: str
    files: tuple[Path, ...]

    def check(self) -> None:
        """Raises ``InputError`` when a file is not there."""
        for path in self.files:
            if not path.is_file():
                raise InputError("sample-missing", detail=path.name)


@dataclass(frozen=True)
class Sample:
    """A card. ``questions``: one, or on the multi-turn tab several in order. ``language``: of question and answer."""

    id: str
    tab: str
    language: Language
    title: Mapping[Language, str]
    note: Mapping[Language, str]
    questions: tuple[Question, ...]


@cache
def samples() -> Mapping[str, Sample]:
    """Every sample by id, in the order of the cards."""
    rows = yaml.safe_load((FOLDER / "samples.yaml").read_text(encoding="utf-8"))
    return {row["id"]: _sample(row) for row in rows}


def of_tab(tab: str) -> tuple[Sample, ...]:
    """The cards of one tab."""
    return tuple(sample for sample in samples().values() if sample.tab == tab)


def _sample(row: Mapping) -> Sample:
    questions = tuple(
        Question(turn["prompt"], tuple(FOLDER / name for name in turn["files"])) for turn in row.get("turns", [row])
    )
    return Sample(row["id"], row["tab"], row["language"], row["title"], row["note"], questions)
