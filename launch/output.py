"""How a command speaks: sentences and tables in the user's language, or one JSON document. Each method knows which;
callers never ask.
"""

from __future__ import annotations

import json
import re
import shlex
import unicodedata
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import asdict, dataclass, is_dataclass
from typing import TextIO

from launch.findings import Finding, worst_first
from launch.texts import say

_ANSI = {"fatal": "31", "degraded": "33", "harmless": "90", "good": "32", "dim": "90", "strong": "1"}
_COLOUR_CODE = re.compile(r"\x1b\[[0-9;]*m")


@dataclass(frozen=True)
class Output:
    """``tongue``: "zh" or "en". ``as_json``: only ``json()`` prints. ``errors``: where failures go, so that a
    redirected answer stays clean. ``colour``: whether the reader is a terminal that wants it.
    """

    tongue: str
    as_json: bool
    stream: TextIO
    errors: TextIO
    colour: bool = False

    def text(self, key: str, **facts: object) -> str:
        """The sentence of ``key`` (assets/texts/launch.*.yaml), unprinted."""
        return say(self.tongue, key, **facts)

    def say(self, key: str, **facts: object) -> None:
        """Print the sentence of ``key``."""
        self.line(self.text(key, **facts))

    def line(self, words: str = "") -> None:
        """Print words as they are (a path, a command, a line of a log)."""
        if not self.as_json:
            print(words, file=self.stream, flush=True)

    def complain(self, words: str) -> None:
        """Print words about a failure."""
        if not self.as_json:
            print(words, file=self.errors, flush=True)

    def json(self, document: object) -> None:
        """Print the command's one JSON document. Dataclasses become objects; keys keep their order."""
        if self.as_json:
            print(json.dumps(document, ensure_ascii=False, indent=2, default=_plain), file=self.stream, flush=True)

    def paint(self, words: str, style: str) -> str:
        """``words`` in the colour of a severity ("fatal", "degraded", "harmless"), or "good", "dim", "strong"."""
        return f"\x1b[{_ANSI[style]}m{words}\x1b[0m" if self.colour else words

    def table(self, heads: Sequence[str], rows: Iterable[Sequence[object]], indent: str = "") -> None:
        """Columns padded by what a terminal shows (a Chinese character takes two places). The last column is never
        padded nor cut.
        """
        cells = [[str(cell) for cell in row] for row in ([heads, *rows] if heads else rows)]
        if self.as_json or not cells:
            return
        widths = [max(width(row[column]) for row in cells) for column in range(len(cells[0]) - 1)]
        for number, row in enumerate(cells):
            padded = [cell + " " * (widths[column] - width(cell)) for column, cell in enumerate(row[:-1])]
            words = indent + "  ".join([*padded, row[-1]]).rstrip()
            self.line(self.paint(words, "dim") if heads and number == 0 else words)

    def findings(self, findings: Iterable[Finding]) -> None:
        """Each finding, worst first: where and what, the cause, the cure."""
        for finding in worst_first(findings):
            told = finding.tell(self.tongue)
            mark = self.paint(self.text(f"severity.{told.severity}"), told.severity)
            place = "" if told.file is None else told.file if told.line is None else f"{told.file}:{told.line}"
            self.line("  ".join(filter(None, (mark, place, told.what or told.cause))))
            if told.what:
                self.line("    " + self.text("findings.cause", cause=told.cause))
            self.line("    " + self.text("findings.cure", cure=told.cure))

    def told(self, findings: Iterable[Finding]) -> list[dict[str, object]]:
        """The same findings for ``json()``."""
        return [asdict(finding.tell(self.tongue)) for finding in worst_first(findings)]


def launch_line(*words: object) -> str:
    """A command to copy: one line, quoted for the shell, in the form ``python -m launch …``."""
    return shlex.join(["python", "-m", "launch", *map(str, words)])


def width(words: str) -> int:
    """How many places a terminal gives to ``words``."""
    return sum(
        0 if unicodedata.combining(character) else 2 if unicodedata.east_asian_width(character) in "WF" else 1
        for character in _COLOUR_CODE.sub("", words)
    )


def _plain(value: object) -> object:
    """What json does not know: dataclasses, mappings and paths."""
    if is_dataclass(value) and not isinstance(value, type):
        return asdict(value)
    if isinstance(value, Mapping):
        return dict(value)
    return list(value) if isinstance(value, (set, frozenset)) else str(value)
