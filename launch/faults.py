"""The fault catalogue, read once: what a failure means and what to do about it, in Chinese and English."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from functools import cache
from pathlib import Path

from launch.errors import OmniError, ServerError
from launch.fast_yaml import parse

_EXAMPLE = "http://127.0.0.1:8091"  # how the catalogue's commands name a server nobody has named
CATALOGUE = Path(__file__).resolve().parent.parent / "deploy" / "faults.yaml"


@dataclass(frozen=True)
class Fault:
    """One entry of ``deploy/faults.yaml``. ``cause``, ``cure`` and ``what`` by language; all may hold ``{fact}``
    places. ``what`` is the headline of a finding with the values seen; an entry that is only ever an error message
    has none.
    """

    id: str
    where: str
    role: str
    severity: str
    signature: str
    cause: Mapping[str, str]
    cure: Mapping[str, str]
    sample: str = ""
    what: Mapping[str, str] = field(default_factory=dict)


@dataclass(frozen=True)
class Explanation:
    """A fault told to one person: sentences in their language, ready to show."""

    id: str
    severity: str
    cause: str
    cure: str
    what: str = ""


@cache
def catalogue() -> Mapping[str, Fault]:
    """Every known fault by id. Raises ``ValueError`` when the file holds an id twice."""
    faults: dict[str, Fault] = {}
    for row in parse(CATALOGUE.read_text(encoding="utf-8")):
        if row["id"] in faults:
            raise ValueError(f"{CATALOGUE.name}: id {row['id']!r} stands twice")
        faults[row["id"]] = Fault(
            id=row["id"],
            where=row["where"],
            role=row["role"],
            severity=row["severity"],
            signature=row["signature"],
            cause=row["cause"],
            cure=row["cure"],
            sample=row.get("sample") or "",
            what=row.get("what") or {},
        )
    return faults


class _Gaps(dict[str, object]):
    """Facts for a sentence; a fact nobody gave shows as an em dash rather than as a crash."""

    def __missing__(self, key: str) -> str:
        return "—"


def explain(error: OmniError, language: str) -> Explanation:
    """The sentences for ``error`` in ``language`` ("zh" or "en"). Raises ``KeyError`` for a key outside the
    catalogue. A command in its cure names the very server an error is about.
    """
    told = tell(error.key, error.facts, language)
    if isinstance(error, ServerError) and error.server:
        return replace(told, cure=told.cure.replace(_EXAMPLE, error.server))
    return told


def tell(id: str, facts: Mapping[str, object], language: str) -> Explanation:
    """The sentences of one entry with ``facts`` filled in; without any, braces stay as they are written."""
    fault = catalogue()[id]
    gaps = _Gaps(facts)
    fill = (lambda text: text.format_map(gaps)) if facts else (lambda text: text)
    return Explanation(
        fault.id,
        fault.severity,
        fill(fault.cause[language]),
        fill(fault.cure[language]),
        fill(fault.what.get(language, "")),
    )
