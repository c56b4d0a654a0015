"""Pictures made here, for what the corpus does not hold."""

from __future__ import annotations

import io
import struct
from pathlib import Path

import numpy as np
import pytest
from PIL import Image as Pillow

from launch.errors import MediaError
from tests.ui.media.corpus import assert_colour, pixels
from ui.media.image import prepare
from ui.turn.parts import Image

RED, GREEN, BLUE, YELLOW = (220, 40, 40), (40, 170, 70), (40, 80, 220), (240, 210, 50)
CORNERS = ((0.25, 0.25), (0.75, 0.25), (0.25, 0.75), (0.75, 0.75))


def quadrants(size: tuple[int, int] = (80, 60)) -> Pillow.Image:
    tiny = Pillow.fromarray(np.array([[RED, GREEN], [BLUE, YELLOW]], np.uint8))
    return tiny.resize(size, Pillow.Resampling.NEAREST)


def sent(path: Path) -> Pillow.Image:
    (part,) = prepare(path).parts
    assert isinstance(part, Image)
    return pixels(part)


def assert_quadrants(picture: Pillow.Image, colours=(RED, GREEN, BLUE, YELLOW), tolerance: int = 12) -> None:
    for (across, down), colour in zip(CORNERS, colours, strict=True):
        assert_colour(picture, across, down, colour, tolerance)


# what EXIF orientation n says was done to the picture when it was stored (EXIF 2.3, table 4)
STORED = {
    1: lambda picture: picture,
    2: lambda picture: picture.transpose(Pillow.Transpose.FLIP_LEFT_RIGHT),
    3: lambda picture: picture.transpose(Pillow.Transpose.ROTATE_180),
    4: lambda picture: picture.transpose(Pillow.Transpose.FLIP_TOP_BOTTOM),
    5: lambda picture: picture.transpose(Pillow.Transpose.TRANSPOSE),
    6: lambda picture: picture.transpose(Pillow.Transpose.ROTATE_90),
    7: lambda picture: picture.transpose(Pillow.Transpose.TRANSVERSE),
    8: lambda picture: picture.transpose(Pillow.Transpose.ROTATE_270),
}


@pytest.mark.parametrize("suffix", [".jpg", ".png", ".tif", ".webp"])
@pytest.mark.parametrize("orientation", STORED)
def test_every_orientation_comes_out_upright(orientation: int, suffix: str, tmp_path: Path) -> None:
    path = tmp_path / f"turned{suffix}"
    exif = Pillow.Exif()
    exif[0x0112] = orientation
    STORED[orientation](quadrants()).save(path, exif=exif, **({"lossless": True} if suffix == ".webp" else {}))
    prepared = prepare(path)
    assert (prepared.width, prepared.height) == (80, 60)
    assert_quadrants(sent(path))


def _with_hole(mode: str) -> Pillow.Image:
    """Quadrants whose last one is transparent over magenta."""
    picture = quadrants().convert("RGBA")
    picture.paste((255, 0, 255, 0), (40, 30, 80, 60))
    return picture.convert(mode)


@pytest.mark.parametrize(("mode", "suffix"), [("RGBA", ".png"), ("RGBA", ".webp"), ("RGBA", ".tif"), ("RGBA", ".avif")])
def test_transparent_is_white(mode: str, suffix: str, tmp_path: Path) -> None:
    path = tmp_path / f"hole{suffix}"
    _with_hole(mode).save(path, **({"lossless": True, "exact": True} if suffix == ".webp" else {}))
    assert_quadrants(sent(path), (RED, GREEN, BLUE, (255, 255, 255)), tolerance=25 if suffix == ".avif" else 12)


def test_transparent_grey_and_half_transparent(tmp_path: Path) -> None:
    grey = Pillow.merge("LA", [Pillow.new("L", (40, 40), 0), Pillow.new("L", (40, 40), 128)])
    grey.save(tmp_path / "half.png")
    assert_colour(sent(tmp_path / "half.png"), 0.5, 0.5, (127, 127, 127), 3)


def test_premultiplied_alpha(tmp_path: Path) -> None:
    """TIFF 6.0, ExtraSamples 1: the colours already carry their alpha, so half of (220, 40, 40) is stored as (110, 20, 20)."""
    path = tmp_path / "half.tif"
    Pillow.new("RGBA", (40, 40), (110, 20, 20, 128)).save(path)
    unassociated, associated = (struct.pack("<HHIH", 338, 3, 1, value) for value in (2, 1))
    assert path.read_bytes().count(unassociated) == 1
    path.write_bytes(path.read_bytes().replace(unassociated, associated))
    assert_colour(sent(path), 0.5, 0.5, (237, 147, 147), 3)


