from __future__ import annotations

import pytest

from ui.media.sizes import FRAME_SIDE, MAX_PIXELS, MAX_SIDE, MIN_SIDE, fit


@pytest.mark.parametrize(
    "size", [(12000, 9000), (12000, 800), (1, 1), (3, 200), (640, 480), (20000, 9), (1, 60000), (853, 479)]
)
def test_bounded_in_the_same_shape(size: tuple[int, int]) -> None:
    width, height = fit(*size)
    assert width * height <= MAX_PIXELS * 1.001
    assert max(width, height) <= MAX_SIDE
    if min(width, height) > 1:  # a strip one pixel across has no shape to keep
        assert abs((width / height) / (size[0] / size[1]) - 1) < 0.6 / min(width, height) + 0.001


def test_a_picture_that_fits_is_left_alone() -> None:
    assert fit(1000, 800) == (1000, 800)
    assert fit(640, 400, short=FRAME_SIDE) == (640, 400)


def test_tiny_sides_are_enlarged() -> None:
    assert fit(1, 1) == (MIN_SIDE, MIN_SIDE)
    assert fit(3, 200) == (MIN_SIDE, 1867)


def test_the_short_side_of_a_frame() -> None:
    assert fit(1920, 1080, short=FRAME_SIDE) == (796, 448)
    assert fit(1080, 1920, short=FRAME_SIDE) == (448, 796)
