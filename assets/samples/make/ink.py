"""Type and colours that the drawn samples share. Needs Noto Sans CJK (OFL-1.1; Debian: ``fonts-noto-cjk``)."""

from __future__ import annotations

from functools import cache
from pathlib import Path

from PIL import ImageFont

FONTS = Path("/usr/share/fonts/opentype/noto")
SIMPLIFIED = 2  # the face of the collection whose glyphs are those of mainland China

PAPER = "#ffffff"
INK = "#14181c"
GREY = "#6b747c"
RULE = "#d8dde1"
TEAL = "#0c7c71"
AMBER = "#e8a317"
RED = "#d43a2f"
GREEN = "#1f9d55"
BLUE = "#2f6fd4"
NIGHT = "#1d2530"


@cache
def font(size: int, *, bold: bool = False) -> ImageFont.FreeTypeFont:
    """Noto Sans CJK SC at ``size`` px. Raises ``OSError`` when the package is not installed."""
    return ImageFont.truetype(FONTS / f"NotoSansCJK-{'Bold' if bold else 'Regular'}.ttc", size, index=SIMPLIFIED)
