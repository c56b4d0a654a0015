"""Watching: a clip second by second. A video file, or pictures with the second of sound that belongs to each."""

from __future__ import annotations

import io
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import av
import av.error
import numpy as np
from PIL import Image, ImageFilter

from launch.rehearsal.brain.brain import UndecodableMedia
from launch.rehearsal.brain.hear import Ear, Heard, Language
from launch.rehearsal.brain.read_text import Reader, Reading
from launch.rehearsal.brain.see import Seen, change, look, open_picture
from launch.rehearsal.brain.sound import EAR_RATE, FROM_MEMORY, decode

LONGEST_S = 64  # frames a second that are looked at; what the page sends at most
SIDE = 960  # pixels of the longer side of a kept frame: what the reader looks at anyway
CHANGED = 0.06  # of full scale: a cut or a moving subject is above it, noise and a swaying camera below


@dataclass(frozen=True)
class Watched:
    """``frames``: one a second, from second 0; ``reading``: the words of the busiest one; ``heard``: None without sound."""

    seconds: float
    frames: tuple[Seen, ...]
    reading: Reading
    heard: Heard | None

    @property
    def changes(self) -> tuple[int, ...]:
        """The seconds whose frame differs from the one before."""
        pairs = zip(self.frames, self.frames[1:], strict=False)
        return tuple(at for at, (before, after) in enumerate(pairs, 1) if change(before, after) > CHANGED)


def watch_file(data: bytes, ear: Ear, reader: Reader, expected: Language) -> Watched:
    """A video file. Raises ``UndecodableMedia``."""
    seconds, pictures = _frames(data)
    wave = decode(data, "video")
    return _watch(max(seconds, wave.size / EAR_RATE), pictures, wave, ear, reader, expected)


def watch_parts(pictures: Sequence[bytes], sounds: Sequence[bytes], ear: Ear, reader: Reader, expected: Language) -> Watched:
    """Pictures taken a second apart and the sounds of these seconds, whose speech runs on from one to the next."""
    wave = np.concatenate([np.zeros(0, np.float32), *(decode(sound, "audio") for sound in sounds)])
    seconds = max(float(len(pictures)), wave.size / EAR_RATE)
    return _watch(seconds, [open_picture(picture) for picture in pictures], wave, ear, reader, expected)


def _watch(
    seconds: float, pictures: list[Image.Image], wave: np.ndarray, ear: Ear, reader: Reader, expected: Language
) -> Watched:
    busiest = max(pictures, key=_edges)
    return Watched(
        seconds=seconds,
        frames=tuple(look(picture) for picture in pictures),
        reading=reader(busiest),
        heard=ear(wave, expected) if wave.size else None,
    )


def _edges(picture: Image.Image) -> float:
    """How much fine detail there is: print makes more of it than anything else."""
    small = picture.convert("L")
    small.thumbnail((SIDE // 2, SIDE // 2))
    return float(np.asarray(small.filter(ImageFilter.FIND_EDGES), np.float32).mean())


def _frames(data: bytes) -> tuple[float, list[Image.Image]]:
    """The length in seconds and the first frame of each second, at most ``LONGEST_S`` of them."""
    try:
        with av.open(io.BytesIO(data), options=FROM_MEMORY) as container:
            if not container.streams.video:
                raise UndecodableMedia("video", "no video stream")
            seconds, pictures = 0.0, []
            for at, frame in _timed(container):
                seconds = at
                if at >= len(pictures) and len(pictures) < LONGEST_S:
                    pictures += [_picture(frame)] * (int(at) + 1 - len(pictures))  # a slide show may skip seconds
                elif len(pictures) >= LONGEST_S:
                    break
            rate = container.streams.video[0].average_rate
    except (av.error.FFmpegError, ValueError) as error:
        raise UndecodableMedia("video", str(error)) from error
    if not pictures:
        raise UndecodableMedia("video", "no frames")
    return seconds + (1 / float(rate) if rate else 0.0), pictures[:LONGEST_S]


def _timed(container: av.container.InputContainer) -> Iterator[tuple[float, av.VideoFrame]]:
    stream = container.streams.video[0]
    stream.thread_type = "AUTO"
    stream.codec_context.skip_frame = "NONREF"  # half the work on most files, and no second goes without a frame
    start = None
    for frame in container.decode(stream):
        if frame.time is not None:
            start = frame.time if start is None else start
            yield frame.time - start, frame


def _picture(frame: av.VideoFrame) -> Image.Image:
    scale = min(1.0, SIDE / max(frame.width, frame.height))
    small = frame.reformat(width=max(1, round(frame.width * scale)), height=max(1, round(frame.height * scale)), format="rgb24")
    return small.to_image().rotate(frame.rotation, expand=True)
