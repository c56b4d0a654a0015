"""Whether enough healthy cards are free for a layout, and which of them a start should be given."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Protocol

from launch.doctor.servers import Running
from launch.findings import Finding
from launch.layouts import Layout
from launch.npu import Holder
from launch.output import launch_line


class Card(Protocol):
    """What an Ascend die and a CUDA card have in common."""

    @property
    def card(self) -> int: ...
    @property
    def health(self) -> str: ...
    @property
    def usable(self) -> bool: ...
    @property
    def busy(self) -> bool: ...
    @property
    def used_mb(self) -> int: ...
    @property
    def holders(self) -> tuple[Holder, ...]: ...


def find(
    cards: Sequence[Card], layout: Layout, shown: Sequence[str] | None, ours: Sequence[Running]
) -> Iterator[Finding]:
    """``cards``: in the order of the tool's table. ``shown``: what the visible-devices variable names: positions among
    the cards that this machine or container has ("set ASCEND_RT_VISIBLE_DEVICES:[4] error, input data rang[0-2)" where
    two are passed in), not the numbers of ``/dev/davinciN``. A card that only our own running servers hold is no
    finding: `down` gives it back.
    """
    family = {pid for server in ours for pid in server.pids}
    mine = [(place, card) for place, card in enumerate(cards) if shown is None or str(place) in shown]
    free: list[int] = []
    for place, card in mine:
        facts = {"card": card.card, "health": card.health, "used": card.used_mb}
        facts |= {name: value for name in ("npu", "chip") if (value := getattr(card, name, None)) is not None}
        if card.health != "OK":
            yield Finding("card-warning" if card.usable else "card-unhealthy", facts)
        by_us = bool(card.holders) and all(holder.pid in family for holder in card.holders)
        if card.busy and not by_us:
            holders = ", ".join(f"{holder.name} (pid {holder.pid})" for holder in card.holders) or "—"
            yield Finding("card-busy", {**facts, "holders": holders})
        if card.usable and (not card.busy or by_us):
            free.append(place)
    if len(free) < layout.cards:
        facts = {"layout": layout.name, "wanted": layout.cards, "free": len(free), "seen": len(mine)}
        yield Finding("cards-too-few", {**facts, "layouts": launch_line("layouts")})
    elif free[: layout.cards] != [place for place, _ in mine][: layout.cards]:
        chosen = ",".join(map(str, free[: layout.cards]))
        yield Finding("cards-choose", {"command": launch_line("up", "--layout", layout.name, "--cards", chosen)})
