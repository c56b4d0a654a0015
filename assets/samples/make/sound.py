"""Waves of the samples: float32 mono at 24 kHz, -1..1. Tones, clicks, pauses, and writing them down."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import soundfile

RATE = 24_000  # the rate both voices are brought to, and the one the real model speaks
EDGE_S = 0.01  # fades of a tone: shorter ones click
PEAK = 0.7  # of full scale: speech at a level people record at, well clear of clipping


def pause(seconds: float) -> np.ndarray:
    return np.zeros(round(seconds * RATE), np.float32)


def tone(hertz: float, seconds: float, level: float = 0.3) -> np.ndarray:
    """A sine with soft edges."""
    wave = level * np.sin(2 * np.pi * hertz * np.arange(round(seconds * RATE)) / RATE)
    edge = np.linspace(0, 1, round(EDGE_S * RATE))
    wave[: edge.size] *= edge
    wave[-edge.size :] *= edge[::-1]
    return wave.astype(np.float32)


def knock(level: float = 0.6) -> np.ndarray:
    """Wood on wood: a low tone and a little noise, gone within a fifth of a second."""
    time = np.arange(round(0.2 * RATE)) / RATE
    noise = np.random.default_rng(7).uniform(-1, 1, time.size)  # a fixed seed: the file stays the same
    return (level * np.exp(-time * 28) * (0.8 * np.sin(2 * np.pi * 170 * time) + 0.2 * noise)).astype(np.float32)


def levelled(wave: np.ndarray) -> np.ndarray:
    """The wave with its loudest sample at ``PEAK``."""
    return wave * (PEAK / np.abs(wave).max())


def placed(length_s: float, *sounds: tuple[float, np.ndarray]) -> np.ndarray:
    """A track of ``length_s`` s, each sound added at its second. Raises ``ValueError`` when one is too long."""
    track = pause(length_s)
    for start, wave in sounds:
        first = round(start * RATE)
        if first + wave.size > track.size:
            raise ValueError(f"a sound ends at {start + wave.size / RATE:.2f} s, the track at {length_s} s")
        track[first : first + wave.size] += wave
    return track


def save(wave: np.ndarray, path: Path, rate: int = RATE) -> None:
    """As 16-bit FLAC or WAV, by the name's ending."""
    soundfile.write(path, wave, rate, subtype="PCM_16")
