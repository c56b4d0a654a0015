"""What a clip shows and when, read from its packets without decoding one.

Frame counts, rates and durations in headers are often missing (browser recordings), wrong (edit lists) or an average (variable
rate), so no header is believed: the time stamps of all packets are read once, which costs little more than reading the file, and
every later choice is made on them.
"""

from __future__ import annotations

from array import array
from dataclasses import dataclass
from functools import cached_property
from math import ceil

import numpy as np
from av.audio.stream import AudioStream
from av.container import InputContainer
from av.video.stream import VideoStream

from launch.errors import MediaError
from ui.media.container import Budget, packets, picture_stream, sound_stream

TAIL_SECONDS = 0.1
"""A started second counts when it lasts longer than this: sound padded to whole codec frames, and container rounding, overhang the
picture by up to 50 ms, and are nothing to look at."""
FALLBACK_STEP = 0.04  # seconds a picture stands when the file gives no hint at all: 25 a second

MAX_PICTURES = 2_000_000  # nine hours at 60 a second; a file that lists more was made to fill memory


@dataclass(frozen=True)
class Reel:
    """Times are seconds on the presentation's own clock: 0 is where picture or sound begins, whichever is first.

    ``shown[i]``: when packet ``i`` (in file order) is shown, NaN for those an edit list hides; ``keys[i]``: decoding can start
    there; ``origin``: the container's time of 0; ``picture_end``: when the last picture has been shown.
    """

    video: int
    sound: int | None
    origin: float
    shown: np.ndarray
    keys: np.ndarray
    picture_end: float
    sound_end: float
    promised: float

    @property
    def duration(self) -> float:
        return max(self.picture_end, self.sound_end)

    @property
    def seconds(self) -> int:
        """Started seconds of the presentation."""
        return max(1, ceil(self.duration - TAIL_SECONDS))

    def at(self, instant: float) -> int:
        """The packet whose picture stands at ``instant``: the last one shown by then, the first one before any is."""
        order = self._order
        place = int(np.searchsorted(self.shown[order], instant + 1e-6, side="right")) - 1
        return int(order[max(place, 0)])

    def runs(self, wanted: list[int]) -> list[tuple[int, int]]:
        """Which packets must be decoded for the ``wanted`` ones: merged (first, last) ranges, each from a key picture.

        A picture shown before its own key picture (open groups) leans on the group before, so decoding starts there.
        """
        starts = np.flatnonzero(self.keys)
        merged: list[tuple[int, int]] = []
        for last in sorted(wanted):
            usable = starts[(starts <= last) & ~(self.shown[starts] > self.shown[last])]
            first = int(usable[-1]) if len(usable) else 0
            if merged and first <= merged[-1][1] + 1:
                merged[-1] = (merged[-1][0], last)
            else:
                merged.append((first, last))
        return merged

    def picture_in(self, container: InputContainer) -> VideoStream:
        """The picture stream in ``container``, opened anew on the same file."""
        return next(stream for stream in container.streams.video if stream.index == self.video)

    def sound_in(self, container: InputContainer) -> AudioStream | None:
        """The sound track in ``container``, opened anew on the same file."""
        return next((stream for stream in container.streams.audio if stream.index == self.sound), None)

    @cached_property
    def _order(self) -> np.ndarray:
        """Packets that are shown, in the order of showing."""
        return np.argsort(self.shown, kind="stable")[: int(np.count_nonzero(~np.isnan(self.shown)))]

    @property
    def steps(self) -> np.ndarray:
        """Seconds between one picture and the next."""
        return np.diff(self.shown[self._order])


def read(container: InputContainer, budget: Budget) -> Reel:
    """The reel of ``container``; leaves it at its end.

    Raises ``MediaError``: media-no-video-stream, media-unsupported-format (no decoder), media-truncated (no picture in it),
    media-too-slow.
    """
    picture, sound = picture_stream(container), sound_stream(container)
    if picture is None:
        raise MediaError("media-no-video-stream")
    shown, keys = array("d"), bytearray()
    latest, last_length = -np.inf, 0.0
    sound_start, sound_end = np.inf, -np.inf
    for packet in packets(container, [picture, sound] if sound else [picture], budget):
        if not packet.size:
            continue
        stamp = packet.pts if packet.pts is not None else packet.dts
        length = max(0.0, float((packet.duration or 0) * packet.time_base))
        if packet.stream_index == picture.index:
            at = float(stamp * packet.time_base) if stamp is not None else max(latest, 0.0) + FALLBACK_STEP
            shown.append(np.nan if packet.is_discard else at)
            keys.append(packet.is_keyframe)
            if at >= latest:
                latest, last_length = at, length
            if len(shown) > MAX_PICTURES:
                raise MediaError("media-too-long", minutes=round((latest - shown[0]) / 60), limit=MAX_PICTURES // 3600)
        elif stamp is not None:
            at = float(stamp * packet.time_base)
            sound_start, sound_end = min(sound_start, at), max(sound_end, at + length)
    times = np.array(shown)
    if not shown or np.all(np.isnan(times)):
        raise MediaError("media-truncated", seen=container.format.name)
    first = float(np.nanmin(times))
    # sound before 0 is an encoder's run-in, not part of the presentation
    origin = min(first, max(sound_start, 0.0))
    typical = float(np.median(np.diff(np.sort(times[~np.isnan(times)])))) if len(times) > 1 else FALLBACK_STEP
    return Reel(
        video=picture.index,
        sound=sound.index if sound and sound_end > sound_start else None,
        origin=origin,
        shown=times - origin,
        keys=np.frombuffer(keys, np.bool_),
        picture_end=float(np.nanmax(times)) - origin + (last_length or typical),
        sound_end=max(0.0, sound_end - origin),
        promised=container.duration / 1e6 if container.duration else 0.0,
    )
