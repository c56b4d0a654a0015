"""How long a clip takes to become interleaved parts, against the ``ffmpeg`` program doing the same extraction.

60 s of 1080p30 H.264 + AAC → 60 JPEGs of 796x448 and the sound at 16 kHz. Two encodings: with B-pictures, as most editors and sites
write them, and without, as phones do (there nothing can be skipped while decoding). Runs alternate, so that what else the machine
does falls on both; the ratio is taken pair by pair.
"""

from __future__ import annotations

import json
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable
from pathlib import Path

from ui.media.video import interleaved

SECONDS = 60
PAIRS = 3  # some three minutes in all on two idle cores; the median ignores one bad run
ENCODINGS = {"b_pictures": "3", "no_b_pictures": "0"}


def measure(pairs: int = PAIRS) -> dict:
    """``video_prep_ratio``: median and spread of the encoding that does worse, then the figures of both."""
    found: dict[str, dict] = {}
    with tempfile.TemporaryDirectory() as folder:
        for name, b_pictures in ENCODINGS.items():
            clip = Path(folder, f"{name}.mp4")
            _make(clip, b_pictures)
            found[name] = _compared(clip, Path(folder), pairs)
    worse = max(found.values(), key=lambda run: run["median"])
    return {"video_prep_ratio": {"median": worse["median"], "spread": worse["spread"], **found}}


def _compared(clip: Path, folder: Path, pairs: int) -> dict:
    interleaved(clip)  # both programs find the file in the page cache and themselves loaded
    _extract(clip, folder)
    ours, theirs = [], []
    for turn in range(pairs):
        both = [(ours, lambda: interleaved(clip)), (theirs, lambda: _extract(clip, folder))]
        for times, run in both if turn % 2 else reversed(both):
            times.append(_timed(run))
    ratios = [mine / other for mine, other in zip(ours, theirs, strict=True)]
    return {
        "median": round(statistics.median(ratios), 3),
        "spread": [round(min(ratios), 3), round(max(ratios), 3)],
        "ours_s": round(statistics.median(ours), 2),
        "ffmpeg_s": round(statistics.median(theirs), 2),
    }


def _timed(run: Callable[[], object]) -> float:
    start = time.perf_counter()
    run()
    return time.perf_counter() - start


def _make(clip: Path, b_pictures: str) -> None:
    """A moving test picture with film grain (a plain one decodes unrealistically fast) and a tone."""
    _ffmpeg(
        *("-f", "lavfi", "-i", f"testsrc2=size=1920x1080:rate=30:duration={SECONDS},noise=alls=6:allf=t"),
        *("-f", "lavfi", "-i", f"sine=frequency=440:sample_rate=48000:duration={SECONDS}"),
        *("-c:v", "libx264", "-preset", "veryfast", "-b:v", "8M", "-bf", b_pictures, "-pix_fmt", "yuv420p"),
        *("-c:a", "aac", "-b:a", "128k", str(clip)),
    )


def _extract(clip: Path, folder: Path) -> None:
    _ffmpeg(
        *("-i", str(clip), "-map", "0:v", "-vf", "fps=1,scale=796:448", "-q:v", "3", str(folder / "%03d.jpg")),
        *("-map", "0:a", "-ac", "1", "-ar", "16000", str(folder / "sound.wav")),
    )


def _ffmpeg(*arguments: str) -> None:
    subprocess.run(["ffmpeg", "-nostdin", "-y", "-loglevel", "error", *arguments], check=True)


if __name__ == "__main__":
    json.dump(measure(int(sys.argv[1]) if len(sys.argv) > 1 else PAIRS), sys.stdout, indent=2)
