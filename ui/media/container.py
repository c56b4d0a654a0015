"""The only door through which libav opens anything: plain files, known demuxers, no names, no protocols."""

from __future__ import annotations

import os
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import BinaryIO

import av
from av.audio.stream import AudioStream
from av.container import InputContainer
from av.error import FFmpegError
from av.packet import Packet
from av.stream import Disposition, Stream
from av.video.stream import VideoStream

from launch.errors import MediaError
from ui.media.signature import Signature, signature
from ui.media.sound import hearable

DEMUXERS = (
    "mov,matroska,webm,avi,asf,flv,mpegts,mpeg,mpegvideo,gif,ogg,wav,w64,aiff,caf,au,mp3,aac,ac3,eac3,dts,flac,amr,"
    "amrnb,amrwb,ape,wv,tta,dsf,rm,dv,mxf,nut"
)
"""What phones, browsers, cameras, recorders and players write. Those that open further files or addresses by a text they read
(hls, dash, concat, sdp, rtsp, image2, ...) are not among them, and no protocol is allowed to the ones that are."""

MAX_FRAME_PIXELS = 8192 * 4320  # 8K, which phones record; a header that claims more is a bomb, not a film
READ_BYTES = 1 << 20  # a block of the file at a time: each one costs a call into Python
THREADS = min(4, os.cpu_count() or 1)  # decoding 1080p gains little beyond four, each of which holds a frame more

WORK_SECONDS = 120.0
"""Longest work on one upload: ten times what a minute of 1080p takes on two busy cores; what needs more was made to."""


class Budget:
    """Time granted to one upload. ``clock``: monotonic seconds; a test passes its own."""

    def __init__(self, seconds: float = WORK_SECONDS, clock: Callable[[], float] = time.monotonic) -> None:
        self._seconds, self._clock = seconds, clock
        self._end = clock() + seconds

    def check(self) -> None:
        """Raises ``MediaError`` media-too-slow when the time is up."""
        if self._clock() > self._end:
            raise MediaError("media-too-slow", seconds=round(self._seconds))


class _Nameless:
    """A file without a name: libav would let the extension have a say in what it takes it for."""

    def __init__(self, file: BinaryIO) -> None:
        self.read, self.seek, self.tell = file.read, file.seek, file.tell


@contextmanager
def opened(path: Path) -> Iterator[InputContainer]:
    """``path`` as a libav container, closed on leaving.

    Raises ``MediaError``: media-gone, media-empty-file, media-file-too-large; media-empty-audio (a WAV without a data chunk),
    media-truncated (begins like a medium, but nothing can be made of it), media-no-video-stream (a still picture),
    media-unsupported-format.
    """
    seen = signature(path)
    with path.open("rb") as file:
        try:
            container = av.open(
                _Nameless(file),
                mode="r",
                buffer_size=READ_BYTES,
                options={"max_pixels": str(MAX_FRAME_PIXELS)},
                container_options={"format_whitelist": DEMUXERS, "protocol_whitelist": "none"},
            )
        except (FFmpegError, OSError, ValueError) as error:
            file.seek(0)
            if seen.name == "WAV" and b"data" not in file.read(READ_BYTES):
                raise MediaError("media-empty-audio") from error
            raise MediaError(_refusal(seen), detail=str(error), seen=seen.name) from error
        with container:
            yield container


def _refusal(seen: Signature) -> str:
    """The key for a file that libav makes nothing of."""
    if seen.kind is None:
        return "media-unsupported-format"
    return "media-no-video-stream" if seen.kind == "image" and seen.name != "GIF" else "media-truncated"


def packets(container: InputContainer, streams: Sequence[Stream], budget: Budget) -> Iterator[Packet]:
    """All packets of ``streams`` in file order, at the end an empty one for each. Ends early where the file breaks off.

    Raises ``MediaError`` media-too-slow.
    """
    source = container.demux(*streams)
    while True:
        budget.check()
        try:
            packet = next(source)
        except (
            StopIteration,
            FFmpegError,
            IndexError,
        ):  # IndexError: PyAV meets a stream that appeared on the way, at the end
            return
        yield packet


def decoded(packet: Packet) -> list:
    """Frames that ``packet`` completes. A packet that cannot be decoded gives none: what is sound around it is kept."""
    try:
        return packet.decode()
    except (FFmpegError, EOFError):  # EOFError: the decoder was already emptied
        return []


def picture_stream(container: InputContainer) -> VideoStream | None:
    """The moving picture: covers and thumbnails are none; the one marked as default, else the first.

    Raises ``MediaError`` media-unsupported-format when there is one, but no decoder for it.
    """
    still = Disposition.attached_pic | Disposition.timed_thumbnails
    moving = [stream for stream in container.streams.video if not stream.disposition & still]
    readable = [stream for stream in moving if stream.codec_context is not None and stream.codec_context.width]
    if moving and not readable:
        raise MediaError("media-unsupported-format", seen=f"{container.format.name}, ?")
    return next((stream for stream in readable if stream.disposition & Disposition.default), next(iter(readable), None))


def sound_stream(container: InputContainer) -> AudioStream | None:
    """The sound to hear: of the tracks that can be decoded the one marked as default, else the first."""
    readable = [s for s in container.streams.audio if s.codec_context is not None and hearable(s.codec_context)]
    return next((stream for stream in readable if stream.disposition & Disposition.default), next(iter(readable), None))
