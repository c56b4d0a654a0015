"""Secrets, kept out of everything that is printed, logged or written to JSON."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence

MASK = "***"
# TOKENIZERS_PARALLELISM is no secret; masked, it would spoil the start in one line.
_SECRET_NAME = re.compile(r"KEY|TOKEN(?!IZER)|SECRET|PASSWORD|PASSWD|CREDENTIAL", re.IGNORECASE)
# `"api_key": "x"`, `--api-key x`, `token=x`, `Authorization: Bearer x`: how a server's log and a command line hold
# them. A number after it is a count of tokens.
_IN_TEXT = re.compile(
    r"""(?ix) ( (?:api[_-]?key|token|secret|password|passwd)s? ['"]? \s* (?:[:=]\s*|\s) [\['"]* | bearer\s+ )
        (?! [\d.,]+ (?:[^\w-]|$) ) (?! (?:none|null|true|false|\*+)\b ) ( [^\s'",\]}]{4,} )"""
)
# http://user:password@host: a proxy's usual form.
_IN_URL = re.compile(r"(\w+://[^\s:/@]+:)[^\s/@]+(@)")


def is_secret(name: str) -> bool:
    """Whether an environment variable of this name holds a secret."""
    return bool(_SECRET_NAME.search(name))


def environment(values: Mapping[str, str]) -> dict[str, str]:
    """The same variables with secrets masked, ready to be shown."""
    return {name: MASK if is_secret(name) else url(value) for name, value in values.items()}


def url(text: str) -> str:
    """``text`` without the passwords inside its URLs."""
    return _IN_URL.sub(rf"\1{MASK}\2", text)


def command(argv: Sequence[str]) -> list[str]:
    """The same words with the value of any secret-looking option masked."""
    shown: list[str] = []
    hide = False
    for word in argv:
        name, equals, _ = word.partition("=")
        secret = name.startswith("--") and is_secret(name) and not name.endswith(("-file", "tokens"))
        shown.append(MASK if hide else f"{name}={MASK}" if secret and equals else url(word))
        hide = secret and not equals
    return shown


def text(line: str) -> str:
    """A line of a log with anything that looks like a secret's value masked."""
    return url(_IN_TEXT.sub(rf"\1{MASK}", line))
