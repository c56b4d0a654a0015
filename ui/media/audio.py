"""A sound of any kind → WAV parts of at most 30 s, 16 kHz, one channel."""

from __future__ import annotations

from collections.abc import Iterator
from math import ceil
from pathlib import Path

import numpy as np
from av import AudioFrame
from av.audio.stream import AudioStream
from av.container import InputContainer

from launch.errors import MediaError
from ui.media.container import Budget, decoded, opened, packets, picture_stream, sound_stream
from ui.media.prepared import Notice, Prepared, shown_name
from ui.media.signature import signature
from ui.media.sound import RATE, Block, Mono16k, levelled, wav

PART_SECONDS = 30  # MiniCPM-o answers 400 to anything longer: one Whisper window
AIM_SECONDS = 29  # parts are planned a second shorter, so that each cut may move half a second to a pause
MAX_SECONDS = 30 * 60  # 62 parts of the 64 sounds a prompt may hold; at 10 tokens a second 18k of 40k of context
PAUSE_SECONDS = 0.05  # a cut falls into the quietest stretch of this length: shorter than a syllable


def prepare(path: Path, name: str | None = None) -> Prepared:
    """The sound in ``path`` (a sound file, or the sound track of a video). Blocking: call it through ``asyncio.to_thread``.

    One ``Audio`` part up to 30 s; longer sound in parts of about equal length (31 s gives two of 15.5 s, not 30 + 1: a stump of one
    second has no context), cut where it is quietest. At most 30 minutes, with a notice. ``name`` is only ever shown.

    Raises ``MediaError``: media-gone, media-empty-file, media-file-too-large, media-unsupported-format, media-truncated,
    media-no-audio-stream, media-empty-audio, media-too-slow.
    """
    if (seen := signature(path)).kind == "image":
        raise MediaError("media-no-audio-stream", seen=seen.name)
    with opened(path) as container:
        stream = sound_stream(container)
        if stream is None:
            raise _no_sound(container)
        promised = container.duration / 1e6 if container.duration else 0.0
        mono = Mono16k()
        samples = _first(MAX_SECONDS * RATE, _blocks(mono, _frames(container, stream, Budget())))
    if not len(samples):
        raise MediaError("media-empty-audio")
    notices = list(mono.heard.notices(float(np.max(np.abs(samples)))))
    duration = len(samples) / RATE
    if duration == MAX_SECONDS and promised > duration + 1:
        notices.append(Notice("media-note-sound-cut", {"minutes": MAX_SECONDS // 60, "total": round(promised / 60)}))
        duration = promised
    samples = levelled(samples)
    parts = tuple(wav(samples[start:end]) for start, end in cuts(samples))
    if len(parts) > 1:
        notices.append(Notice("media-note-sound-parts", {"parts": len(parts)}))
    return Prepared("audio", parts, shown_name(path, name), duration_s=duration, has_audio=True, notices=tuple(notices))


def _no_sound(container: InputContainer) -> MediaError:
    if container.streams.audio:
        return MediaError("media-unsupported-format", seen=f"{container.format.name}, ?")
    return MediaError("media-no-audio-stream" if picture_stream(container) else "media-empty-audio")


def _frames(container: InputContainer, stream: AudioStream, budget: Budget) -> Iterator[AudioFrame]:
    """Decoded frames of one track. Packets that cannot be decoded are passed over: what is sound around them is heard."""
    for packet in packets(container, [stream], budget):
        yield from decoded(packet)


def _blocks(mono: Mono16k, frames: Iterator[AudioFrame]) -> Iterator[Block]:
    for frame in frames:
        yield from mono.feed(frame)
    yield from mono.finish()


def _first(limit: int, blocks: Iterator[Block]) -> np.ndarray:
    """The first ``limit`` samples of ``blocks``; the rest is not decoded."""
    taken, total = [np.zeros(0, np.float32)], 0
    for block in blocks:
        taken.append(block.samples)
        total += len(block.samples)
        if total >= limit:
            break
    return np.concatenate(taken)[:limit]


def cuts(samples: np.ndarray) -> list[tuple[int, int]]:
    """Where to cut: (start, end) pairs in samples, each at most 30 s, equal but for half a second either way, at pauses."""
    if len(samples) <= PART_SECONDS * RATE:
        return [(0, len(samples))]
    count = ceil(len(samples) / (AIM_SECONDS * RATE))
    reach, pause = RATE // 2, round(PAUSE_SECONDS * RATE)
    ends = []
    for index in range(1, count):
        near = round(len(samples) * index / count) - reach
        energy = np.square(samples[near : near + 2 * reach]).reshape(-1, pause).sum(axis=1)
        ends.append(near + int(np.argmin(energy)) * pause + pause // 2)
    return list(zip([0, *ends], [*ends, len(samples)], strict=True))
