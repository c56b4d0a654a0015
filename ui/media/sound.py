"""Decoded sound of any kind → one channel at 16 kHz, and the WAV file that is sent."""

from __future__ import annotations

import wave
from collections.abc import Iterator
from dataclasses import dataclass
from io import BytesIO

import numpy as np
from av import AudioCodecContext, AudioFrame, AudioResampler
from av.error import FFmpegError

from ui.media.prepared import Notice
from ui.turn.parts import Audio

RATE = 16_000  # what the model hears
BLOCK = 24_000  # samples resampled at a time, half a second at 48 kHz: a call a block, not a call a packet
LOWEST, HIGHEST = (
    4_000,
    768_000,
)  # rates of real recordings; a resampler's filter grows with the ratio, so a wild rate is a bomb
GAP_SECONDS = 0.1  # time stamps wander by some ms in every container; a tenth of a second is a hole, or an overlap
FULL_SCALE = {"u1": 2.0**7, "i2": 2.0**15, "i4": 2.0**31, "f4": 1.0, "f8": 1.0}
WILD = 100.0  # times full scale: 40 dB over is a broken sample, and its square must stay finite
OPPOSED = 0.03  # energy left of the channels by averaging them, below which they cancel (-15 dB; equal channels keep 1, unrelated ½)
SILENCE = 1e-3  # of full scale, -60 dB: what is not above it all along is not a recording of anything

MIN_SECONDS = 0.1
"""The shortest sound sent. 100 ms are 10 spectral frames, 5 after the encoder's stride, and one token after its pooling by 5:
(10-1)//2+1 = 5, (5-5)//5+1 = 1. Less makes none, and servers fall over it (vllm#11512)."""


def hearable(sound: AudioFrame | AudioCodecContext) -> bool:
    """Whether its rate is one of a recording."""
    return LOWEST <= (sound.sample_rate or 0) <= HIGHEST


@dataclass
class Heard:
    """What was noticed while decoding one track; filled in by ``Mono16k``."""

    broken_samples: int = 0
    apart_energy: float = 0.0  # sum over all samples of the channels' mean square
    mixed_energy: float = 0.0  # the same of the channels' mean
    samples: int = 0

    def notices(self, peak: float) -> tuple[Notice, ...]:
        """``peak``: of the finished mono sound, before any scaling; full scale is 1."""
        found = []
        if self.broken_samples:
            found.append(Notice("media-note-broken-samples", {"count": self.broken_samples}))
        if self.mixed_energy < OPPOSED * self.apart_energy and self.apart_energy > SILENCE**2 * self.samples:
            found.append(Notice("media-note-opposed-channels"))
        elif peak < SILENCE:
            found.append(Notice("media-note-silent"))
        if peak > 1:
            found.append(Notice("media-note-too-loud"))
        return tuple(found)


@dataclass(frozen=True)
class Block:
    """``samples``: float32 mono at 16 kHz; ``start``: seconds on the file's own clock (``None`` when the file keeps none)."""

    start: float | None
    samples: np.ndarray


class Mono16k:
    """Decoded frames in, mono 16 kHz out: the plain mean of all channels, not-a-numbers silenced, low-passed and resampled.

    A hole in the time stamps, or a change of rate or channels, starts afresh at the new time: nothing is stretched over it.
    """

    def __init__(self) -> None:
        self.heard = Heard()
        self._run: _Run | None = None

    def feed(self, frame: AudioFrame) -> Iterator[Block]:
        if not hearable(frame):  # the track began as something else
            return
        if self._run is not None and not self._run.continued_by(frame):
            yield from self.finish()
        if self._run is None:
            self._run = _Run(frame, self.heard)
        yield from self._run.add(frame)

    def finish(self) -> Iterator[Block]:
        """What is still inside; to be called once after the last frame."""
        run, self._run = self._run, None
        if run is not None:
            yield from run.finish()


