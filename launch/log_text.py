"""Lines of a server's log as the fault catalogue's signatures expect them: no colours, process names, level stamps;
and who wrote each.
"""

from __future__ import annotations

import re

COLOURS = re.compile(rb"\x1b\[[0-9;?]*[A-Za-z]")
# (APIServer pid=26239), (StageEngineCoreProc_stage0_replica0 pid=901), (Worker_TP0 pid=5): one, or one inside
# another's.
_PROCESS = re.compile(r"^(?:\((?P<who>[^()]*?\bpid=\d+)\) ?)+")
# An ISO time that docker or `ts` puts first, then vLLM's `INFO 11-30 20:22:06 [core.py:116] ` or uvicorn's `INFO:
# `.
_STAMP = re.compile(
    r"^(?:\[?\d{4}-\d\d-\d\d[T ]\d\d:\d\d:\d\d[^\s\]]*\]? ?)?"
    r"(?:(?:DEBUG|INFO|WARNING|ERROR|CRITICAL)(?::? +\d\d-\d\d \d\d:\d\d:\d\d)?(?::? +\[[\w./-]+\.\w+(?::\d+)?\])?(?::? |$))?"
)
_SOURCE_PLACE = re.compile(r'^\s*File "[^"]*", line \d+')


def decode(line: bytes) -> str:
    """A raw line as text, without colours; a progress bar's carriage returns become line breaks."""
    return COLOURS.sub(b"", line).decode("utf-8", "replace").rstrip("\r\n").replace("\r", "\n")


def split(line: str) -> tuple[str, str]:
    """Who wrote a decoded line ("" when it does not say), and what they wrote, indentation kept."""
    process = _PROCESS.match(line)
    rest = line[process.end() :] if process else line
    return (process.group("who") if process else ""), rest[_STAMP.match(rest).end() :]  # type: ignore[union-attr]


def is_source(text: str, before: str) -> bool:
    """Whether ``text`` is the line of code that a traceback shows under ``File "…", line N``: it quotes a message, it
    does not say it.
    """
    place = _SOURCE_PLACE.match(before)
    return place is not None and len(text) - len(text.lstrip()) > len(before) - len(before.lstrip())
