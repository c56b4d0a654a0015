"""A picture of any kind → one JPEG, upright, on white, at most 1.8 Mpx."""

from __future__ import annotations

import struct
import zlib
from contextlib import suppress
from pathlib import Path
from typing import Any, BinaryIO

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
ANIMATED_BYTES = (
    14.0  # a pixel of an animation: this frame, the one before and a look at its transparency (4 each), palette, mask
)

FRAMES_TRIED = 10  # an animation may open on frames with nothing in them; more than a few are not an opening
QUALITY = 92  # small print stays readable; colour at full resolution for red text on white

DAMAGE = (
    OSError,
    RuntimeError,
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
        except Pillow.DecompressionBombError as error:  # a GIF's frame may be larger than its header said
            raise MediaError("media-decompression-bomb", **_claim(file)) from error
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
    """The picture with only its header read."""
    picture = Pillow.open(file, formats=FORMATS)
    if picture.width * picture.height > BOMB_PIXELS:  # Pillow's own limit is a global that others may have lifted
        raise Pillow.DecompressionBombError
    return picture


def _claim(file: BinaryIO) -> dict[str, Any]:
    """Facts of a picture that ``Pillow.open`` refuses: its error names only the product of the sides."""
    facts: dict[str, Any] = {"limit": round(BOMB_PIXELS / 1e6)}
    file.seek(0)
    prefix = file.read(16)
    for name in FORMATS:
        reader, accepts = Pillow.OPEN[name]
        if accepts is None or accepts(prefix) is True:
            file.seek(0)
            with suppress(Pillow.DecompressionBombError):
                facts |= dict(zip(("width", "height"), reader(file, "").size, strict=True))
    return facts


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
    if getattr(picture, "is_animated", False) and picture.format != "MPO":
        return ANIMATED_BYTES
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
