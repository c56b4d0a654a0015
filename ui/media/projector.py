"""The pictures of a clip at chosen instants and the sound beside them, decoded in one pass and with as little decoding as will do."""

from __future__ import annotations

from collections import deque
from collections.abc import Collection, Iterator
from fractions import Fraction
from math import inf

from av import AudioFrame, VideoFrame
from av.codec.context import ThreadType
from av.container import InputContainer
from av.error import FFmpegError
from av.packet import Packet
from av.video.stream import VideoStream

from ui.media.container import THREADS, Budget, decoded, packets
from ui.media.reel import Reel

RUN_IN_SECONDS = (
    0.3  # sound decoded ahead of a wanted second: the bit reservoir of MP3 and the pre-roll of Opus lie within it
)


def play(
    container: InputContainer, reel: Reel, wanted: Collection[int], seconds: Collection[int], budget: Budget
) -> Iterator[tuple[int, VideoFrame] | AudioFrame]:
    """Decodes a fresh ``container`` of ``reel``: (packet index, frame) for the ``wanted`` pictures, frames of sound around ``seconds``.

    Only the groups of pictures that hold a wanted one are decoded, and in those the pictures nothing else leans on are skipped,
    which halves the work on most clips. A picture that does not decode is replaced by the next one that does.

    Raises ``MediaError`` media-too-slow.
    """
    picture, sound = reel.picture_in(container), reel.sound_in(container)
    screen = _Screen(picture, reel, sorted(wanted, key=lambda index: reel.shown[index]))
    audible = {second - 1 for second in seconds} | set(seconds)
    for packet in packets(container, [picture, sound] if sound else [picture], budget):
        if packet.stream_index == reel.video:
            yield from screen.frames(packet)
        elif not packet.size or _overlaps(packet, reel.origin, audible, seconds):
            yield from decoded(packet)
    yield from screen.close()


def _overlaps(packet: Packet, origin: float, audible: Collection[int], seconds: Collection[int]) -> bool:
    """Whether a packet of sound lies in a wanted second, or so short before one that decoding has to begin with it."""
    if packet.pts is None:
        return True
    start = float(packet.pts * packet.time_base) - origin
    second = int(start // 1)
    return second in seconds or (second in audible and start - second > 1 - RUN_IN_SECONDS) or start < 0


class _Screen:
    """Feeds the decoder of one picture stream packet by packet, and names the wanted frames as they come out."""

    def __init__(self, stream: VideoStream, reel: Reel, wanted: list[int]) -> None:
        self._reel = reel
        self._runs = deque(reel.runs(wanted))
        self._pending = deque(wanted)  # in the order of showing, which is the order decoders give
        self._wanted = frozenset(wanted)
        self._index = -1
        self._tick = stream.time_base or Fraction(1)  # libav gives every stream one
        self._decoder = stream.codec_context
        self._decoder.thread_type = ThreadType.AUTO
        self._decoder.thread_count = THREADS

    def frames(self, packet: Packet) -> Iterator[tuple[int, VideoFrame]]:
        if not packet.size:
            return
        self._index += 1
        if not self._runs or self._index < self._runs[0][0]:
            return
        self._decoder.skip_frame = "DEFAULT" if self._index in self._wanted else "NONREF"
        yield from self._named(decoded(packet))
        if self._index == self._runs[0][1]:
            self._runs.popleft()
            yield from self._named(self._emptied())

    def close(self) -> Iterator[tuple[int, VideoFrame]]:
        """The last frames of a file that breaks off within a run."""
        if self._runs and self._index >= self._runs[0][0]:
            yield from self._named(self._emptied())

    def _emptied(self) -> list[VideoFrame]:
        """What the decoder holds back for reordering; leaves it ready for the next run."""
        try:
            return self._decoder.decode(None)
        except (FFmpegError, EOFError):
            return []
        finally:
            self._decoder.flush_buffers()

    def _named(self, frames: list[VideoFrame]) -> Iterator[tuple[int, VideoFrame]]:
        for frame in frames:
            stamp = frame.pts if frame.pts is not None else frame.dts
            at = float(stamp * self._tick) - self._reel.origin if stamp is not None else inf
            while self._pending and at >= self._reel.shown[self._pending[0]] - 1e-4:
                yield self._pending.popleft(), frame
