"""Whisper's log-mel spectrogram in numpy (Radford et al. 2022, §2.2; its filters are Slaney's, as in librosa)."""

from __future__ import annotations

from functools import cache

import numpy as np

from launch.rehearsal.brain.sound import EAR_RATE

FFT, HOP, MELS = 400, 160, 80  # 25 ms windows every 10 ms, 80 bands: what the model was trained on
LINEAR_TO_HZ, STEP_HZ = 1000.0, 200 / 3  # Slaney's scale: linear up to 1 kHz, 66.7 Hz a mel,
LOG_STEP = np.log(6.4) / 27  # then logarithmic, 27 mels for a factor of 6.4
FLOOR = 1e-10  # of power, before the logarithm
RANGE = 8.0  # decades below the loudest that are kept


def _to_hz(mel: np.ndarray) -> np.ndarray:
    corner = LINEAR_TO_HZ / STEP_HZ
    return np.where(mel < corner, mel * STEP_HZ, LINEAR_TO_HZ * np.exp(LOG_STEP * (mel - corner)))


@cache
def filters() -> np.ndarray:
    """(80, 201) float32: triangles over the bins of the transform, each of area 2 / its width in Hz."""
    top = LINEAR_TO_HZ / STEP_HZ + np.log(EAR_RATE / 2 / LINEAR_TO_HZ) / LOG_STEP
    edges = _to_hz(np.linspace(0, top, MELS + 2))
    bins = np.fft.rfftfreq(FFT, 1 / EAR_RATE)
    left, middle, right = edges[:-2, None], edges[1:-1, None], edges[2:, None]
    triangles = np.minimum((bins - left) / (middle - left), (right - bins) / (right - middle))
    return (np.maximum(triangles, 0) * 2 / (right - left)).astype(np.float32)


def log_mel(wave: np.ndarray, seconds: float) -> np.ndarray:
    """(80, 100 * seconds) float32 of a wave at 16 kHz, cut or filled with silence to ``seconds``."""
    length = round(seconds * EAR_RATE)
    wave = np.pad(wave[:length], (0, max(0, length - wave.size))).astype(np.float32)
    padded = np.pad(wave, FFT // 2, mode="reflect")
    frames = np.lib.stride_tricks.sliding_window_view(padded, FFT)[::HOP][:-1]
    window = np.hanning(FFT + 1)[:-1].astype(np.float32)  # periodic
    power = np.abs(np.fft.rfft(frames * window, axis=1)) ** 2
    levels = np.log10(np.maximum(filters() @ power.T, FLOOR))
    return np.ascontiguousarray((np.maximum(levels, levels.max() - RANGE) + 4) / 4, dtype=np.float32)
