"""What a terminal is told of a live conversation, in one language."""

from __future__ import annotations

from typing import TextIO

from launch.errors import OmniError
from launch.faults import explain
from ui.live.moments import (
    Back,
    Caption,
    Closed,
    HeardYou,
    Interrupted,
    Latency,
    Listening,
    Lost,
    Moment,
    Noticed,
    Opened,
    Speaking,
    Spoken,
    Waiting,
)
from ui.media.prepared import Notice
from ui.texts import texts
from ui.turn.parts import Language


class Console:
    """Lines as things happen; an answer's words as they come, on the line of the answer. Sentences stand in
    ``assets/texts/talk.{zh,en}.yaml``."""

    def __init__(self, language: Language, stream: TextIO) -> None:
        self.language: Language = language
        self._stream = stream
        self._listening = False
        self._open_line = False
        self._latency: dict[int, Latency] = {}

    def say(self, key: str, **facts: object) -> None:
        """The sentence ``talk.<key>`` on a line of its own."""
        self._end_line()
        print(texts()(f"talk.{key}", self.language, **facts), file=self._stream, flush=True)

    def fault(self, error: OmniError) -> None:
        """Cause and cure of something that went wrong."""
        why = explain(error, self.language)
        self._end_line()
        print(why.cause, why.cure, file=self._stream, flush=True)

    def notice(self, notice: Notice) -> None:
        """What was noticed about a file."""
        why = notice.told(self.language)
        self._end_line()
        print(" ", f"{why.cause} {why.cure}".strip(), file=self._stream, flush=True)

    def moment(self, moment: Moment) -> None:
        """Something happened in the session."""
        if not isinstance(moment, Listening | Latency):
            self._listening = False
        match moment:
            case Opened():
                self.say("opened", wire=moment.wire)
            case Waiting():
                self.say("waiting", attempt=moment.attempt, seconds=f"{moment.retry_s:.0f}")
            case HeardYou(speaking=True):
                self._state(moment.at, "hears")
            case Listening() if not self._listening:
                self._listening = True
                self._state(moment.at, "listening")
            case Speaking():
                self._state(moment.at, "speaking")
            case Caption():
                self._words(moment)
            case Latency():
                self._latency[moment.response] = moment
            case Interrupted():
                self.say(f"interrupted.{moment.by}")
            case Spoken():
                self._spoken(moment)
            case Lost():
                self._state(moment.at, "lost")
            case Back():
                self.say("back" if moment.resumed else "fresh", seconds=f"{moment.gap_s:.1f}")
            case Noticed():
                self.fault(moment.notice)
            case Closed(error=OmniError() as error):
                self.fault(error)

    def _state(self, at: float, key: str) -> None:
        self.say("state", at=f"{at:6.1f}", what=texts()(f"talk.{key}", self.language))

    def _words(self, caption: Caption) -> None:
        if not self._open_line:
            print(" " * 10, end="", file=self._stream)
            self._open_line = True
        inert = "".join(letter if letter.isprintable() else " " for letter in caption.text)  # no escape sequences
        print(inert, end="", file=self._stream, flush=True)

    def _spoken(self, spoken: Spoken) -> None:
        if spoken.status != "completed":
            self.say(f"spoken.{spoken.status}", reason=spoken.reason or "—")
        if (latency := self._latency.pop(spoken.response, None)) is not None:
            since = texts()(f"talk.since.{latency.since}", self.language)
            self.say("latency", ttft=_ms(latency.ttft_ms), ttfp=_ms(latency.ttfp_ms), since=since)

    def _end_line(self) -> None:
        if self._open_line:
            print(file=self._stream)
            self._open_line = False


def _ms(value: float | None) -> str:
    return "—" if value is None else f"{value:.0f} ms"
