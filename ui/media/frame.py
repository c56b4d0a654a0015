"""One decoded frame → the picture as it is meant to be seen."""

from __future__ import annotations

import numpy as np
from av import VideoFrame
from av.sidedata.sidedata import SideDataContainer, Type
from av.video.reformatter import Interpolation
from PIL import Image

from ui.media.sizes import FRAME_SIDE, fit


def upright(frame: VideoFrame, ratio: float, *, even: bool = False) -> Image.Image:
    """``frame`` as RGB, at most 448 on the short side, turned as its display matrix says, transparent parts on white.

    ``ratio``: width of a stored pixel over its height; the picture is stretched to its true shape. ``even``: both sides even, as
    H.264 wants them. Of an interlaced frame one field is used: two moments in one picture are a comb.
    """
    matrix = _matrix(frame)
    sideways = _lies(matrix)
    size = fit(*_stretched(upright_size(frame), 1 / ratio if sideways else ratio), short=FRAME_SIDE)
    if even:
        size = (size[0] // 2 * 2, size[1] // 2 * 2)
    width, height = reversed(size) if sideways else size
    rows = frame.height if frame.interlaced_frame else height
    clear = any(component.is_alpha for component in frame.format.components)
    scaled = frame.reformat(width, rows, "rgba" if clear else "rgb24", interpolation=Interpolation.AREA).to_ndarray()
    if frame.interlaced_frame:
        scaled = scaled[::2]
    picture = Image.fromarray(np.ascontiguousarray(_turned(scaled, matrix, sideways)))
    if clear:
        picture = Image.alpha_composite(Image.new("RGBA", picture.size, "white"), picture).convert("RGB")
    return picture if picture.size == size else picture.resize(size, Image.Resampling.BICUBIC)


def upright_size(frame: VideoFrame) -> tuple[int, int]:
    """Width and height of the whole frame once turned, in stored pixels."""
    return (frame.height, frame.width) if _lies(_matrix(frame)) else (frame.width, frame.height)


def stored_as_shown(frame: VideoFrame, ratio: float) -> bool:
    """Whether a decoder that knows nothing of turns and pixel shapes shows ``frame`` right."""
    matrix = _matrix(frame)
    return ratio == 1 and not _lies(matrix) and matrix[0, 0] > 0 and matrix[1, 1] > 0


def _lies(matrix: np.ndarray) -> bool:
    """Whether a quarter turn is nearer to ``matrix`` than none or a half."""
    return bool(abs(matrix[0, 1]) > abs(matrix[0, 0]))


def _stretched(size: tuple[int, int], ratio: float) -> tuple[int, int]:
    """Enlarges the side that pixel aspect shortens, so that no line is lost."""
    width, height = size
    return (round(width * ratio), height) if ratio >= 1 else (width, round(height / ratio))


def _matrix(frame: VideoFrame) -> np.ndarray:
    """The 2 x 2 of the display matrix (ISO 14496-12, 8.2.2: x' = a x + c y, y' = b x + d y), as [[a, b], [c, d]]."""
    # not `frame.side_data`: that ties a frame and its side data into a cycle, and a decoder's memory hangs on every such frame
    data = SideDataContainer(frame).get(Type.DISPLAYMATRIX)  # pyright: ignore[reportCallIssue]
    if data is None:
        return np.eye(2)
    return np.frombuffer(bytes(data), "=i4").reshape(3, 3)[:2, :2]


def _turned(picture: np.ndarray, matrix: np.ndarray, sideways: bool) -> np.ndarray:
    """The quarter turn or mirroring nearest to ``matrix``; cameras write no others."""
    if sideways:
        picture, across, down = picture.swapaxes(0, 1), matrix[1, 0], matrix[0, 1]
    else:
        across, down = matrix[0, 0], matrix[1, 1]
    return picture[:: -1 if down < 0 else 1, :: -1 if across < 0 else 1]
