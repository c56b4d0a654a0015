"""What kind of upload a file is, decided by what is in it."""

from __future__ import annotations

from pathlib import Path

from PIL import Image as Pillow

from launch.errors import MediaError
from ui.media.container import opened, picture_stream, sound_stream
from ui.media.image import DAMAGE
from ui.media.prepared import Kind
from ui.media.signature import signature

CLIP_SECONDS = 2.0
"""A GIF that runs this long is a clip: it gives two pictures at one a second. A shorter one is a gesture, told by its first frame."""


def kind_of(path: Path) -> Kind:
    """ "image", "audio" or "video". The name is not looked at.

    Raises ``MediaError``: media-gone, media-empty-file, media-file-too-large, media-empty-audio, media-truncated,
    media-unsupported-format.
    """
    seen = signature(path)
    if seen.kind == "image":
        return "video" if seen.name == "GIF" and _runs_long(path) else "image"
    with opened(path) as container:
        if picture_stream(container):
            return "video"
        if sound_stream(container):
            return "audio"
    raise MediaError("media-unsupported-format", seen=seen.name)


def _runs_long(gif: Path) -> bool:
    """Reads frame headers only as far as it takes. A broken GIF is left to the picture reader, which says what is wrong."""
    shown = 0.0
    try:
        with Pillow.open(gif, formats=("GIF",)) as animation:
            for index in range(getattr(animation, "n_frames", 1)):
                animation.seek(index)
                shown += animation.info.get("duration", 0) / 1000
                if shown >= CLIP_SECONDS:
                    return True
    except (*DAMAGE, Pillow.DecompressionBombError):
        return False
    return False