class _Run:
    """One unbroken stretch of sound of one rate, sample format and number of channels."""

    def __init__(self, first: AudioFrame, heard: Heard) -> None:
        self._form = _form(first)
        self._rate, self._channels, self._planar = first.sample_rate, first.layout.nb_channels, first.format.is_planar
        self._packer = None
        if _unreadable(first):
            self._packer, self._planar = AudioResampler(format="dbl"), False
        self._start = first.time
        self._heard = heard
        self._taken = 0  # samples at the file's rate
        self._given = 0  # samples at 16 kHz
        self._waiting: list[np.ndarray] = []
        self._waiting_samples = 0
        self._resampler = AudioResampler(format="flt", layout="mono", rate=RATE)

    def continued_by(self, frame: AudioFrame) -> bool:
        if _form(frame) != self._form:
            return False
        if frame.time is None or self._start is None:
            return True
        return abs(frame.time - (self._start + self._taken / self._rate)) < GAP_SECONDS

    def add(self, frame: AudioFrame) -> Iterator[Block]:
        try:
            packed = self._packer.resample(frame) if self._packer else [frame]
        except FFmpegError:  # channels laid out as no recording has them
            return
        self._waiting += [ready.to_ndarray() for ready in packed]
        self._waiting_samples += sum(ready.samples for ready in packed)
        self._taken += frame.samples
        if self._waiting_samples >= BLOCK:
            yield from self._flush()

    def finish(self) -> Iterator[Block]:
        if self._waiting_samples:
            yield from self._flush()
        yield from self._blocks(self._resampler.resample(None))

    def _flush(self) -> Iterator[Block]:
        raw = np.concatenate(self._waiting, axis=1)
        self._waiting.clear()
        self._waiting_samples = 0
        if not self._planar:
            raw = raw.reshape(-1, self._channels).T
        frame = AudioFrame.from_ndarray(_mean(raw, self._heard)[np.newaxis], format="flt", layout="mono")
        frame.sample_rate = self._rate
        yield from self._blocks(self._resampler.resample(frame))

    def _blocks(self, frames: list[AudioFrame]) -> Iterator[Block]:
        for frame in frames:
            samples = frame.to_ndarray()[0]
            start = None if self._start is None else self._start + self._given / RATE
            self._given += len(samples)
            yield Block(start, samples)


def _form(frame: AudioFrame) -> tuple[int, str, str]:
    return frame.sample_rate, frame.format.name, frame.layout.name


def _unreadable(frame: AudioFrame) -> bool:
    """Frames that libav must pack first. PyAV 18 knows no 64-bit integers, and of planar sound it looks for the end of a list of
    channels that has none from eight on: it reads whatever lies behind, and the process crashes."""
    return frame.format.name.startswith("s64") or (frame.format.is_planar and frame.layout.nb_channels >= 8)


def _mean(raw: np.ndarray, heard: Heard) -> np.ndarray:
    """The mean of all channels, float32 (n,) of full scale 1, of ``raw``: (channels, n) in the file's own sample type."""
    channels = raw.astype(np.float32) / FULL_SCALE[raw.dtype.str[1:]]
    if raw.dtype.kind == "u":
        channels -= 1.0  # 8-bit sound rests at 128
    elif raw.dtype.kind == "f":
        sound = np.abs(channels) < WILD  # false for not-a-number, too
        heard.broken_samples += channels.size - int(np.count_nonzero(sound))
        channels = np.where(sound, channels, np.float32(0))
    mono = channels.mean(axis=0, dtype=np.float32)
    heard.apart_energy += float(np.square(channels).mean(axis=0).sum())
    heard.mixed_energy += float(np.square(mono).sum())
    heard.samples += mono.size
    return mono


def levelled(samples: np.ndarray) -> np.ndarray:
    """Full scale or less: sound that goes over it at length is turned down as a whole, stray peaks are clipped, nothing wraps."""
    if not len(samples) or float(np.max(np.abs(samples))) <= 1:
        return samples
    # 1 sample in 1000 over full scale is a click; more is a recording made too hot, which clipping would distort
    loud = float(np.quantile(np.abs(samples), 0.999))
    return np.clip(samples / max(loud, 1.0), -1, 1)


def wav(samples: np.ndarray) -> Audio:
    """``samples`` (float mono at 16 kHz, full scale 1) as a 16-bit WAV part, lengthened with silence to ``MIN_SECONDS``."""
    padding = max(0, round(MIN_SECONDS * RATE) - len(samples))
    pcm = np.clip(np.round(samples * 32768.0), -32768, 32767).astype("<i2")
    pcm = np.pad(pcm, (0, padding))
    file = BytesIO()
    with wave.open(file, "wb") as out:
        out.setnchannels(1)
        out.setsampwidth(2)
        out.setframerate(RATE)
        out.writeframes(pcm.tobytes())
    return Audio(file.getvalue(), len(pcm) / RATE)
