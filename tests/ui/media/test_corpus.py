"""Every hostile file gives its expected value or its expected error, in both languages."""

from __future__ import annotations

from pathlib import Path

import pytest
from PIL import Image as Pillow

from tests.ui.media.corpus import COPIED, SHARED, Item, items, judge
from ui.media.report import report


def _parameters(folder: Path, *marks):
    return [pytest.param(item, id=item.id, marks=marks) for item in items(folder) if not item.row.get("on_demand")]


EVERYWHERE = _parameters(COPIED)
FULL = _parameters(SHARED, pytest.mark.shared) or [
    pytest.param(None, marks=[pytest.mark.shared, pytest.mark.skip(reason="no ../shared/corpus beside the checkout")])
]


@pytest.mark.filterwarnings("ignore:Corrupt EXIF")
@pytest.mark.parametrize("item", [*EVERYWHERE, *FULL])
def test_becomes_what_the_manifest_says(item: Item) -> None:
    judge(item)


@pytest.mark.filterwarnings("ignore:Corrupt EXIF")
@pytest.mark.parametrize("item", [*EVERYWHERE, *FULL])
def test_is_told_by_its_content_in_both_languages(item: Item, tmp_path: Path) -> None:
    told = report(item.path, item.row.get("upload_name"), out=tmp_path / "out")
    if told["ok"]:
        assert item.expect["ok"] or any(outcome["ok"] for outcome in item.row.get("also_acceptable", []))
        assert told["kind"] == ("audio" if item.id == "vid_audio_only" else item.kind)
        assert len(list((tmp_path / "out").iterdir())) == len(told["parts"]) > 0
    else:
        assert item.allows(told["error_kind"])
        assert told["kind"] in (item.kind, None)
    if not told["ok"] or told["notices"]:
        assert any("\u4e00" <= letter <= "\u9fff" for letter in told["message_zh"])
        assert told["message_en"].isascii()
        assert "—" not in told["message_zh"] + told["message_en"], "a fact nobody gave"
        assert "Error" not in told["message_en"]
    assert [path.name for path in tmp_path.iterdir()] in ([], ["out"]), "a file outside the folder that was asked for"


@pytest.mark.filterwarnings("ignore::PIL.Image.DecompressionBombWarning")
def test_the_108_megapixel_photo(tmp_path: Path) -> None:
    """Made here: the manifest lists it as made on demand."""
    photo = tmp_path / "img_108mp.jpg"
    tiny = Pillow.new("RGB", (2, 2))
    tiny.putdata([(220, 40, 40), (40, 170, 70), (40, 80, 220), (240, 210, 50)])
    tiny.resize((12000, 9000), Pillow.Resampling.NEAREST).save(photo)
    quadrants = {"tl": [220, 40, 40], "tr": [40, 170, 70], "bl": [40, 80, 220], "br": [240, 210, 50]}
    expect = {"ok": True, "width": 12000, "height": 9000, "quadrants": quadrants, "tol": 24}
    judge(Item({"id": "img_108mp", "kind": "image", "path": photo.name, "expect": expect}, tmp_path))
