"""One answer: thought and spoken by the brain ahead of time, taken a second at a time."""

from __future__ import annotations

import asyncio
import logging
import re
from collections.abc import AsyncGenerator, AsyncIterator, Sequence
from contextlib import aclosing
from dataclasses import dataclass
from typing import cast

from launch.rehearsal.brain.brain import SAMPLE_RATE, Brain, Said, Sampling
from launch.rehearsal.brain.clauses import clauses

SECOND = 2 * SAMPLE_RATE  # bytes
AHEAD = 4  # slices made before they are taken: the brain may be busy with others for a while
_HAN = "\\u3400-\\u9fff\\u3040-\\u30ff"
_WORD = re.compile(
    rf"\s*(?:[{_HAN}]|[^\s{_HAN}]+)\s*"
)  # a character of Chinese, or a word of anything else; joined: the text

log = logging.getLogger(__name__)


@dataclass(frozen=True)
class Slice:
    """At most a second of an answer, and the words that begin in it. ``last``: nothing comes after it."""

    text: str
    pcm: bytes
    last: bool


class Answer:
    """Begins at once; ``cancel`` ends the brain's work. ``speech`` False: words only."""

    def __init__(self, brain: Brain, conversation: Sequence[Said], *, speech: bool, endless: bool = False) -> None:
        self._slices: asyncio.Queue[Slice | None] = asyncio.Queue(AHEAD)
        self._making = asyncio.create_task(self._make(brain, conversation, speech, endless), name="answer")
        self.failed = False

    async def next(self) -> Slice | None:
        """The next slice; ``None`` when there is none, or no more after a cancel."""
        if self._making.done() and self._slices.empty():
            return None
        return await self._slices.get()

    async def cancel(self) -> None:
        """Ends the work and waits for it; whoever waits in ``next`` gets ``None``."""
        self._making.cancel()
        await asyncio.wait([self._making])
        while not self._slices.empty():
            self._slices.get_nowait()
        self._slices.put_nowait(None)

    async def _make(self, brain: Brain, conversation: Sequence[Said], speech: bool, endless: bool) -> None:
        try:
            text = ""
            thoughts = cast(AsyncGenerator, brain.think(conversation, Sampling(), spoken=speech))
            async with aclosing(thoughts):
                async for token in thoughts:
                    text += token.text
            waiting: Slice | None = None
            while True:
                async with aclosing(cast(AsyncGenerator[Slice, None], _slices(brain, text, speech))) as slices:
                    async for piece in slices:
                        if waiting is not None:
                            await self._slices.put(waiting)
                        waiting = piece
                if not endless or not text.strip():
                    break
            await self._slices.put(None if waiting is None else Slice(waiting.text, waiting.pcm, last=True))
        except Exception:  # the one seam to the models: whatever they raise ends this answer and not the session
            log.exception("The brain failed.")
            self.failed = True
            await self._slices.put(None)


async def _slices(brain: Brain, text: str, speech: bool) -> AsyncIterator[Slice]:
    """The brain speaks a breath at a time, and a breath is a clause: its words are laid along its sound. A brain whose
    breaths are shorter says the words with the first of them, as the real server does."""
    said = [clause.text for clause in clauses(text)]
    if speech:
        speaking = cast(AsyncGenerator[bytes, None], brain.speak(text))
        async with aclosing(speaking):
            async for pcm in speaking:
                words = _WORD.findall(said.pop(0)) if said else []
                count = max(1, -(-len(pcm) // SECOND))
                for number in range(count):
                    some = words[len(words) * number // count : len(words) * (number + 1) // count]
                    yield Slice("".join(some), pcm[number * SECOND : (number + 1) * SECOND], last=False)
    if said:
        yield Slice("".join(said), b"", last=False)
