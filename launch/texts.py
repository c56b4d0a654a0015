"""What the launcher says, in the user's language: ``assets/texts/launch.{zh,en}.yaml`` by dotted key."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import cache
from pathlib import Path

from launch.fast_yaml import parse

FOLDER = Path(__file__).resolve().parent.parent / "assets" / "texts"
LANGUAGES = ("zh", "en")


def language(environ: Mapping[str, str], flag: str | None = None) -> str:
    """ "zh" or "en": the flag, else ``OMNI_LANG``, else the locale of the shell (as gettext reads it), else English."""
    for given in (flag, *(environ.get(name) for name in ("OMNI_LANG", "LC_ALL", "LC_MESSAGES", "LANG"))):
        if given:
            return "zh" if given.lower().startswith("zh") else "en"
    return "en"


@cache
def texts(tongue: str) -> Mapping[str, str]:
    """Every sentence of one language by its dotted key (``up.starting``)."""
    flat: dict[str, str] = {}
    _flatten(parse((FOLDER / f"launch.{tongue}.yaml").read_text(encoding="utf-8")), "", flat)
    return flat


def _flatten(node: Mapping[str, object], prefix: str, into: dict[str, str]) -> None:
    for name, value in node.items():
        if isinstance(value, Mapping):
            _flatten(value, f"{prefix}{name}.", into)
        else:
            into[f"{prefix}{name}"] = str(value)


def say(tongue: str, key: str, **facts: object) -> str:
    """One sentence, its ``{facts}`` filled in. Raises ``KeyError`` for a key or a fact that is not there."""
    sentence = texts(tongue)[key]
    return sentence.format(**facts) if facts else sentence


def listed(tongue: str, items: Sequence[object]) -> str:
    """Things in a row, with the comma of the language."""
    return ("、" if tongue == "zh" else ", ").join(map(str, items))
