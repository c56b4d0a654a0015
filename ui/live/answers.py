"""The answers of a session: the server's events of them become moments, and each is watched to its end."""

from __future__ import annotations

import base64
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Literal

from ui.live.acknowledgements import Acknowledgements
from ui.live.events import AudioDelta, ResponseDone, ResponseListen, TranscriptDelta
from ui.live.moments import (
    SPEECH_RATE,
    Caption,
    Interrupted,
    Latency,
    Listening,
    Moment,
    Speaking,
    Speech,
    Spoken,
    SpokenStatus,
)

_BYTES_PER_MS = SPEECH_RATE * 2 / 1000
_OURS = ("stop", "voice")
_YIELDS = ("turn_detected", "barge_in")
"""Why a server stops an answer because the user has the word. Any other end leaves valid what was sent of it."""
_STATUS: dict[str, SpokenStatus] = {"completed": "completed", "cancelled": "cancelled"}

Since = Literal["user-stopped", "last-listen", "session-opened"]
By = Literal["stop", "voice", "model", "lost"]


@dataclass
class _Answer:
    number: int
    id: str
    begun_at: float
    origin: tuple[Since, float] | None
    """From where its latency counts; None: nothing that we know of came between it and the answer before."""
    ms: float = 0.0
    words: list[str] = field(default_factory=list)
    first_word_at: float | None = None
    first_sound_at: float | None = None
    measured: bool = False
    by: By | None = None
    """Who interrupted it."""
    cancelled_at: float | None = None
    """When we asked the server to end it."""
    done: bool = False


