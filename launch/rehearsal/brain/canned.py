"""A brain without weights: a given text and a tone, with the timings it is told to keep. For unit tests and load tests.

The tone changes its pitch every second (``tone_hz``), so whoever hears a piece knows which second of the answer it is.
"""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Sequence

import numpy as np

from launch.rehearsal.brain.brain import SAMPLE_RATE, Progress, Said, Sampling, Token
from launch.rehearsal.brain.loudness import LoudnessDetector
from launch.rehearsal.brain.tokens import tokens

PITCHES = 40  # seconds until the pitches start over: longer than any spoken answer of a test
LOWEST_HZ, STEP_HZ = 200, 50  # whole numbers, so every second starts and ends on a crest and no step clicks
LEVEL = 0.3  # of full scale: clearly audible, far from clipping
SECONDS_PER_TOKEN = 0.3  # about the pace of speech: a word, or a Chinese character with its share of the pauses
PIECE_S = (0.1, 1.0)  # shortest and longest piece; the real server sends about a second a chunk (protocol §2.5)


def tone_hz(second: int) -> int:
    """Pitch of the tone in the given second of an answer."""
    return LOWEST_HZ + STEP_HZ * (second % PITCHES)


def tone(start: float, seconds: float) -> bytes:
    """``seconds`` of the tone from second ``start`` of an answer: s16le mono PCM at ``SAMPLE_RATE``."""
    first = round(start * SAMPLE_RATE)
    at = np.arange(first, first + round(seconds * SAMPLE_RATE))
    hz = LOWEST_HZ + STEP_HZ * (at // SAMPLE_RATE % PITCHES)
    wave = LEVEL * np.cos(2 * np.pi * hz * at / SAMPLE_RATE)
    return (wave * 32767).astype("<i2").tobytes()


def counted(count: int) -> str:
    """A sentence of exactly ``count`` tokens: "1 2 3 … n"."""
    return " ".join(str(number) for number in range(1, count + 1))


class CannedBrain:
    """Says ``text`` and plays a tone, whatever it is asked; nothing is loaded.

    ``audio_s``: length of the tone; ``None``: as long as the spoken text would take. ``first_token_s``, ``token_s``:
    seconds before the first and before each later token. ``first_audio_s``: seconds before the first piece; ``rtf``:
    seconds of waiting for each second of later sound. ``piece_s``: length of a piece (0.1 to 1 s). Turns do not wait
    for each other, as on a server that batches.
    """

    def __init__(
        self,
        text: str = counted(10),
        *,
        audio_s: float | None = None,
        first_token_s: float = 0.0,
        token_s: float = 0.0,
        first_audio_s: float = 0.0,
        rtf: float = 0.0,
        piece_s: float = PIECE_S[1],
    ) -> None:
        if not PIECE_S[0] <= piece_s <= PIECE_S[1]:
            raise ValueError(f"piece_s is {piece_s}; it must be between {PIECE_S[0]} and {PIECE_S[1]}")
        self.text = text
        self.audio_s = audio_s
        self.first_token_s, self.token_s = first_token_s, token_s
        self.first_audio_s, self.rtf, self.piece_s = first_audio_s, rtf, piece_s

    async def load(self, progress: Progress) -> None:
        progress("canned", 1.0)

    async def think(self, conversation: Sequence[Said], sampling: Sampling, *, spoken: bool) -> AsyncIterator[Token]:
        """The text, token by token, at most ``sampling.max_tokens`` of them."""
        wait = self.first_token_s
        for piece in tokens(self.text)[: sampling.max_tokens]:
            await asyncio.sleep(wait)
            wait = self.token_s
            yield Token(piece)

    async def speak(self, text: str) -> AsyncIterator[bytes]:
        """The tone for ``text``; no sound for an empty text unless ``audio_s`` was given."""
        left = len(tokens(text)) * SECONDS_PER_TOKEN if self.audio_s is None else self.audio_s
        start, wait = 0.0, self.first_audio_s
        while left > start + 1e-9:  # a rounding remainder is no piece
            seconds = min(self.piece_s, left - start)
            await asyncio.sleep(wait)
            yield tone(start, seconds)
            start += seconds
            wait = min(self.piece_s, left - start) * self.rtf

    def detector(self) -> LoudnessDetector:
        return LoudnessDetector()

    async def close(self) -> None:
        """Nothing to release."""
