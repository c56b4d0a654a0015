"""What the page says, in two languages: every ``assets/texts/*{zh,en}.yaml``, read once."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from functools import cache
from pathlib import Path

import yaml

from ui.turn.parts import Language

FOLDER = Path(__file__).resolve().parent.parent / "assets" / "texts"
LANGUAGES: tuple[Language, ...] = ("zh", "en")


class Texts:
    """Sentences by language and dotted key. The server renders English; ``ui/browser/language.js`` turns it into Chinese."""

    def __init__(self, tables: Mapping[Language, Mapping[str, str]]) -> None:
        self._tables = tables

    def __call__(self, key: str, language: Language = "en", **values: object) -> str:
        """The sentence ``key`` with its ``{places}`` filled. Raises ``KeyError`` for a key nobody wrote."""
        text = self._tables[language][key]
        return text.format(**values) if values else text

    def table(self, language: Language) -> Mapping[str, str]:
        """All sentences of one language."""
        return self._tables[language]


@cache
def texts() -> Texts:
    """The product's texts."""
    return read(FOLDER)


def read(folder: Path) -> Texts:
    """The texts in ``folder``: ``zh.yaml`` stands at the root, ``stage.zh.yaml`` under ``stage.``.

    Raises ``ValueError`` for a key that stands twice, and for an unquoted yes or no.
    """
    return Texts({language: _table(folder, language) for language in LANGUAGES})


def _table(folder: Path, language: Language) -> dict[str, str]:
    table: dict[str, str] = {}
    for path in sorted(folder.glob(f"*{language}.yaml")):
        room = path.name.removesuffix(f"{language}.yaml")
        for key, text in _flat(yaml.safe_load(path.read_text(encoding="utf-8")), room):
            if key in table:
                raise ValueError(f"{path.name}: {key!r} stands twice")
            table[key] = text
    return table


def _flat(node: Mapping[str, object], prefix: str = "") -> Iterator[tuple[str, str]]:
    for name, value in node.items():
        if isinstance(value, Mapping):
            yield from _flat(value, f"{prefix}{name}.")
        elif isinstance(name, bool) or isinstance(value, bool):
            raise ValueError(f"{prefix}: YAML reads yes, no, on and off as switches; quote {name!r}: {value!r}")
        else:
            yield f"{prefix}{name}", str(value)
