"""A finished picture as the part that is sent."""

from __future__ import annotations

from io import BytesIO

from PIL import Image as Pillow

from ui.media.sizes import MIN_SIDE
from ui.turn.parts import Image


def encode(picture: Pillow.Image, *, quality: int, subsampling: int) -> Image:
    """``picture`` (mode RGB, upright, bounded) as a JPEG part, padded on white where a side is shorter than the model bears.

    ``subsampling``: Pillow's number, 0 keeps colour at full resolution, 2 halves it both ways.
    """
    if min(picture.size) < MIN_SIDE:
        padded = Pillow.new("RGB", (max(picture.width, MIN_SIDE), max(picture.height, MIN_SIDE)), "white")
        padded.paste(picture, ((padded.width - picture.width) // 2, (padded.height - picture.height) // 2))
        picture = padded
    file = BytesIO()
    picture.save(file, "JPEG", quality=quality, subsampling=subsampling)
    return Image(file.getvalue(), picture.width, picture.height)