def test_a_colour_named_as_transparent(tmp_path: Path) -> None:
    """PNG without an alpha channel: tRNS names one RGB value."""
    quadrants().save(tmp_path / "key.png", transparency=GREEN)
    assert_quadrants(sent(tmp_path / "key.png"), (RED, (255, 255, 255), BLUE, YELLOW))


@pytest.mark.parametrize(
    ("values", "mode"),
    [
        (np.array([[0, 16384], [32768, 65535]], np.uint16), "I;16"),
        (np.array([[0, 16384], [32768, 65535]], ">u2"), "I;16B"),
        (np.array([[0, 16384], [32768, 65535]], np.int32), "I"),
        (np.array([[0, 0.25], [0.5, 1]], np.float32), "F"),
        (np.array([[0, 64], [128, 255]], np.float32), "F"),
        (np.array([[-4, -2], [0, 4]], np.float32), "F"),
    ],
    ids=["16-bit", "16-bit big-endian", "32-bit", "float of 1", "float of 255", "float of any range"],
)
def test_wide_greys_are_scaled_not_clipped(values: np.ndarray, mode: str, tmp_path: Path) -> None:
    big = np.repeat(np.repeat(values, 30, axis=0), 40, axis=1)
    Pillow.frombytes(mode, (80, 60), big.tobytes()).save(tmp_path / "grey.tif")
    assert_quadrants(sent(tmp_path / "grey.tif"), [(grey, grey, grey) for grey in (0, 64, 128, 255)], tolerance=3)


@pytest.mark.parametrize("mode", ["RGB", "CMYK"])
def test_a_broken_colour_profile_is_as_good_as_none(mode: str, tmp_path: Path) -> None:
    quadrants().convert(mode).save(tmp_path / "profile.jpg", icc_profile=b"not a profile at all", quality=95)
    assert_quadrants(sent(tmp_path / "profile.jpg"), tolerance=20)


def test_an_animation_that_opens_on_nothing(tmp_path: Path) -> None:
    nothing = Pillow.new("RGBA", (80, 60), (0, 0, 0, 0))
    nothing.save(
        tmp_path / "late.webp", save_all=True, append_images=[quadrants().convert("RGBA")], duration=100, lossless=True
    )
    prepared = prepare(tmp_path / "late.webp")
    assert_quadrants(pixels(prepared.parts[0]))  # type: ignore[arg-type]
    assert [(notice.key, notice.facts["frames"]) for notice in prepared.notices] == [("media-note-one-frame", 2)]


def test_a_strip_keeps_its_shape_and_is_padded_on_white(tmp_path: Path) -> None:
    Pillow.new("RGB", (30000, 3), RED).save(tmp_path / "strip.png")
    strip = sent(tmp_path / "strip.png")
    assert strip.size == (8192, 28)
    assert_colour(strip, 0.5, 0.48, RED, 80)
    assert_colour(strip, 0.5, 0.05, (255, 255, 255), 4)


def test_a_legal_picture_too_large_for_its_format(tmp_path: Path) -> None:
    """libwebp takes 16 bytes a pixel: 42 Mpx would be 680 MB."""
    Pillow.new("RGB", (7000, 6000), RED).save(tmp_path / "huge.webp", lossless=True, quality=0, method=0)
    with pytest.raises(MediaError) as refusal:
        prepare(tmp_path / "huge.webp")
    assert refusal.value.key == "media-too-large"
    assert refusal.value.facts == {"width": 7000, "height": 6000, "format": "WEBP", "limit": 34}


@pytest.mark.parametrize("suffix", [".jpg", ".png", ".gif", ".webp", ".tif", ".bmp", ".avif"])
@pytest.mark.parametrize("share", [0.02, 0.5])
def test_cut_short(suffix: str, share: float, tmp_path: Path) -> None:
    noise = Pillow.fromarray(np.random.default_rng(1).integers(0, 255, (90, 120, 3), np.uint8))
    file = io.BytesIO()
    noise.save(file, {".jpg": "JPEG", ".tif": "TIFF"}.get(suffix, suffix[1:]))
    whole = file.getvalue()
    path = tmp_path / f"cut{suffix}"
    path.write_bytes(whole[: max(24, int(len(whole) * share))])
    with pytest.raises(MediaError) as refusal:
        prepare(path)
    assert refusal.value.key == "media-truncated"


def test_what_is_no_picture(tmp_path: Path) -> None:
    (tmp_path / "a.jpg").write_bytes(b"RIFF\0\0\0\0WAVEfmt ")
    with pytest.raises(MediaError) as refusal:
        prepare(tmp_path / "a.jpg")
    assert (refusal.value.key, refusal.value.facts["seen"]) == ("media-unsupported-format", "WAV")
    with pytest.raises(MediaError) as refusal:
        prepare(tmp_path / "gone.jpg")
    assert refusal.value.key == "media-gone"
