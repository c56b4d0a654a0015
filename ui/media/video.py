"""A clip → pictures each with their second of sound, or one file for the server to decode."""

from __future__ import annotations

from collections import Counter
from dataclasses import replace
from pathlib import Path

import numpy as np
from av import VideoFrame
from av.container import InputContainer

from launch.errors import MediaError
from ui.media.clip import PER_SECOND, Clip
from ui.media.container import Budget, opened
from ui.media.frame import upright
from ui.media.jpeg import encode
from ui.media.prepared import Medium, Notice, Prepared
from ui.media.reel import Reel, read
from ui.media.sound import RATE, wav
from ui.media.viewing import reel_of, view
from ui.turn.parts import Image, Video

MAX_PAIRS = 64  # images, and sounds, allowed in a prompt (limit_mm_per_prompt of the one-card layout)
FRAME_QUALITY = 85  # 448 px are for seeing, not for small print; 64 such pictures stay near 3 MB

PASS_BYTES = 48 << 20  # of a file sent as it is: 64 MiB of JSON once in base64
STEADY = 1.5  # longest step between pictures over the usual one, in a clip that can be sampled by counting
MAX_REMADE_SECONDS = 600  # of a clip made anew: half a minute of work on two cores


def interleaved(path: Path, name: str | None = None) -> Prepared:
    """The clip as ``Image, Audio, Image, Audio, ...``: one picture a second (from the middle of it, at most 448 px on the short side)
    and that second of 16 kHz sound; without a sound track pictures only. Blocking: call it through ``asyncio.to_thread``.

    A clip of more than 64 seconds gives 64 pairs spread from its first second to its last, with a notice: a question about a clip is
    about all of it, and the first minute of a film is its titles. ``seconds`` of the result says which seconds they are.
    Where one of picture and sound is longer, the last picture stays, or the sound is silent. ``name`` is only ever shown.

    Raises ``MediaError``: media-gone, media-empty-file, media-file-too-large, media-unsupported-format, media-truncated,
    media-no-video-stream, media-too-long, media-too-slow.
    """
    budget = Budget()
    reel = reel_of(path, budget)
    count = min(reel.seconds, MAX_PAIRS)
    seconds = [int(second) for second in np.linspace(0, reel.seconds - 1, count).round()]
    shown = [reel.at(second + 0.5) for second in seconds]
    pictures: dict[int, Image] = {}

    def draw(index: int, frame: VideoFrame, aspect: float) -> None:
        pictures[index] = encode(upright(frame, aspect), quality=FRAME_QUALITY, subsampling=2)

    viewing = view(path, reel, shown, seconds, budget, draw)
    parts: list[Medium] = []
    picture = next(iter(pictures.values()))
    for place, (second, index) in enumerate(zip(seconds, shown, strict=True)):
        picture = pictures.get(index, picture)  # the one before stays where a picture could not be decoded
        parts.append(picture)
        if viewing.sound is not None:
            length = round(min(1.0, reel.duration - second) * RATE)
            parts.append(wav(viewing.sound[place * RATE : place * RATE + length]))
    told = viewing.told(path, name)
    notices = told.notices
    if count < reel.seconds:
        notices += (Notice("media-note-thinned", {"pairs": count, "seconds": reel.seconds}),)
    has_audio = viewing.sound is not None
    return replace(told, parts=tuple(parts), seconds=tuple(seconds), has_audio=has_audio, notices=notices)


def original(path: Path, name: str | None = None) -> Prepared:
    """The clip as one ``Video`` part for the server to decode. Blocking: call it through ``asyncio.to_thread``.

    The server samples frames by their number, through OpenCV, from the header's count. So a file goes through untouched only if that
    gives the right pictures: H.264 4:2:0 of 8 bits in MP4, counted truly by its header, at a steady rate, starting with a picture,
    upright, of square pixels, with one picture stream, and small enough to send. Anything else is made anew (four pictures a second,
    at most 448 px on the short side, H.264 and AAC in MP4), which is simpler to be sure of than a dozen ways of mending.

    Raises what ``interleaved`` raises, and media-too-long for a clip of more than ten minutes that would have to be made anew.
    """
    budget = Budget()
    with opened(path) as container:
        reel = read(container, budget)
        passable = _countable(container, reel) and path.stat().st_size <= PASS_BYTES
    if passable:
        middle = reel.at(reel.picture_end / 2)
        viewing = view(path, reel, [middle], (), budget, lambda *_: None)
        if viewing.plain:
            return replace(viewing.told(path, name), parts=(Video(path.read_bytes(), reel.duration),))
    return _remade(path, name, reel, budget)


def _countable(container: InputContainer, reel: Reel) -> bool:
    """Whether sampling the file by frame numbers, trusting its header, lands on the right pictures."""
    stream = reel.picture_in(container)
    return (
        "mp4" in container.format.name.split(",")
        and len(container.streams.video) == 1
        and stream.codec_context.name == "h264"
        and stream.codec_context.pix_fmt in ("yuv420p", "yuvj420p")
        and stream.frames == len(reel.shown) == len(reel.steps) + 1
        and float(np.nanmin(reel.shown)) < 1 / PER_SECOND
        and (len(reel.steps) == 0 or float(reel.steps.max()) <= STEADY * float(np.median(reel.steps)))
    )


def _remade(path: Path, name: str | None, reel: Reel, budget: Budget) -> Prepared:
    if reel.duration > MAX_REMADE_SECONDS:
        raise MediaError("media-too-long", minutes=round(reel.duration / 60), limit=MAX_REMADE_SECONDS // 60)
    slots = max(1, round(reel.duration * PER_SECOND))
    shown = Counter(reel.at((slot + 0.5) / PER_SECOND) for slot in range(slots))
    clip = Clip()

    def draw(index: int, frame: VideoFrame, aspect: float) -> None:
        clip.add(upright(frame, aspect, even=True), times=shown[index])

    viewing = view(path, reel, shown, range(reel.seconds), budget, draw)
    sound = None if viewing.sound is None else viewing.sound[: round(reel.duration * RATE)]
    video = Video(clip.finish(slots, sound), slots / PER_SECOND)
    return replace(viewing.told(path, name), parts=(video,), has_audio=sound is not None)
