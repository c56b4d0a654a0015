"""How far an answer was made, sent, heard and acknowledged, in milliseconds (protocol §4.8)."""

from __future__ import annotations

from collections import OrderedDict
from dataclasses import asdict, dataclass

from launch.rehearsal.wire.realtime.refusals import Refusal

KEPT = 16  # answers whose acknowledgement may still come; later ones are not worth a place


@dataclass
class Cursors:
    """Each only grows."""

    generated_ms: int = 0
    sent_ms: int = 0
    played_ms: int = 0
    committed_ms: int = 0

    def as_dict(self) -> dict[str, int]:
        return asdict(self)


class Playback:
    """The cursors of a session's last answers. ``strict``: 0.30 refuses what does not fit, 0.26 takes anything."""

    def __init__(self, *, strict: bool) -> None:
        self._strict = strict
        self._answers: OrderedDict[str, Cursors] = OrderedDict()
        self._settled: set[str] = set()
        self.now = Cursors()
        """Of the newest answer."""

    def begin(self, response_id: str) -> None:
        self.now = self._answers[response_id] = Cursors()
        if len(self._answers) > KEPT:
            self._answers.popitem(last=False)

    def settle(self) -> None:
        """The user's next turn was committed: what is acknowledged of earlier answers comes too late for 0.30."""
        self._settled = set(self._answers)

    def reach(self, ms: int) -> None:
        """``ms`` of the newest answer are made and sent by now."""
        self.now.generated_ms = self.now.sent_ms = ms

    def acknowledge(self, event: dict[str, object]) -> tuple[str, Cursors]:
        """The item and its cursors after a ``playback.ack``. Raises ``Refusal``."""
        played = event.get("played_ms", event.get("audio_ms"))
        if not isinstance(played, int | float) or isinstance(played, bool) or played < 0:
            raise Refusal("bad_event", "playback.ack requires played_ms")
        committed = event.get("committed_ms", played)
        item_id, response_id = event.get("item_id"), event.get("response_id")
        if response_id is None:
            newest = next(reversed(self._answers), "")
            response_id = str(item_id).removeprefix("item_") if item_id else newest
        if self._strict and item_id is not None and item_id != f"item_{response_id}":
            raise Refusal("playback_item_mismatch", "playback.ack item_id must match item_<response_id>.")
        cursors = self._answers.get(str(response_id))
        if cursors is None:
            if self._strict:
                words = f"No assistant response item is registered for {response_id}."
                raise Refusal("playback_item_not_found", words)
            cursors = self.now
        if self._strict and response_id in self._settled:
            raise too_late()
        cursors.played_ms = max(cursors.played_ms, int(played))
        cursors.committed_ms = max(cursors.committed_ms, int(committed) if isinstance(committed, int | float) else 0)
        return f"item_{response_id}", cursors


def too_late() -> Refusal:
    return Refusal("playback_ack_too_late", "playback.ack arrived after a later user input was committed.")
