"""A listener whose ears are known sample by sample: plays answers as a page would and reports as a page does."""

from __future__ import annotations

from collections.abc import Callable, Sequence

import numpy as np

from ui.live.moments import SPEECH_RATE, Speech

MARK_S = 0.25


class Listener:
    """``truth``: what really came out of the loudspeaker, int16 at 24 kHz from time 0 on."""

    def __init__(self, seconds: float) -> None:
        self.truth = np.zeros(round(seconds * SPEECH_RATE), np.int16)
        self.marks: list[tuple[float, int, float]] = []

    def plays(
        self,
        response: int,
        sound: np.ndarray,
        start: float,
        *,
        stalls: Sequence[tuple[float, float]] = (),
        flushed: float | None = None,
    ) -> float:
        """``sound`` from ``start`` (seconds); ``stalls``: (second of the answer, length). ``flushed``: second of the
        answer after which nothing more is played. Marks every 250 ms and at the end; the time of the end."""
        end = len(sound) / SPEECH_RATE if flushed is None else flushed
        ends = start + end + sum(length for second, length in stalls if second < end)

        def position(time: float) -> float:
            at = time - start
            for second, length in stalls:
                at = min(at, max(second, at - length)) if at > second else at
            return min(at, end)

        begin, where = 0, start
        for second, length in [*(one for one in stalls if one[0] < end), (end, 0.0)]:
            last, first = round(second * SPEECH_RATE), round(where * SPEECH_RATE)
            self.truth[first : first + last - begin] = sound[begin:last]
            where += (last - begin) / SPEECH_RATE + length
            begin = last
        time = start + MARK_S
        while time < ends - 1e-9:
            self.marks.append((time, response, position(time) * 1000))
            time += MARK_S
        self.marks.append((ends, response, end * 1000))
        return ends


def noise(seconds: float, seed: int) -> np.ndarray:
    """int16 at 24 kHz, never 0: a sample that is missing or misplaced is seen."""
    samples = np.random.default_rng(seed).integers(1, 20_000, round(seconds * SPEECH_RATE))
    return samples.astype("<i2")


def speech(response: int, sound: np.ndarray, at: float, piece_s: float = 0.96) -> list[Speech]:
    """The answer's sound as the server sends it, all at once from ``at`` on."""
    step = round(piece_s * SPEECH_RATE)
    pieces = [sound[begin : begin + step] for begin in range(0, len(sound), step)]
    until = np.cumsum([len(piece) for piece in pieces]) * 1000 / SPEECH_RATE
    return [Speech(at, response, piece.tobytes(), float(end)) for piece, end in zip(pieces, until, strict=True)]


def in_order(*what: tuple[float, Callable[[], None]]) -> None:
    """Calls everything in the order of its time, as it would happen."""
    for _, call in sorted(what, key=lambda one: one[0]):
        call()
