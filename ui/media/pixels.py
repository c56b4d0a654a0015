"""From whatever a picture is stored as to upright RGB on white, without a second copy at full size."""

from __future__ import annotations

import struct
from collections.abc import Callable
from io import BytesIO
from typing import Any, cast

import numpy as np
from PIL import Image, ImageCms

from launch.errors import MediaError
from ui.media.sizes import fit

ORIENTATION = 0x0112  # EXIF 2.3, table 4
STRIP_PIXELS = 4_000_000  # a strip in work: 16 MB as RGBA, and a handful of such copies
SIXTEEN_TO_EIGHT = 257  # 65535 / 255: full scale stays full scale

TURNS = {
    2: Image.Transpose.FLIP_LEFT_RIGHT,
    3: Image.Transpose.ROTATE_180,
    4: Image.Transpose.FLIP_TOP_BOTTOM,
    5: Image.Transpose.TRANSPOSE,
    6: Image.Transpose.ROTATE_270,
    7: Image.Transpose.TRANSVERSE,
    8: Image.Transpose.ROTATE_90,
}
MALFORMED_EXIF = (SyntaxError, ValueError, OSError, EOFError, KeyError, TypeError, IndexError, struct.error)

Strip = Callable[[Image.Image], Image.Image]


def bounded(picture: Image.Image, size: tuple[int, int]) -> tuple[Image.Image, bool]:
    """``picture`` (loaded, perhaps in draft) as upright RGB on white, within the bounds of ``sizes.fit`` for ``size``, its true size.

    Returns the picture and whether it lies on its side as stored. Averages whole blocks first, strip by strip, so that beside the
    decoded picture only strips are held; the rest of the way is a Lanczos filter.

    Raises ``MediaError`` media-unsupported-format for a way of storing pixels that has no conversion.
    """
    plain = _conversion(picture)
    width, height = fit(*size)
    block = max(1, min(picture.width // width, picture.height // height))
    rows = max(1, STRIP_PIXELS // picture.width // block) * block
    small = Image.new("RGB", (-(-picture.width // block), -(-picture.height // block)))
    for top in range(0, picture.height, rows):
        strip = picture.crop((0, top, picture.width, min(top + rows, picture.height)))
        small.paste(_on_white(plain(strip).reduce(block)), (0, top // block))
    if small.size != (width, height):
        # the last blocks may hang over the edge: `exact` is the part of `small` that the picture covers
        exact = (0, 0, picture.width / block, picture.height / block)
        small = small.resize((width, height), Image.Resampling.LANCZOS, exact)
    if picture.mode != "CMYK":
        small = _to_srgb(small, picture.info.get("icc_profile"))
    turn = TURNS.get(_orientation(picture))
    if turn is not None:
        small = small.transpose(turn)
    return small, turn in (TURNS[5], TURNS[6], TURNS[7], TURNS[8])


def _orientation(picture: Image.Image) -> int:
    """EXIF orientation; 1, as stored, where the block is malformed: the picture itself is fine."""
    try:
        return picture.getexif().get(ORIENTATION, 1)
    except MALFORMED_EXIF:
        return 1


def _conversion(picture: Image.Image) -> Strip:
    """What turns a strip of ``picture`` into RGB, or RGBA where it has transparent parts."""
    if picture.mode.startswith("I;16"):
        return lambda strip: _grey(np.asarray(strip) / SIXTEEN_TO_EIGHT)
    if picture.mode in ("I", "F"):
        low, high = cast(tuple[float, float], picture.getextrema())
        return lambda strip: _grey(_eight_bit(np.asarray(strip), low, high))
    if picture.mode == "CMYK":
        return _from_cmyk(picture.info.get("icc_profile"))
    if picture.has_transparency_data:
        return lambda strip: strip.convert("RGBA")  # un-multiplies the premultiplied modes as well
    if picture.mode == "LAB":
        raise MediaError("media-unsupported-format", seen="LAB TIFF")
    return lambda strip: strip.convert("RGB")


def _on_white(picture: Image.Image) -> Image.Image:
    if picture.mode == "RGB":
        return picture
    return Image.alpha_composite(Image.new("RGBA", picture.size, "white"), picture).convert("RGB")


def _grey(values: np.ndarray) -> Image.Image:
    return Image.fromarray(np.clip(np.nan_to_num(values) + 0.5, 0, 255).astype(np.uint8)).convert("RGB")


def _eight_bit(values: np.ndarray, low: float, high: float) -> np.ndarray:
    """Wide greys to 0..255. Which full scale was meant is read off the range: 1.0, 8 bit or 16 bit; anything else is stretched."""
    for full in (1.0, 255.0, 65535.0):
        if low >= 0 and high <= full:
            return values * (255.0 / full)
    return (values - low) * (255.0 / (high - low))


def _from_cmyk(icc: bytes | None) -> Strip:
    """By its own profile when it has a sound one, else the plain 255-less-ink conversion."""
    try:
        press = ImageCms.ImageCmsProfile(BytesIO(icc or b""))
        transform = ImageCms.buildTransform(press, ImageCms.createProfile("sRGB"), "CMYK", "RGB")
    except (ImageCms.PyCMSError, OSError):
        return lambda strip: strip.convert("RGB")
    return lambda strip: ImageCms.applyTransform(strip, transform) or strip.convert("RGB")


def _to_srgb(picture: Image.Image, icc: bytes | None) -> Image.Image:
    """Colours of a wide camera space (Display P3, Adobe RGB) as sRGB. An unreadable or non-RGB profile is as good as none."""
    if not icc:
        return picture
    try:
        profile = ImageCms.ImageCmsProfile(BytesIO(icc))
        told: Any = profile.profile
        if told.xcolor_space.strip() != "RGB" or "sRGB" in (told.profile_description or ""):
            return picture
        converted = ImageCms.profileToProfile(picture, profile, ImageCms.createProfile("sRGB"), outputMode="RGB")
    except (ImageCms.PyCMSError, OSError):
        return picture
    return converted or picture
