"""Personas: who answers, in which language, and with which voice."""

from __future__ import annotations

import re
import wave
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any, Literal

import yaml

from ui.turn.parts import Audio, Language, Voice

FOLDER = Path(__file__).resolve().parent.parent / "assets" / "voices"
AnswerLanguage = Literal["auto", "zh", "en"]
_HAN = re.compile(r"[\u3400-\u9fff]")
_LATIN = re.compile(r"[A-Za-z]")


@dataclass(frozen=True)
class Persona:
    """One entry of ``assets/voices/personas.yaml``; ``says`` by language."""

    id: str
    says: Mapping[Language, str]


@cache
def personas() -> Mapping[str, Persona]:
    """Every persona by id, in the order of the file."""
    return {row["id"]: Persona(row["id"], row["says"]) for row in _file()["personas"]}


@cache
def voice(persona: str, language: Language) -> Voice:
    """Who speaks, ready for a request. The reference sound is there when its file is. Raises ``KeyError`` for an unknown persona."""
    says = personas()[persona].says[language]
    reference = _reference(FOLDER / f"{persona}-{language}.wav")
    if reference is None:
        return Voice(language, before=says)
    return Voice(language, before=_file()["sound"][language], reference=reference, after=says)


def answer_language(wanted: AnswerLanguage, prompt: str, page: Language) -> Language:
    """``auto`` means: as asked. Any Han character makes it Chinese; a question without letters follows the page."""
    if wanted != "auto":
        return wanted
    if _HAN.search(prompt):
        return "zh"
    return "en" if _LATIN.search(prompt) else page


@cache
def _file() -> dict[str, Any]:
    return yaml.safe_load((FOLDER / "personas.yaml").read_text(encoding="utf-8"))


def _reference(path: Path) -> Audio | None:
    if not path.is_file():
        return None
    with wave.open(str(path)) as sound:
        return Audio(path.read_bytes(), seconds=sound.getnframes() / sound.getframerate())
