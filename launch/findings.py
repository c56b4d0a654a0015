"""What a check found: a key of the fault catalogue with the values seen, told in either language when it is shown."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field

from launch.faults import tell

# Worst first: the order in which findings are shown.
SEVERITIES = ("fatal", "degraded", "harmless")


@dataclass(frozen=True)
class Told:
    """A finding in one language. ``file`` and ``line`` (from 1) say where it stands, when it stands in a file."""

    id: str
    severity: str
    what: str
    cause: str
    cure: str
    file: str | None = None
    line: int | None = None


@dataclass(frozen=True)
class Finding:
    """Something worth saying. ``id``: key of ``deploy/faults.yaml``, whose entry has ``what``, ``cause`` and
    ``cure``; ``facts`` fill their ``{places}``. ``severity`` overrides the entry's own where the same fault weighs
    less here.
    """

    id: str
    facts: Mapping[str, object] = field(default_factory=dict)
    file: str | None = None
    line: int | None = None
    severity: str | None = None

    def tell(self, tongue: str) -> Told:
        """The finding in ``tongue`` ("zh" or "en"). Raises ``KeyError`` for an id outside the catalogue."""
        told = tell(self.id, self.facts, tongue)
        return Told(self.id, self.severity or told.severity, told.what, told.cause, told.cure, self.file, self.line)


def worst_first(findings: Iterable[Finding]) -> list[Finding]:
    """Sorted by severity; within one, files in the order in which they were looked at, then lines."""
    found = list(findings)
    looked_at = {file: place for place, file in enumerate(dict.fromkeys(finding.file for finding in found))}
    return sorted(found, key=lambda f: (SEVERITIES.index(f.tell("en").severity), looked_at[f.file], f.line or 0))


def exit_code(findings: Iterable[Finding]) -> int:
    """0 when all is well or only harmless things were found, else 1."""
    return int(any(finding.tell("en").severity != "harmless" for finding in findings))
