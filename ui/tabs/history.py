"""What a conversation holds: exchanges, and what happens when it grows too large."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace

from launch.errors import OmniError
from ui.turn.parts import Audio, Image, Message, Part, Text, Video

Media = Image | Audio | Video

# Bounds of one page's conversation. Exchanges: far beyond what an audience follows, and within the model's context when short; bytes: every
# question sends all of it again, and 32 MB of base64 is 4 s on a 100 Mbit tunnel.
MOST_EXCHANGES = 40
MOST_BYTES = 32 << 20


@dataclass(frozen=True)
class Exchange:
    """A question that was answered. ``dropped``: media it once had and is no longer sent with."""

    question: Message
    answer: str
    dropped: int = 0

    @property
    def media(self) -> tuple[Media, ...]:
        return tuple(part for part in self.question.parts if not isinstance(part, Text))

    def without_media(self) -> Exchange:
        """The same with its words only. A question that was nothing but media keeps a mark in their place: no message may be empty."""
        words = tuple(part for part in self.question.parts if isinstance(part, Text))
        question = replace(self.question, parts=words or (Text("…"),))
        return Exchange(question, self.answer, self.dropped + len(self.media))


@dataclass(frozen=True)
class History:
    """The exchanges so far, oldest first."""

    exchanges: tuple[Exchange, ...] = ()

    def messages(self) -> Iterator[Message]:
        """What is sent before the new question."""
        for exchange in self.exchanges:
            yield exchange.question
            yield Message("assistant", (Text(exchange.answer),))

    def count(self, kind: type[Part]) -> int:
        return sum(isinstance(part, kind) for exchange in self.exchanges for part in exchange.media)

    def then(self, question: Message, answer: str) -> History:
        """With one more exchange, within the bounds: the oldest exchanges go first, then the oldest media."""
        grown = History((*self.exchanges, Exchange(question, answer))[-MOST_EXCHANGES:])
        while grown._bytes() > MOST_BYTES and (lighter := grown.without_oldest_media()) is not grown:
            grown = lighter
        return grown

    def without_oldest_media(self) -> History:
        """Without the media of the oldest exchange that has any; the same object when none has."""
        for at, exchange in enumerate(self.exchanges):
            if exchange.media:
                return History((*self.exchanges[:at], exchange.without_media(), *self.exchanges[at + 1 :]))
        return self

    def fitting(self, error: OmniError) -> History:
        """What to send instead after the server's ``error`` named a limit.

        When it counts media (``limit``, ``sent``, ``kind_en``), the oldest go until the rest is within the limit; otherwise the prompt is
        too long, and the oldest media go, or when there are none the oldest exchange. The same object when nothing can go.
        """
        if error.key == "too-many-media":
            excess, kind = (
                int(str(error.facts["sent"])) - int(str(error.facts["limit"])),
                _KINDS[str(error.facts["kind_en"])],
            )
            fit = self
            while self.count(kind) - fit.count(kind) < excess and (lighter := fit.without_oldest_media()) is not fit:
                fit = lighter
            return fit
        lighter = self.without_oldest_media()
        return History(self.exchanges[1:]) if lighter is self and self.exchanges else lighter

    def _bytes(self) -> int:
        return sum(len(part.data) for exchange in self.exchanges for part in exchange.media)


_KINDS: dict[str, type[Part]] = {
    "images": Image,
    "sounds": Audio,
    "videos": Video,
}  # as ``ui/turn/refusals.py`` names them
