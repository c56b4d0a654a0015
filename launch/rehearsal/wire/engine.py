"""The engine behind the wire: a brain, whether it is loaded, and what it has done."""

from __future__ import annotations

import logging
import time
from collections.abc import Callable, Sequence
from contextlib import aclosing

from launch.rehearsal.brain.brain import Brain, Progress
from launch.rehearsal.wire.answer import Pieces, Words, answer
from launch.rehearsal.wire.dialect import DIALECTS
from launch.rehearsal.wire.errors import WireError
from launch.rehearsal.wire.faults import Faults, Scene, bent
from launch.rehearsal.wire.order import Order
from launch.rehearsal.wire.tally import Tally

log = logging.getLogger(__name__)


class Engine:
    def __init__(self, brain: Brain, wire: str, faults: Sequence[str], die: Callable[[], None]) -> None:
        self.brain = brain
        self.dialect = DIALECTS[wire]
        self.faults = Faults(faults)
        self.die = die
        self.tally = Tally()
        self.ready = False
        self.loading = "the models"
        self.since = int(time.time())

    async def load(self, progress: Progress) -> None:
        def watched(what: str, share: float) -> None:
            self.loading = what
            progress(what, share)

        await self.brain.load(watched)
        self.ready = True

    def require_ready(self) -> None:
        """The real server does not listen before its models are loaded; this one says what it waits for."""
        if not self.ready:
            raise WireError(503, f"The rehearsal engine is still loading {self.loading}.")

    def begin(self, order: Order) -> Pieces:
        """The answer to ``order``, bent by the faults of the day. Raises ``WireError`` or ``Dropped``."""
        faults = self.faults.draw(Scene(order, self.dialect, self.die))
        for fault in faults:
            fault.refuse()
        return self._counted(bent(answer(self.brain, order), faults), order)

    async def _counted(self, pieces: Pieces, order: Order) -> Pieces:
        tally, reason = self.tally, "abort"
        tally.running += 1
        tally.prompt_tokens += order.prompt_tokens
        try:
            async with aclosing(pieces):
                async for piece in pieces:
                    if isinstance(piece, Words):
                        tally.answer_tokens += piece.count
                    else:
                        tally.audio_frames += len(piece.pcm) // 2
                    yield piece
            reason = "stop"
        except WireError:
            reason = "error"
            raise
        finally:
            tally.running -= 1
            tally.finished[reason] += 1
