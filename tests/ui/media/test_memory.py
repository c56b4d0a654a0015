"""What a 12000 x 9000 picture takes above an idle process that has everything imported."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest
from PIL import Image as Pillow

from tests.ui.media.corpus import REPO

LIMIT_MB = 600
PROBE = """
import re, sys
from pathlib import Path
from ui.media.image import prepare
def peak(): return int(re.search(r"VmHWM:\\s+(\\d+)", open("/proc/self/status").read()).group(1)) / 1024
idle = peak()
prepared = prepare(Path(sys.argv[1]))
print(prepared.width, prepared.height, peak() - idle)
"""


@pytest.mark.skipif(not Path("/proc/self/status").exists(), reason="peak memory is read from /proc")
@pytest.mark.parametrize(
    ("name", "mode", "options"), [("photo.jpg", "RGB", {}), ("scan.png", "RGB", {"compress_level": 1})]
)
def test_twelve_by_nine_thousand(name: str, mode: str, options: dict, tmp_path: Path) -> None:
    path = tmp_path / name
    Pillow.new(mode, (12000, 9000), "teal").save(
        path, **options
    )  # flat: what it takes is in its pixels, not in its bytes
    probe = subprocess.run(
        [sys.executable, "-W", "ignore", "-c", PROBE, str(path)],
        cwd=REPO,
        capture_output=True,
        text=True,
        check=True,
        timeout=120,
    )
    width, height, megabytes = probe.stdout.split()
    assert (width, height) == ("12000", "9000")
    assert float(megabytes) <= LIMIT_MB
