"""Every event of a session, numbered and kept for a client that comes back (protocol §4.10)."""

from __future__ import annotations

import json
import time
import uuid
from collections import deque
from collections.abc import Callable
from typing import Any

KEPT_S = 60.0  # ``resume_replay_ttl_s``
KEPT_BYTES = 8 << 20  # ``resume_replay_max_bytes_per_session``


def stamped(event: dict[str, Any]) -> dict[str, Any]:
    """With an id of its own."""
    return {**event, "event_id": f"event_{uuid.uuid4().hex}"}


class Journal:
    """Numbers events 1, 2, ...; what was numbered once is replayed byte by byte. ``kept_s``, ``kept_bytes``: how much.
    ``stamp``: gives an event its id."""

    def __init__(
        self,
        *,
        kept_s: float = KEPT_S,
        kept_bytes: int = KEPT_BYTES,
        stamp: Callable[[dict[str, Any]], dict[str, Any]] = stamped,
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        self._stamp = stamp
        self._kept_s = kept_s
        self._kept_bytes = kept_bytes
        self._clock = clock
        self._rows: deque[tuple[int, float, str]] = deque()
        self._bytes = 0
        self.last = 0
        self._first = 1  # the oldest number that can still be replayed

    def write(self, event: dict[str, Any]) -> str:
        """``event`` with its id and number, as JSON."""
        self.last += 1
        text = json.dumps(self._stamp(event) | {"server_event_seq": self.last})
        self._rows.append((self.last, self._clock(), text))
        self._bytes += len(text)
        self._forget()
        return text

    def since(self, number: int) -> list[str] | None:
        """What came after ``number``; ``None`` when some of it is gone."""
        self._forget()
        if number + 1 < self._first:
            return None
        return [text for row, _, text in self._rows if row > number]

    def seen(self, number: int) -> None:
        """The client has everything up to ``number`` and will not ask for it again."""
        while self._rows and self._rows[0][0] <= number:
            self._drop()

    def lose(self) -> None:
        """Nothing of what came can be replayed any more (a fault)."""
        self.seen(self.last)

    def _forget(self) -> None:
        while self._rows and (self._bytes > self._kept_bytes or self._clock() - self._rows[0][1] > self._kept_s):
            self._drop()

    def _drop(self) -> None:
        number, _, text = self._rows.popleft()
        self._bytes -= len(text)
        self._first = number + 1
