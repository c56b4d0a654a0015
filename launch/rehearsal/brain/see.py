"""Seeing: facts of a picture that need no large model. Size, colours by name, brightness, words."""

from __future__ import annotations

import io
from dataclasses import dataclass
from typing import Literal

import numpy as np
from PIL import Image, ImageOps

from launch.rehearsal.brain.brain import UndecodableMedia
from launch.rehearsal.brain.read_text import Reader, Reading

Colour = Literal[
    "black", "white", "grey", "red", "orange", "yellow", "green", "cyan", "blue", "purple", "pink", "brown"
]
COLOURS: tuple[Colour, ...] = (
    *("black", "white", "grey", "red", "orange", "yellow"),
    *("green", "cyan", "blue", "purple", "pink", "brown"),
)
# Hue in degrees up to which a saturated colour bears the name; above the last it is red again.
HUES: tuple[tuple[float, Colour], ...] = (
    *((14, "red"), (42, "orange"), (68, "yellow"), (165, "green")),
    *((195, "cyan"), (255, "blue"), (290, "purple"), (345, "pink"), (360, "red")),
)
THUMB = 64  # pixels a side for counting colours: a share of a percent is still seen, and noise is averaged away
NOTED = 0.08  # share of the picture from which a colour is worth a word
DARK, GREYISH, WHITE = (
    0.18,
    0.14,
    0.86,
)  # value below which it is black; saturation below which it is grey; value of white


@dataclass(frozen=True)
class Seen:
    """``colours``: (name, share of the picture), largest first; ``quadrants``: main colour of the top left, top right,
    bottom left and bottom right quarter; ``brightness``: mean, 0 to 1; ``thumb``: small copy, to tell change by."""

    width: int
    height: int
    colours: tuple[tuple[Colour, float], ...]
    quadrants: tuple[Colour, Colour, Colour, Colour]
    brightness: float
    reading: Reading
    thumb: np.ndarray


def open_picture(data: bytes) -> Image.Image:
    """Any picture Pillow knows, upright, RGB, transparency on white. Raises ``UndecodableMedia``."""
    try:
        picture = ImageOps.exif_transpose(Image.open(io.BytesIO(data)))
        if picture.has_transparency_data:
            picture = Image.alpha_composite(Image.new("RGBA", picture.size, "white"), picture.convert("RGBA"))
        return picture.convert("RGB")
    except (
        OSError,
        SyntaxError,
        ValueError,
        Image.DecompressionBombError,
    ) as error:  # what Pillow raises for bad files
        raise UndecodableMedia("image", str(error)) from error


def look(picture: Image.Image, reader: Reader | None = None) -> Seen:
    """The facts of an RGB picture; its words only with a ``reader``, for they cost most of the time."""
    thumb = np.asarray(picture.resize((THUMB, THUMB), Image.Resampling.BOX))
    names = colour_names(thumb)
    half = THUMB // 2
    quarters = (names[:half, :half], names[:half, half:], names[half:, :half], names[half:, half:])
    counts = np.bincount(names.ravel(), minlength=len(COLOURS)) / names.size
    order = [int(index) for index in np.argsort(-counts, kind="stable") if counts[index] >= NOTED]
    main: list[Colour] = [COLOURS[np.bincount(part.ravel()).argmax()] for part in quarters]
    return Seen(
        width=picture.width,
        height=picture.height,
        colours=tuple((COLOURS[index], float(counts[index])) for index in order or [int(counts.argmax())]),
        quadrants=(main[0], main[1], main[2], main[3]),
        brightness=float(thumb.mean() / 255),
        reading=reader(picture) if reader else Reading(),
        thumb=thumb,
    )


def colour_names(pixels: np.ndarray) -> np.ndarray:
    """Indices into ``COLOURS`` for (h, w, 3) uint8 pixels, by hue, saturation and value."""
    hsv = np.asarray(Image.fromarray(pixels).convert("HSV"), np.float32)
    hue, saturation, value = hsv[..., 0] * 360 / 255, hsv[..., 1] / 255, hsv[..., 2] / 255
    edges, names = zip(*HUES, strict=True)
    name = np.array([COLOURS.index(one) for one in names])[np.searchsorted(edges, hue).clip(max=len(names) - 1)]
    red, orange, pink = (name == COLOURS.index(one) for one in ("red", "orange", "pink"))
    name = np.where(red & (saturation < 0.6) & (value > 0.7), COLOURS.index("pink"), name)
    name = np.where((orange | red & (saturation < 0.78)) & (value < 0.7), COLOURS.index("brown"), name)
    name = np.where(pink & (value < 0.65), COLOURS.index("purple"), name)
    name = np.where(saturation < GREYISH, COLOURS.index("grey"), name)
    name = np.where((saturation < GREYISH) & (value > WHITE), COLOURS.index("white"), name)
    return np.where(value < DARK, COLOURS.index("black"), name)


def change(before: Seen, after: Seen) -> float:
    """How much two pictures differ, 0 to 1: the mean difference of their small copies."""
    return float(np.abs(before.thumb.astype(np.int16) - after.thumb.astype(np.int16)).mean() / 255)
