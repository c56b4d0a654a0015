"""The sound of chosen seconds of a clip, each in its place on the presentation's clock."""

from __future__ import annotations

from collections.abc import Collection

import numpy as np

from ui.media.sound import RATE, Block


class Track:
    """Takes blocks of 16 kHz sound in any order and keeps what falls into ``seconds``; what never comes stays silent."""

    def __init__(self, seconds: Collection[int], origin: float) -> None:
        self._origin = origin
        self._seconds = {second: np.zeros(RATE, np.float32) for second in seconds}
        self._next = 0  # where a block without a time stamp belongs
        self.samples = 0

    def put(self, block: Block) -> None:
        at = self._next if block.start is None else round((block.start - self._origin) * RATE)
        self._next = at + len(block.samples)
        self.samples += len(block.samples)
        for second in range(at // RATE, -(-self._next // RATE)):
            if (target := self._seconds.get(second)) is None:
                continue
            start, end = max(at, second * RATE), min(self._next, (second + 1) * RATE)
            target[start - second * RATE : end - second * RATE] = block.samples[start - at : end - at]

    def joined(self) -> np.ndarray:
        """All kept seconds end to end, in order."""
        return np.concatenate([self._seconds[second] for second in sorted(self._seconds)])
