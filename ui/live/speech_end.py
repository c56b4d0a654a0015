"""When the user last stopped talking, by the energy of the microphone: where latency is measured from.

Rule: a piece of 200 ms is speech when its RMS is at least -40 dBFS and 10 dB over the quietest piece of the last 5 s, as
far as that one is believed to be the room: up to -40 dBFS, so that a recording that begins in a word is measured too.
Speech has ended when two pieces in a row are none; its end is the end of its last piece. Only a measure: nothing is cut,
sent or interrupted by it.
"""

from __future__ import annotations

from collections import deque

import numpy as np

_FLOOR = 0.01  # of full scale, -40 dBFS: a quiet room with the browser's gain control lies 10 to 20 dB under it
_OVER = 3.16  # 10 dB: speech in a room stands 15 dB and more over its noise, hum and fans do not vary so much
_ROOM = 25  # pieces, 5 s: nobody talks for so long without one piece of breath
_PAUSE = 2  # pieces, 400 ms: longer than the gap inside a word, shorter than the model's decision


class SpeechEnd:
    """``ended_at``: clock time of the last end of speech; None before any, and while the user talks."""

    def __init__(self) -> None:
        self.ended_at: float | None = None
        self._last = 0.0
        self._talking = False
        self._quiet = 0
        self._room: deque[float] = deque(maxlen=_ROOM)

    def hear(self, pcm: bytes, now: float) -> None:
        """One piece, which ended at ``now``."""
        samples = np.frombuffer(pcm, dtype="<i2").astype(np.float32)
        rms = float(np.sqrt(np.mean(samples * samples))) / 32_768
        room = min(self._room, default=0.0)
        self._room.append(rms)
        if rms >= max(_FLOOR, _OVER * min(room, _FLOOR)):
            self._talking, self._quiet, self._last, self.ended_at = True, 0, now, None
        elif self._talking:
            self._quiet += 1
            if self._quiet >= _PAUSE:
                self._talking, self.ended_at = False, self._last
