"""Watching: a clip second by second. A video file, or pictures with the second of sound that belongs to each."""

from __future__ import annotations

import io
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import av
import av.error
import numpy as np
from av.container import InputContainer
from PIL import Image, ImageFilter

from launch.rehearsal.brain.brain import UndecodableMedia
from launch.rehearsal.brain.hear import Ear, Heard, Language
from launch.rehearsal.brain.read_text import Reader, Reading
from launch.rehearsal.brain.see import Colour, Seen, change, look, open_picture
from launch.rehearsal.brain.sound import EAR_RATE, FROM_MEMORY, decode

LONGEST_S = 64  # frames a second that are looked at; what the page sends at most
SIDE = 960  # pixels of the longer side of a kept frame: what the reader looks at anyway
CHANGED = 0.06  # of full scale: a cut or a moving subject is above it, noise and a swaying camera below


@dataclass(frozen=True)
class Watched:
    """``size``: width and height of the file's picture; ``frames``: one a second, from second 0, smaller;
    ``reading``: the words of the busiest one; ``heard``: None without sound."""

    seconds: float
    size: tuple[int, int]
    frames: tuple[Seen, ...]
    reading: Reading
    heard: Heard | None

    @property
    def changes(self) -> tuple[int, ...]:
        """The seconds whose frame differs from the one before."""
        pairs = zip(self.frames, self.frames[1:], strict=False)
        return tuple(at for at, (before, after) in enumerate(pairs, 1) if change(before, after) > CHANGED)

    @property
    def stretches(self) -> list[tuple[int, Colour]]:
        """(first second, main colour) of each stretch that keeps one main colour."""
        colours: list[Colour] = [frame.colours[0][0] for frame in self.frames]
        return [(at, colour) for at, colour in enumerate(colours) if at == 0 or colour != colours[at - 1]]


def watch_file(data: bytes, ear: Ear, reader: Reader, expected: Language) -> Watched:
    """A video file. Raises ``UndecodableMedia``."""
    seconds, size, pictures = _frames(data)
    wave = decode(data, "video")
    return _watch(max(seconds, wave.size / EAR_RATE), size, pictures, wave, ear, reader, expected)


def watch_parts(
    encoded: Sequence[bytes], sounds: Sequence[bytes], ear: Ear, reader: Reader, expected: Language
) -> Watched:
    """Pictures taken a second apart and the sounds of these seconds, whose speech runs on from one to the next."""
    wave = np.concatenate([np.zeros(0, np.float32), *(decode(sound, "audio") for sound in sounds)])
    pictures = [open_picture(data) for data in encoded]
    seconds = max(float(len(pictures)), wave.size / EAR_RATE)
    return _watch(seconds, pictures[0].size, pictures, wave, ear, reader, expected)


def _watch(
    seconds: float,
    size: tuple[int, int],
    pictures: list[Image.Image],
    wave: np.ndarray,
    ear: Ear,
    reader: Reader,
    expected: Language,
) -> Watched:
    busiest = max(pictures, key=_edges)
    return Watched(
        seconds=seconds,
        size=size,
        frames=tuple(look(picture) for picture in pictures),
        reading=reader(busiest),
        heard=ear(wave, expected) if wave.size else None,
    )


def _edges(picture: Image.Image) -> float:
    """How much fine detail there is: print makes more of it than anything else."""
    small = picture.convert("L")
    small.thumbnail((SIDE // 2, SIDE // 2))
    return float(np.asarray(small.filter(ImageFilter.FIND_EDGES), np.float32).mean())


def _frames(data: bytes) -> tuple[float, tuple[int, int], list[Image.Image]]:
    """The length in seconds, the size, and the first frame of each second, at most ``LONGEST_S`` of them."""
    try:
        with av.open(io.BytesIO(data), "r", options=FROM_MEMORY) as container:
            if not container.streams.video:
                raise UndecodableMedia("video", "no video stream")
            seconds, size = 0.0, (0, 0)
            pictures: list[Image.Image] = []
            for at, frame in _timed(container):
                seconds, size = at, (frame.width, frame.height)
                if at >= len(pictures) and len(pictures) < LONGEST_S:
                    pictures += [_picture(frame)] * (int(at) + 1 - len(pictures))  # a slide show may skip seconds
                elif len(pictures) >= LONGEST_S:
                    break
            rate = container.streams.video[0].average_rate
    except (av.error.FFmpegError, ValueError) as error:
        raise UndecodableMedia("video", str(error)) from error
    if not pictures:
        raise UndecodableMedia("video", "no frames")
    turned = (pictures[0].width >= pictures[0].height) != (size[0] >= size[1])
    upright = (size[1], size[0]) if turned else size
    return seconds + (1 / float(rate) if rate else 0.0), upright, pictures[:LONGEST_S]


def _timed(container: InputContainer) -> Iterator[tuple[float, av.VideoFrame]]:
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
    width, height = (max(1, round(side * scale)) for side in (frame.width, frame.height))
    small = frame.reformat(width=width, height=height, format="rgb24")
    return small.to_image().rotate(frame.rotation, expand=True)
