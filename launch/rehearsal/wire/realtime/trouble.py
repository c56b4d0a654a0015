"""Faults of a socket on request, so that a client can be seen to survive them: ``--fault KIND[:VALUE][:N]``."""

from __future__ import annotations

import asyncio
import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass

KINDS: dict[str, tuple[str, str]] = {
    "drop-after": ("EVENTS", "the connection is cut, without a goodbye, after EVENTS events of an answer"),
    "half-open": (
        "EVENTS",
        "after EVENTS events of an answer nothing goes out or is read any more, and nothing is closed",
    ),
    "journal-gap": ("", "a client that comes back finds that its missed events are gone"),
    "capacity": ("", "every place is taken"),
    "endless-answer": ("", "an answer goes on for ever"),
    "late-ack-error": ("", "every playback.ack is refused as too late"),
    "stage-death": ("EVENTS", "after EVENTS events of an answer a stage dies: an error, then close 1012"),
    "slow-unit": ("SECONDS", "each second of sound takes SECONDS longer to decide upon"),
}
"""Kind → the number it takes, and what happens: the text of ``--help``."""
_ON_COMING = ("capacity", "journal-gap")  # these befall a connection; all others the session that it opens


@dataclass
class Order:
    kind: str
    value: float
    left: float


@dataclass(frozen=True)
class Trouble:
    """What will happen to one session."""

    values: dict[str, float]

    @property
    def endless(self) -> bool:
        return "endless-answer" in self.values

    @property
    def late_acks(self) -> bool:
        return "late-ack-error" in self.values

    async def slow_unit(self) -> None:
        if "slow-unit" in self.values:
            await asyncio.sleep(self.values["slow-unit"])

    def at_event(self, count: int) -> str | None:
        """What happens once ``count`` events of answers were sent: drop-after, half-open or stage-death. Once each."""
        due = (kind for kind in ("drop-after", "half-open", "stage-death") if self.values.get(kind, math.inf) <= count)
        kind = next(due, None)
        if kind is not None:
            del self.values[kind]
        return kind


class Troubles:
    """The socket faults of one engine, and how often each is still to come."""

    def __init__(self, specs: Sequence[str]) -> None:
        """Raises ``ValueError`` for what is no fault of a socket."""
        self._orders = [_parse(spec) for spec in specs]

    def draw(self) -> Trouble:
        """For a session that opens."""
        return Trouble({order.kind: order.value for order in self._take(lambda kind: kind not in _ON_COMING)})

    def comes(self, kind: str) -> bool:
        """Whether ``kind`` ("capacity", "journal-gap") befalls this connection."""
        return bool(self._take(lambda name: name == kind))

    def _take(self, wanted: Callable[[str], bool]) -> list[Order]:
        due = [order for order in self._orders if order.left > 0 and wanted(order.kind)]
        for order in due:
            order.left -= 1
        return due


def usage(name: str) -> str:
    """How a kind is written: "slow-unit:SECONDS[:N]"."""
    unit = KINDS[name][0]
    return f"{name}:{unit}[:N]" if unit else f"{name}[:N]"


def _parse(spec: str) -> Order:
    name, *numbers = spec.split(":")
    try:
        value = float(numbers.pop(0)) if KINDS[name][0] else 0.0
        left = int(numbers.pop(0)) if numbers else math.inf
    except (IndexError, ValueError):
        numbers = [spec]
    if numbers:
        raise ValueError(f"{spec!r}: write it as {usage(name)}.")
    return Order(name, value, left)
