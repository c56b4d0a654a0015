"""One viewing of a clip: the pictures go to whoever asked for them, and what was seen and heard on the way is told."""

from __future__ import annotations

from collections.abc import Callable, Collection
from dataclasses import dataclass
from pathlib import Path

import numpy as np
from av import AudioFrame, VideoFrame

from launch.errors import MediaError
from ui.media.container import Budget, opened
from ui.media.frame import stored_as_shown, upright_size
from ui.media.prepared import Notice, Prepared, shown_name
from ui.media.projector import play
from ui.media.reel import Reel, read
from ui.media.sound import Mono16k, levelled
from ui.media.track import Track

Draw = Callable[[int, VideoFrame, float], None]
"""Called with the packet's index, its frame, and the pixel aspect (width of a stored pixel over its height)."""

WIDEST_PIXEL = 8.0  # pixel aspects beyond this, either way, are broken headers: real ones lie within 0.5 and 2.2


@dataclass(frozen=True)
class Viewing:
    """``width``, ``height``: upright, in stored pixels; ``plain``: stored as it is shown; ``sound``: the wanted seconds end to end,
    float mono at 16 kHz, ``None`` when the clip has none."""

    reel: Reel
    width: int
    height: int
    plain: bool
    sound: np.ndarray | None
    notices: tuple[Notice, ...]

    def told(self, path: Path, name: str | None) -> Prepared:
        """All of the result but its parts."""
        notices = self.notices
        if self.reel.promised > self.reel.duration + 1:
            facts = {"got": round(self.reel.duration), "promised": round(self.reel.promised)}
            notices += (Notice("media-note-cut-short", facts),)
        return Prepared(
            kind="video",
            parts=(),
            name=shown_name(path, name),
            width=self.width,
            height=self.height,
            duration_s=self.reel.duration,
            frames_1fps=self.reel.seconds,
            has_audio=self.reel.sound is not None,
            notices=notices,
        )


def reel_of(path: Path, budget: Budget) -> Reel:
    """Raises what ``container.opened`` and ``reel.read`` raise."""
    with opened(path) as container:
        return read(container, budget)


def view(
    path: Path, reel: Reel, shown: Collection[int], seconds: Collection[int], budget: Budget, draw: Draw
) -> Viewing:
    """Plays the clip once: calls ``draw`` for the ``shown`` packets in the order of showing, gathers the sound of ``seconds``.

    Raises ``MediaError``: media-truncated when none of the pictures can be decoded, media-too-slow.
    """
    track, mono = Track(seconds, reel.origin), Mono16k()
    size, plain = (0, 0), True
    with opened(path) as container:
        aspect = float(reel.picture_in(container).sample_aspect_ratio or 1)
        if not 1 / WIDEST_PIXEL <= aspect <= WIDEST_PIXEL:
            aspect = 1.0
        for item in play(container, reel, set(shown), set(seconds), budget):
            if isinstance(item, AudioFrame):
                for block in mono.feed(item):
                    track.put(block)
                continue
            index, frame = item
            size = size if any(size) else upright_size(frame)
            plain = plain and stored_as_shown(frame, aspect)
            draw(index, frame, aspect)
        for block in mono.finish():
            track.put(block)
    if not any(size):
        raise MediaError("media-truncated")
    if not seconds or not track.samples:
        return Viewing(reel, *size, plain, None, ())
    sound = track.joined()
    return Viewing(reel, *size, plain, levelled(sound), mono.heard.notices(float(np.max(np.abs(sound)))))
