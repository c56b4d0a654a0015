"""The sample cards and their files: what a tab promises is there, opens, is small, and has its licence written down."""

from __future__ import annotations

import re
from collections import Counter
from pathlib import Path

import av
import pytest
import yaml
from PIL import Image

ASSETS = Path(__file__).resolve().parent.parent / "assets"
SAMPLES = ASSETS / "samples"
ROWS = yaml.safe_load((SAMPLES / "samples.yaml").read_text(encoding="utf-8"))
TABS = ("text_speech", "image", "audio", "video", "multi_turn")
LANGUAGES = ("zh", "en")

KINDS = {".png": "image", ".jpg": "image", ".flac": "audio", ".wav": "audio", ".mp4": "video"}
KILOBYTES = {"image": 200, "audio": 300, "video": 500}  # a press of a sample must not wait for the tunnel
HAN = re.compile(r"[\u3400-\u9fff]")


def turns(row: dict) -> list[dict]:
    return row.get("turns") or [{"prompt": row["prompt"], "files": row["files"]}]


def media(folder: Path) -> list[Path]:
    return sorted(path for path in folder.iterdir() if path.suffix in KINDS)


def licence_rows(folder: Path) -> dict[str, list[str]]:
    """The README's table by file: what, source, licence, how made."""
    lines = (folder / "README.md").read_text(encoding="utf-8").splitlines()
    cells = [[cell.strip() for cell in line.strip("|").split("|")] for line in lines if line.startswith("| `")]
    return {row[0].strip("`"): row[1:] for row in cells}


def test_every_tab_has_four_cards_in_both_languages():
    assert {row["tab"] for row in ROWS} == set(TABS)
    count = Counter(row["tab"] for row in ROWS)
    assert all(count[tab] >= 4 for tab in TABS), count
    assert {(row["tab"], row["language"]) for row in ROWS} == {(tab, lang) for tab in TABS for lang in LANGUAGES}


def test_ids_are_unique():
    assert [name for name, times in Counter(row["id"] for row in ROWS).items() if times > 1] == []


@pytest.mark.parametrize("row", ROWS, ids=lambda row: row["id"])
def test_card_is_complete(row):
    for field in ("title", "note"):
        assert set(row[field]) == set(LANGUAGES)
        assert HAN.search(row[field]["zh"])
        assert not HAN.search(row[field]["en"])
        assert 0 < len(row[field]["zh"]) <= 14, "one line on a card"
        assert 0 < len(row[field]["en"]) <= 25, "one line on a card"
    assert row["speech"] is True
    if row["tab"] == "multi_turn":
        assert len(row["turns"]) >= 2
        assert not row.keys() & {"prompt", "files"}
    for turn in turns(row):
        prompt = turn["prompt"]
        assert prompt or row["tab"] == "audio", "only a recording may ask by itself"
        assert not prompt or bool(HAN.search(prompt)) == (row["language"] == "zh")


@pytest.mark.parametrize("row", ROWS, ids=lambda row: row["id"])
def test_card_sends_the_kind_of_its_tab(row):
    files = [name for turn in turns(row) for name in turn["files"]]
    assert all(Path(name).name == name and (SAMPLES / name).is_file() for name in files)
    if row["tab"] in ("image", "audio", "video"):
        assert [KINDS[Path(name).suffix] for name in files] == [row["tab"]]
    if row["tab"] == "text_speech":
        assert files == []


def test_multi_turn_keeps_media_in_history():
    first = {KINDS[Path(name).suffix] for row in ROWS if "turns" in row for name in row["turns"][0]["files"]}
    assert {"image", "audio"} <= first


@pytest.mark.parametrize("path", media(SAMPLES) + media(ASSETS / "voices"), ids=lambda path: path.name)
def test_file_opens_and_is_small(path):
    kind = KINDS[path.suffix]
    assert path.stat().st_size <= KILOBYTES[kind] * 1000
    if kind == "image":
        with Image.open(path) as picture:
            picture.load()
            assert min(picture.size) >= 300
        return
    with av.open(str(path)) as container:
        seconds = container.duration / av.time_base
        (sound,) = container.streams.audio
        assert sound.channels == 1
        assert sound.rate in (16_000, 24_000)
        assert 3 <= seconds <= 8.1  # the audio of an MP4 ends on a whole AAC frame, a little after the picture
        if kind == "video":
            (picture,) = container.streams.video
            assert picture.codec_context.name == "h264"
            assert sound.codec_context.name == "aac"
            assert max(picture.width, picture.height) <= 640
            frames = sum(1 for _ in container.decode(picture))
            assert frames == pytest.approx(seconds * float(picture.average_rate), abs=2)
            return
        loudest = max(abs(int(frame.to_ndarray().min())) for frame in container.decode(sound))
        assert 0.2 * 2**15 < loudest < 2**15, "heard, and not clipped"


@pytest.mark.parametrize("folder", [SAMPLES, ASSETS / "voices"], ids=lambda folder: folder.name)
def test_every_file_has_its_licence_and_no_row_is_stale(folder):
    rows = licence_rows(folder)
    assert set(rows) == {path.name for path in media(folder)}
    assert all(cell for cells in rows.values() for cell in cells)
    assert all(len(cells) == 4 for cells in rows.values())


def test_no_file_is_an_orphan():
    used = {name for row in ROWS for turn in turns(row) for name in turn["files"]}
    assert {path.name for path in media(SAMPLES)} == used
    known = {"samples.yaml", "README.md", "make", "__pycache__"}
    assert {path.name for path in SAMPLES.iterdir()} - used == known & {path.name for path in SAMPLES.iterdir()}


def test_photograph_is_the_one_whose_licence_was_read():
    """The rocket is byte for byte that of the wheel whose docstring puts it in the public domain."""
    data = pytest.importorskip("skimage.data", reason="scikit-image stands in requirements-dev.txt")
    source = Path(data.__file__).parent / "rocket.jpg"
    assert (SAMPLES / "rocket.jpg").read_bytes() == source.read_bytes()
    assert "public domain" in (data.rocket.__doc__ or "")
    assert "CC0" in (data.chelsea.__doc__ or "")
    assert "CC0" in (data.coffee.__doc__ or "")