class Answers:
    """``tell`` takes the moments, ``now`` is the session's time, ``user_stopped`` the time at which the user last
    stopped talking, None while they talk or before they did."""

    def __init__(
        self,
        tell: Callable[[Moment], None],
        now: Callable[[], float],
        acknowledgements: Acknowledgements,
        user_stopped: Callable[[], float | None],
    ) -> None:
        self._tell = tell
        self._now = now
        self._acks = acknowledgements
        self._user_stopped = user_stopped
        self._by_id: dict[str, _Answer] = {}
        self._last: _Answer | None = None
        self._listened_at: float | None = None
        self._opened_at = 0.0
        self._count = 0
        self._first = True

    @property
    def active(self) -> str | None:
        """The server's id of the answer that is being made."""
        return self._last.id if self._last and not self._last.done else None

    def opened(self) -> None:
        """A session that has said nothing yet."""
        self._opened_at = self._now()
        self._listened_at = None
        self._first = True

    def created(self, id: str) -> None:
        if self._last and not self._last.done:  # never seen; an answer must not stay open for ever
            self._end(self._last, "failed", "overtaken")
        self._count += 1
        answer = _Answer(self._count, id, self._now(), self._origin())
        self._first = False
        self._by_id = {id: answer}
        self._last = answer
        self._acks.begun(answer.number, id)
        self._tell(Speaking(answer.begun_at, answer.number, id))

    def sound(self, event: AudioDelta) -> None:
        if (answer := self._by_id.get(event.response_id)) is None or answer.done:
            return
        try:
            pcm = base64.b64decode(event.delta, validate=True)
        except ValueError:
            pcm = b""
        pcm = pcm[: len(pcm) // 2 * 2]
        answer.ms = max(answer.ms + len(pcm) / _BYTES_PER_MS, event.metadata.audio_duration_ms or 0.0)
        self._acks.made(answer.number, answer.ms)
        if not pcm or answer.by in _OURS:
            return
        if answer.first_sound_at is None:
            answer.first_sound_at = self._now()
        self._tell(Speech(self._now(), answer.number, pcm, answer.ms))
        self._measure(answer)

    def words(self, event: TranscriptDelta) -> None:
        answer = self._by_id.get(event.response_id)
        if answer is None or answer.done or not event.delta or answer.by in _OURS:
            return
        if answer.first_word_at is None:
            answer.first_word_at = self._now()
        answer.words.append(event.delta)
        self._tell(Caption(self._now(), answer.number, event.delta, answer.ms))
        self._measure(answer)

    def listened(self, event: ResponseListen) -> None:
        """A listen while an answer is being made is the model's yield."""
        if self.active:
            self.yielded()
        self._listened_at = self._now()
        self._tell(Listening(self._now(), event.why))

    def yielded(self) -> None:
        """The server stopped an answer by itself; unless we had asked for that."""
        if self._last and not self._last.done and self._last.cancelled_at is None:
            self._interrupted(self._last, "model")

    def interrupt(self, by: Literal["stop", "voice"]) -> str | None:
        """What is being said, or waits to be heard, is unwanted. Returns the server's id of the answer that is still
        being made."""
        if (answer := self._last) is None or answer.by is not None:
            return None
        for number in self._acks.unheard():
            if number < answer.number:
                self._tell(Interrupted(self._now(), number, by))
        self._interrupted(answer, by)
        return None if answer.done else self._cancel(answer)

    def overdue(self, after_s: float) -> str | None:
        """The id of an answer that has been going on for too long; asked for once."""
        answer = self._last
        if answer is None or answer.done or answer.cancelled_at is not None or self._now() - answer.begun_at < after_s:
            return None
        return self._cancel(answer)

    def cancelling(self) -> str | None:
        """The id of an answer whose cancel may have been lost with a socket: it must be said again."""
        answer = self._last
        return self._cancel(answer) if answer and not answer.done and answer.cancelled_at is not None else None

    def abandon(self, after_s: float) -> None:
        """An answer that the server does not end although we asked has ended for us."""
        answer = self._last
        if answer is None or answer.done or answer.cancelled_at is None:
            return
        if self._now() - answer.cancelled_at >= after_s:
            self._end(answer, "cancelled", "unconfirmed")

    def _cancel(self, answer: _Answer) -> str:
        answer.cancelled_at = self._now()
        return answer.id

    def done(self, event: ResponseDone) -> None:
        id, status, reason = event.ended
        if (answer := self._by_id.get(id)) is None or answer.done:
            return
        if status == "cancelled" and reason in _YIELDS:
            self.yielded()
        self._end(answer, _STATUS.get(status, "failed"), reason)

    def end(self, reason: str, *, status: SpokenStatus = "failed", flush: bool = False) -> None:
        """No more will come of an answer that is being made. ``flush``: what waits of it must not be heard."""
        if self._last and not self._last.done:
            if flush:
                self._interrupted(self._last, "lost")
            self._end(self._last, status, reason)

    def _interrupted(self, answer: _Answer, by: By) -> None:
        if answer.by is None:
            answer.by = by
            self._tell(Interrupted(self._now(), answer.number, by))

    def _end(self, answer: _Answer, status: SpokenStatus, reason: str) -> None:
        answer.done = True
        self._measure(answer, last=True)
        self._tell(Spoken(self._now(), answer.number, status, reason, "".join(answer.words), answer.ms))

    def _origin(self) -> tuple[Since, float] | None:
        """From where this answer's latency counts: the newest of what we know since the answer before. Counted from the
        session's beginning, a later answer's would be a number without a meaning."""
        after = self._last.begun_at if self._last and not self._first else self._opened_at
        stopped = self._user_stopped()
        if stopped is not None and stopped >= after:
            return "user-stopped", stopped
        if self._listened_at is not None and self._listened_at >= after:
            return "last-listen", self._listened_at
        return ("session-opened", self._opened_at) if self._first else None

    def _measure(self, answer: _Answer, *, last: bool = False) -> None:
        both = answer.first_word_at is not None and answer.first_sound_at is not None
        if answer.measured or not (both or (last and (answer.first_word_at or answer.first_sound_at))):
            return
        answer.measured = True
        if answer.origin is None:
            return
        since, since_at = answer.origin

        def after(at: float | None) -> float | None:
            return None if at is None else (at - since_at) * 1000

        self._tell(
            Latency(self._now(), answer.number, since, after(answer.first_word_at), after(answer.first_sound_at))
        )
