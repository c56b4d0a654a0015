"""Telling the server what has been heard: live, each answer for itself, never more than it made (protocol §4.8)."""

from __future__ import annotations

from dataclasses import dataclass

from ui.live.events import PlaybackAck

_KEPT = 8  # answers: what is older has been heard or flushed long ago


@dataclass
class _Heard:
    id: str
    made_ms: float = 0.0
    heard_ms: float = 0.0
    told_ms: int = -1


class Acknowledgements:
    """By number of the answer. The server's cursors only grow, so a smaller number than before says nothing."""

    def __init__(self) -> None:
        self._answers: dict[int, _Heard] = {}

    def begun(self, response: int, id: str) -> None:
        self._answers[response] = _Heard(id)
        self._answers.pop(response - _KEPT, None)

    def made(self, response: int, ms: float) -> None:
        """Length of the answer so far, as received: what the server has sent, it has made."""
        if answer := self._answers.get(response):
            answer.made_ms = ms

    def heard(self, response: int, ms: float) -> None:
        if answer := self._answers.get(response):
            answer.heard_ms = max(answer.heard_ms, ms)

    def unheard(self) -> list[int]:
        """Answers of which some is still to be heard, where their hearing is reported at all."""
        reported = any(answer.heard_ms for answer in self._answers.values())
        return [number for number, each in self._answers.items() if reported and each.heard_ms < each.made_ms]

    def due(self) -> list[PlaybackAck]:
        """One for each answer of which more was heard than the server knows."""
        return [self._told(answer) for answer in self._answers.values() if self._whole(answer) > max(answer.told_ms, 0)]

    def forget(self) -> None:
        """A fresh session knows none of the answers of the one before."""
        self._answers.clear()

    @staticmethod
    def _whole(answer: _Heard) -> int:
        return int(min(answer.heard_ms, answer.made_ms))

    def _told(self, answer: _Heard) -> PlaybackAck:
        answer.told_ms = self._whole(answer)
        return PlaybackAck(
            response_id=answer.id,
            item_id=f"item_{answer.id}",
            played_ms=answer.told_ms,
            committed_ms=answer.told_ms,
        )
