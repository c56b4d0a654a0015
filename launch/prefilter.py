"""The literal words a regular expression cannot match without, so that a log is searched for those first, at memory
speed.

Python parses its own patterns into a tree; the words are read off that tree. A pattern with no such word gives none
and must then be tried on every line, which is slow but right.
"""

from __future__ import annotations

import re
import warnings
from typing import Any

try:  # its name since 3.11; the same module before
    from re import _parser as _sre  # type: ignore[attr-defined]
except ImportError:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", DeprecationWarning)
        import sre_parse as _sre

# Shorter words stand on every other line and would filter nothing.
SHORTEST = 4


def words(pattern: str) -> frozenset[str]:
    """Words, in lower case, of which every match of ``pattern`` (taken without regard to case) holds at least one;
    empty when there are none of useful length. Raises ``re.error`` for a pattern that is none.
    """
    return _best(_sre.parse(pattern, re.IGNORECASE | re.MULTILINE)) or frozenset()


def _best(tree: Any) -> frozenset[str] | None:
    """The best choice for a sequence: any of its parts' words will do, so the one whose shortest word is longest."""
    choices: list[frozenset[str]] = []
    run = ""
    for operation, argument in tree:
        name = str(operation)
        if name == "LITERAL":
            run += chr(argument)
            continue
        choices.append(frozenset({run.lower()}))
        run = ""
        if name == "SUBPATTERN":
            choices.append(_best(argument[-1]) or frozenset())
        elif name == "BRANCH":
            branches = [_best(branch) for branch in argument[1]]
            choices.append(frozenset().union(*branches) if all(branches) else frozenset())  # type: ignore[arg-type]
        elif name in ("MAX_REPEAT", "MIN_REPEAT") and argument[0] > 0:
            choices.append(_best(argument[2]) or frozenset())
    choices.append(frozenset({run.lower()}))
    useful = [choice for choice in choices if choice and min(map(len, choice)) >= SHORTEST]
    return max(useful, key=_worth, default=None)


def _worth(choice: frozenset[str]) -> tuple[int, int, int]:
    """Letters before digits, which stand in every line's time stamp; then the longer, then the fewer."""
    letters = min(sum(not character.isdigit() for character in word) for word in choice)
    return min(letters, SHORTEST), min(map(len, choice)), -len(choice)
