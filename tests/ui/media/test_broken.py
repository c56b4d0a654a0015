"""Files broken at random places: whatever happens, it is a result or a sentence, never another exception."""

from __future__ import annotations

from contextlib import suppress
from pathlib import Path

import numpy as np
import pytest

from launch.errors import MediaError
from tests.ui.media.corpus import COPIED, Item, items
from ui.media.report import PREPARE, report

ROUNDS = 12  # a file; enough that the readers' own exceptions of every kind show up within seconds


def broken(data: bytes, dice: np.random.Generator) -> bytes:
    """``data`` with some bytes changed, a piece cut out, doubled or overwritten, or its end missing."""
    if not data:
        return data
    start, end = sorted(int(place) for place in dice.integers(0, len(data), 2))
    match dice.integers(0, 5):
        case 0:
            changed = bytearray(data)
            for place in dice.integers(0, len(data), 1 + len(data) // 500):
                changed[place] = dice.integers(0, 256)
            return bytes(changed)
        case 1:
            return data[:start] + data[end:]
        case 2:
            return data[:end] + data[start:end] + data[end:]
        case 3:
            return data[:start] + bytes([dice.integers(0, 256)]) * (end - start) + data[end:]
        case _:
            return data[: end + 1]


@pytest.mark.filterwarnings("ignore::UserWarning")
@pytest.mark.parametrize("item", items(COPIED), ids=lambda item: item.id)
def test_only_sentences_come_out(item: Item, tmp_path: Path) -> None:
    whole = item.path.read_bytes()
    for seed in range(ROUNDS):
        upload = tmp_path / "upload"
        upload.write_bytes(broken(whole, np.random.default_rng([seed, len(whole)])))
        told = report(upload)
        assert told["ok"] or (told["message_zh"] and told["message_en"])
        for prepare in PREPARE.values():  # each box must bear what belongs into another
            with suppress(MediaError):
                assert prepare(upload, None).parts
