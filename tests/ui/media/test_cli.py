"""``python -m ui.media`` as a user runs it, and the sentences behind every key."""

from __future__ import annotations

import json
import re
import subprocess
import sys
from pathlib import Path

import pytest

from launch.faults import catalogue
from tests.ui.media.corpus import COPIED, REPO

KEYS = {
    "kind",
    "ok",
    "width",
    "height",
    "duration_s",
    "frames_1fps",
    "has_audio",
    "error_kind",
    "message_zh",
    "message_en",
    "parts",
}


def run(*arguments: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [sys.executable, "-m", "ui.media", *arguments], cwd=REPO, capture_output=True, text=True, timeout=60
    )


def test_a_clip_as_json_and_files(tmp_path: Path) -> None:
    done = run(
        str(COPIED / "IMG_1001.MOV"), "--name", "../../etc/cron.d/x.mov", "--json", "--out", str(tmp_path / "out")
    )
    told = json.loads(done.stdout)
    assert done.returncode == 0
    assert told.keys() >= KEYS
    assert (told["kind"], told["ok"], told["width"], told["height"], told["name"]) == ("video", True, 120, 160, "x.mov")
    assert [part["kind"] for part in told["parts"]] == ["image", "audio"] * 3
    assert sorted(path.name for path in (tmp_path / "out").iterdir()) == [part["file"] for part in told["parts"]]
    assert all((tmp_path / "out" / part["file"]).stat().st_size == part["bytes"] for part in told["parts"])
    assert [path.name for path in tmp_path.iterdir()] == ["out"]


def test_a_refusal_in_words() -> None:
    done = run(str(COPIED / "readme.mp4"))
    assert done.returncode == 1
    assert "M3U playlist" in done.stdout
    assert "Traceback" not in done.stdout + done.stderr


def test_a_file_that_is_not_there() -> None:
    told = json.loads(run("/nowhere/at all.png", "--json").stdout)
    assert (told["ok"], told["error_kind"], told["kind"]) == (False, "gone", None)


@pytest.mark.parametrize("name", ["a/b\\c\n.png", "x" * 300 + ".png"])
def test_a_shown_name_is_one_short_line(name: str) -> None:
    told = json.loads(run(str(COPIED / "xray.png"), "--name", name, "--json").stdout)
    assert len(told["name"]) <= 80
    assert told["name"].endswith(".png")
    assert not set(told["name"]) & set("/\\\n")


def test_every_key_has_its_sentences() -> None:
    source = "".join(path.read_text(encoding="utf-8") for path in sorted((REPO / "ui" / "media").glob("*.py")))
    used = set(re.findall(r'"(media-[a-z-]+[a-z])"', source))
    assert len(used) > 15
    for key in used:
        fault = catalogue()[key]
        assert fault.where == "media"
        assert fault.signature.startswith("cond: ")
        for text in (fault.cause, fault.cure):
            assert set(text) == {"zh", "en"}
