"""A contact sheet: pictures side by side, each under its name."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from PIL import Image, ImageDraw, ImageFont

MARGIN, LABEL = 24, 30
GROUND, INK = "#8b949b", "#101314"  # neither page theme's ground, so that the edges of both show


def save(path: Path, pictures: Sequence[tuple[str, Path]], *, width: int, columns: int) -> None:
    """Lay ``(name, picture)`` out in rows of ``columns``, each scaled to ``width`` px."""
    cells = [(name, _scaled(picture, width)) for name, picture in pictures]
    rows = [cells[start : start + columns] for start in range(0, len(cells), columns)]
    heights = [max(picture.height for _, picture in row) + LABEL + MARGIN for row in rows]
    sheet = Image.new("RGB", (MARGIN + columns * (width + MARGIN), MARGIN + sum(heights)), GROUND)
    pen, font = ImageDraw.Draw(sheet), ImageFont.load_default(20)
    y = MARGIN
    for row, height in zip(rows, heights, strict=True):
        for column, (name, picture) in enumerate(row):
            x = MARGIN + column * (width + MARGIN)
            pen.text((x, y), name, INK, font)
            sheet.paste(picture, (x, y + LABEL))
        y += height
    sheet.save(path, optimize=True)


def _scaled(path: Path, width: int) -> Image.Image:
    with Image.open(path) as picture:
        return picture.convert("RGB").resize(
            (width, round(picture.height * width / picture.width)), Image.Resampling.LANCZOS
        )
