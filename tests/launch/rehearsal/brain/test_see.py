import io

import numpy as np
import pytest
from PIL import Image

from launch.rehearsal.brain.brain import UndecodableMedia
from launch.rehearsal.brain.describe_en import compared as compared_en
from launch.rehearsal.brain.describe_en import told as told_en
from launch.rehearsal.brain.describe_zh import compared, told
from launch.rehearsal.brain.focus import Focus
from launch.rehearsal.brain.see import change, look, open_picture


def plain(colour: str, size: tuple[int, int] = (64, 48)) -> Image.Image:
    return Image.new("RGB", size, colour)


@pytest.mark.parametrize(
    ("colour", "name"),
    [
        *[(name, name) for name in ("black", "white", "grey", "red", "orange", "yellow", "green", "cyan", "blue")],
        *[(name, name) for name in ("purple", "pink", "brown")],
        *[("navy", "blue"), ("maroon", "red"), ("salmon", "pink"), ("lightgrey", "grey"), ("saddlebrown", "brown")],
    ],
)
def test_colours_are_called_by_their_names(colour: str, name: str) -> None:
    assert look(plain(colour)).colours == ((name, 1.0),)


def test_each_quarter_is_seen() -> None:
    picture = plain("red", (200, 100))
    for colour, corner in (("green", (100, 0)), ("blue", (0, 50)), ("yellow", (100, 50))):
        picture.paste(plain(colour, (100, 50)), corner)
    seen = look(picture)
    assert seen.quadrants == ("red", "green", "blue", "yellow")
    assert (seen.width, seen.height) == (200, 100)
    assert "右上角绿色" in told(seen, Focus("all"), True)
    assert told(seen, Focus("quadrant", 3), True) == "图的右下角主要是黄色"
    assert told_en(seen, Focus("quadrant", 2), True) == "The bottom left of the picture is mostly blue"


def test_brightness_and_change() -> None:
    dark, light = look(plain("black")), look(plain("white"))
    assert (dark.brightness, light.brightness) == (0.0, 1.0)
    assert change(dark, light) == 1.0
    assert change(dark, dark) == 0.0
    assert "第二张更亮" in compared(dark, light)
    assert compared_en(light, light) == "The two pictures are almost the same"


def test_pictures_are_upright_and_transparency_is_white() -> None:
    turned = io.BytesIO()
    exif = Image.Exif()
    exif[0x0112] = 6  # to be shown a quarter turn clockwise
    plain("red", (40, 20)).save(turned, "JPEG", exif=exif)
    assert open_picture(turned.getvalue()).size == (20, 40)
    clear = io.BytesIO()
    Image.new("RGBA", (8, 8), (0, 0, 0, 0)).save(clear, "PNG")
    assert np.asarray(open_picture(clear.getvalue())).min() == 255


@pytest.mark.parametrize("data", [b"", b"no picture", b"\x89PNG\r\n\x1a\n" + b"0" * 40])
def test_what_is_no_picture_is_said(data: bytes) -> None:
    with pytest.raises(UndecodableMedia) as caught:
        open_picture(data)
    assert caught.value.kind == "image"
