"""A picture of any kind → one JPEG, upright, on white, at most 1.8 Mpx."""

from __future__ import annotations

import struct
import zlib
from pathlib import Path
from typing import BinaryIO

from PIL import Image as Pillow
from PIL import JpegImagePlugin, UnidentifiedImageError
from pillow_heif import register_heif_opener

from launch.errors import MediaError
from ui.media import pixels
from ui.media.jpeg import encode
from ui.media.prepared import Notice, Prepared, shown_name
from ui.media.signature import signature
from ui.media.sizes import fit

register_heif_opener(thumbnails=False)
Pillow.init()  # registers every reader now: the registry is asked by name below

FORMATS = ("JPEG", "PNG", "GIF", "WEBP", "BMP", "TIFF", "ICO", "AVIF", "HEIF", "JPEG2000")
"""What phones, cameras, browsers and scanners write; MPO comes with JPEG. Pillow's other readers stay out: EPS starts a program."""

BOMB_PIXELS = (
    178_956_970  # Pillow's own limit for an error; the largest phone sensors have 108 Mpx, some 200 Mpx are binned
)
MEMORY_BYTES = 560_000_000  # what decoding one picture may take: 600 MB above idle, less 40 MB for strips and the JPEG
BYTES_PER_PIXEL = {"WEBP": 16.1, "HEIF": 7.5, "AVIF": 9.3, "JPEG2000": 19.4}
"""Peak memory of Pillow's decoders a pixel, measured on a 27 Mpx picture (Pillow 12.3, pillow-heif 1.8); others: ``_weight``."""

FRAMES_TRIED = 10  # an animation may open on frames with nothing in them; more than a few are not an opening
QUALITY = 92  # small print stays readable; colour at full resolution for red text on white

DAMAGE = (
    OSError,
    SyntaxError,
    ValueError,
    EOFError,
    IndexError,
    KeyError,
    TypeError,
    OverflowError,
    struct.error,
    zlib.error,
)
"""What Pillow's readers raise on broken files: they document OSError and leak the rest."""


def prepare(path: Path, name: str | None = None) -> Prepared:
    """The picture in ``path`` as one ``Image`` part. Blocking: call it through ``asyncio.to_thread``.

    ``name``: what the client called it, only ever shown. Width and height of the result are those of the upright picture before
    bounding. Of an animation the first frame with anything in it is taken.

    Raises ``MediaError``: media-gone, media-empty-file, media-file-too-large, media-unsupported-format, media-truncated,
    media-decompression-bomb, media-too-large (too many pixels for what its format costs to decode).
    """
    seen = signature(path)
    if seen.kind != "image":
        raise MediaError("media-unsupported-format", seen=seen.name)
    with path.open("rb") as file:
        try:
            picture = _opened(file)
            width, height = picture.size
            _refuse_giants(picture)
            if isinstance(
                picture, JpegImagePlugin.JpegImageFile
            ):  # decodes 1/2, 1/4, 1/8 for a fraction of time and memory
                picture.draft("RGB", fit(width, height))
            notices = _first_visible(picture)
            picture.load()
        except UnidentifiedImageError as error:
            raise MediaError("media-truncated", detail=str(error)) from error
        except DAMAGE as error:
            raise MediaError("media-truncated", detail=f"{type(error).__name__}: {error}") from error
        small, turned = pixels.bounded(picture, (width, height))
    if turned:
        width, height = height, width
    part = encode(small, quality=QUALITY, subsampling=0)
    return Prepared("image", (part,), shown_name(path, name), width, height, notices=notices)


def _opened(file: BinaryIO) -> Pillow.Image:
    """The picture with only its header read. Raises media-decompression-bomb, with the size it claims."""
    try:
        picture = Pillow.open(file, formats=FORMATS)
        size = picture.size
    except Pillow.DecompressionBombError:
        picture, size = None, _claimed_size(file)
    if picture is None or size[0] * size[1] > BOMB_PIXELS:
        raise MediaError("media-decompression-bomb", width=size[0], height=size[1], limit=round(BOMB_PIXELS / 1e6))
    return picture


def _claimed_size(file: BinaryIO) -> tuple[int, int]:
    """Width and height out of a header that ``Pillow.open`` refuses: the error names only the product."""
    file.seek(0)
    prefix = file.read(16)
    for name in FORMATS:
        reader, accepts = Pillow.OPEN[name]
        if accepts is None or accepts(prefix) is True:
            file.seek(0)
            return reader(file, "").size
    return 0, 0


def _refuse_giants(picture: Pillow.Image) -> None:
    """Raises media-too-large for a legal picture that would not fit into the memory granted."""
    pixels_ = picture.width * picture.height
    if pixels_ * (weight := _weight(picture)) > MEMORY_BYTES:
        raise MediaError(
            "media-too-large",
            width=picture.width,
            height=picture.height,
            format=picture.format,
            limit=int(MEMORY_BYTES / weight / 1e6),
        )


def _weight(picture: Pillow.Image) -> float:
    """Bytes that decoding takes a pixel: a table for some formats, else what Pillow stores (4, or 1 or 2 for one channel)."""
    if picture.format in BYTES_PER_PIXEL:
        return BYTES_PER_PIXEL[picture.format]
    stored = 1 if picture.mode in ("1", "L", "P") else 2 if picture.mode.startswith("I;16") else 4
    if isinstance(picture, JpegImagePlugin.JpegImageFile):
        if not (picture.info.get("progressive") or picture.info.get("progression")):
            return stored / 4  # at these sizes draft mode decodes at half the side or less
        sampling = [(layer[1], layer[2]) for layer in picture.layer]  # (horizontal, vertical) factors of each channel
        densest = max(across * down for across, down in sampling)
        return (
            stored / 4 + 2 * sum(across * down for across, down in sampling) / densest
        )  # all coefficients, 16 bits each
    if picture.format == "TIFF" and picture.getexif().get(pixels.ORIENTATION, 1) != 1:
        return 2 * stored  # Pillow turns it into a second copy while loading
    return stored


def _first_visible(picture: Pillow.Image) -> tuple[Notice, ...]:
    """Stands ``picture`` on its first frame that is not wholly transparent; says so when there is more than one frame."""
    frames = getattr(picture, "n_frames", 1)
    if (
        frames == 1 or picture.format == "MPO"
    ):  # the further pictures of an MPO are previews or a second eye, not an animation
        return ()
    for index in range(min(frames, FRAMES_TRIED)):
        picture.seek(index)
        if not picture.has_transparency_data or picture.convert("RGBA").getchannel("A").getbbox():
            break
    else:
        picture.seek(0)
    return (Notice("media-note-one-frame", {"frames": frames}),)
