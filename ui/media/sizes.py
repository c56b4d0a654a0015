"""How large a picture is sent."""

from __future__ import annotations

from math import sqrt

MAX_PIXELS = 1_800_000  # the model looks at nine slices of 448 x 448 at most: 1.8 Mpx
MIN_SIDE = 28  # two of the vision tower's 14-pixel patches; servers have died on sides of 1-3 px (vllm#8954)
MAX_SIDE = 8192  # of a strip, far past what nine slices can show; JPEG itself ends at 65500
FRAME_SIDE = 448  # the short side of a video's picture: the model does not slice those, so it sees 448 x 448


def fit(width: int, height: int, *, short: int | None = None) -> tuple[int, int]:
    """The size to send for a picture of ``width`` x ``height``: the same shape, bounded, tiny sides enlarged.

    ``short`` bounds the short side as well. A strip so thin that its shape cannot be kept within the bounds keeps its shape along
    its length and comes out less than ``MIN_SIDE`` across: the caller pads it on white.
    """
    scale = min(1.0, sqrt(MAX_PIXELS / (width * height)), MAX_SIDE / max(width, height))
    if short is not None:
        scale = min(scale, short / min(width, height))
    if min(width, height) * scale < MIN_SIDE:
        grown = min(MIN_SIDE / min(width, height), sqrt(MAX_PIXELS / (width * height)), MAX_SIDE / max(width, height))
        scale = max(scale, grown)
    return max(1, round(width * scale)), max(1, round(height * scale))
