"""Reading: the words in a picture, by RapidOCR (PP-OCRv4, Chinese and English)."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from PIL import Image
from rapidocr_onnxruntime import RapidOCR

THREADS = 2  # the machine to serve has two cores
SURE = 0.8  # score from which a line is believed: below it the reader sees letters in foliage and fabric
FINDER_SIDE = 960  # pixels of the longer side when lines are looked for: measured, smaller loses 18 px print
LINE_HEIGHT = 48  # the reader scales every line to this height, so its work goes with the line's shape
BUDGET = 3200  # pixels of scaled line that are read: about 2.5 s of work, which is what the first sound can wait for


@dataclass(frozen=True)
class Reading:
    """``lines``: what stands in the picture, from top to bottom; ``unread``: how many more lines were seen but not read."""

    lines: tuple[str, ...] = ()
    unread: int = 0


class Reader:
    def __init__(self) -> None:
        self._engine = RapidOCR(
            use_cls=False,  # text upside down is not worth a third network
            det_limit_type="max",
            det_limit_side_len=FINDER_SIDE,
            intra_op_num_threads=THREADS,
            inter_op_num_threads=1,
        )

    def __call__(self, picture: Image.Image) -> Reading:
        """The largest lines first while the budget lasts, given in reading order."""
        boxes, _ = self._engine(_bgr(picture), use_det=True, use_cls=False, use_rec=False)
        lines = sorted((_Line.of(np.asarray(box, float)) for box in boxes or []), key=lambda line: -line.height)
        read: list[tuple[_Line, str]] = []
        spent, seen = 0.0, 0
        for line in lines:
            spent += LINE_HEIGHT * line.width / line.height
            if read and spent > BUDGET:
                break
            seen += 1
            found, _ = self._engine(_bgr(line.cut_from(picture)), use_det=False, use_cls=False, use_rec=True)
            read += [(line, text) for text, score in found or [] if float(score) >= SURE and text.strip()]
        read.sort(key=lambda pair: (pair[0].row, pair[0].left))
        return Reading(tuple(text for _, text in read), len(lines) - seen)


@dataclass(frozen=True)
class _Line:
    """A found line: its corners from the top left on, clockwise."""

    corners: np.ndarray
    width: float
    height: float

    @classmethod
    def of(cls, corners: np.ndarray) -> _Line:
        width = max(np.linalg.norm(corners[0] - corners[1]), np.linalg.norm(corners[3] - corners[2]), 1)
        height = max(np.linalg.norm(corners[0] - corners[3]), np.linalg.norm(corners[1] - corners[2]), 1)
        return cls(corners, float(width), float(height))

    @property
    def left(self) -> float:
        return float(self.corners[:, 0].min())

    @property
    def row(self) -> int:
        """Lines whose middles are within half a line of each other stand in one row."""
        return round(float(self.corners[:, 1].mean()) / max(self.height / 2, 1))

    def cut_from(self, picture: Image.Image) -> Image.Image:
        size = (round(self.width), round(self.height))
        top_left, top_right, bottom_right, bottom_left = self.corners
        quad = [*top_left, *bottom_left, *bottom_right, *top_right]
        return picture.transform(size, Image.Transform.QUAD, quad, Image.Resampling.BICUBIC)


def _bgr(picture: Image.Image) -> np.ndarray:
    return np.ascontiguousarray(np.asarray(picture)[:, :, ::-1])
