"""Admission by a one-time ticket, for a page whose cookie does not travel to the address its socket is opened at."""

from __future__ import annotations

import secrets
import time
from collections.abc import Callable
from dataclasses import dataclass

_LIFE_S = 30.0  # the page opens the socket at once; a slow gateway's handshake takes seconds
_MOST = 256  # tickets nobody came with; a page asks for one a connection


@dataclass(frozen=True)
class Ticket:
    """``origin``: of the page that asked; the socket must come from the same."""

    conversation: str
    owner: str
    origin: str
    until: float


class Tickets:
    """Issues tickets and takes each once. They are worth nothing after ``_LIFE_S``, so one in a gateway's log is harmless."""

    def __init__(self, clock: Callable[[], float] = time.monotonic) -> None:
        self._clock = clock
        self._tickets: dict[str, Ticket] = {}

    def issue(self, conversation: str, owner: str, origin: str) -> str:
        now = self._clock()
        self._tickets = {key: ticket for key, ticket in self._tickets.items() if ticket.until > now}
        while len(self._tickets) >= _MOST:
            del self._tickets[next(iter(self._tickets))]
        key = secrets.token_urlsafe(32)
        self._tickets[key] = Ticket(conversation, owner, origin, now + _LIFE_S)
        return key

    def take(self, key: str, conversation: str, origin: str | None) -> str | None:
        """The owner a ticket admits to ``conversation``, ``None`` for one that is used, old, or somebody else's. Whoever
        shows it, it is used up."""
        ticket = self._tickets.pop(key, None)
        if ticket is None or ticket.until <= self._clock():
            return None
        return ticket.owner if (ticket.conversation, ticket.origin) == (conversation, origin) else None
