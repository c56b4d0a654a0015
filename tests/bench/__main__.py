"""``make bench``: every figure of the README's table, measured now on this machine. ``--soak`` runs the long ones instead.

Each module of this package has one ``measure()`` that returns ``{key: value}`` (values may nest: ``median``, ``p95``, ``spread``).
Nothing here judges by exit code: the table prints the target beside each figure, and ``build/bench.json`` keeps all of it.
"""

from __future__ import annotations

import argparse
import json
import os
import platform
import subprocess
import sys
import time
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

BUILD = Path(__file__).resolve().parent.parent.parent / "build"
MODULES = ("speech", "video_prep", "rehearsal", "page", "launch", "live", "live_browser")
SOAK_MODULES = ("soak", "live_soak", "live_browser_long")
TARGETS = {
    "first_sound_ms.median": 40.0,
    "first_sound_ms.p95": 120.0,
    "first_sound_ratio": 0.10,
    "underruns.jitter": 0.0,
    "underruns.stalls": 0.0,
    "stop_to_silence_ms.p95": 30.0,
    "video_prep_ratio.median": 1.5,
    "rehearsal_first_audio_s.zh": 1.5,
    "rehearsal_first_audio_s.en": 1.5,
    "rehearsal_media_first_audio_s": 5.0,
    "rehearsal_rss_mb": 1400.0,
    "app_rss_mb": 350.0,
    "page_kb": 900.0,
    "external_urls": 0.0,
    "relay_added_ms.p50": 2.0,
    "relay_added_ms.p99": 15.0,
    "relay_ratio": 3.0,
    "relay_cpu_pct_per_session": 2.0,
    "resume_gap_ms.p50": 700.0,
    "rehearsal_reply_s": 3.0,
    "flush_ms.p95": 30.0,
    "mic_frames_lost.quiet": 0.0,
    "mic_frames_lost.stalls": 0.0,
    "speech_bytes_lost.quiet": 0.0,
    "speech_bytes_lost.stalls": 0.0,
    "mic_frames_lost_long.quiet": 0.0,
    "mic_frames_lost_long.stalls": 0.0,
    "speech_bytes_lost_long.quiet": 0.0,
    "speech_bytes_lost_long.stalls": 0.0,
    "launch_status_ratio": 2.5,
    "up_wait_adds_s": 1.0,
    "watch_start_pct": 0.5,
    "watch_log_pct": 0.5,
    "explain_50mb_s": 5.0,
    "explain_50mb_peak_mb": 150.0,
    "growth_pct": 5.0,
    "live_growth_pct": 5.0,
}
"""At most this much (issue table); a key without a target is a by-figure that explains another."""


def flat(figures: dict[str, Any], prefix: str = "") -> dict[str, Any]:
    """Nested figures with dotted keys."""
    rows: dict[str, Any] = {}
    for key, value in figures.items():
        name = f"{prefix}{key}"
        if isinstance(value, dict):
            rows |= flat(value, f"{name}.")
        else:
            rows[name] = value
    return rows


def table(figures: dict[str, Any]) -> str:
    lines = [f"{'figure':<44} {'measured':>12} {'target':>10}"]
    for key, value in flat(figures).items():
        target = TARGETS.get(key)
        shown = f"{value:.3g}" if isinstance(value, float) else str(value)
        mark = "" if target is None else f"<= {target:g}"
        over = "  over" if target is not None and isinstance(value, int | float) and value > target else ""
        lines.append(f"{key:<44} {shown:>12} {mark:>10}{over}")
    return "\n".join(lines)


def measured(name: str) -> dict[str, Any]:
    """The figures of one module. Each has a process of its own: a child's peak memory counts from its parent's size."""
    code = f"import json, tests.bench.{name} as module; print(); print(json.dumps(module.measure()))"
    printed = subprocess.run(
        [sys.executable, "-c", code], cwd=BUILD.parent, stdout=subprocess.PIPE, text=True, check=True
    )
    return json.loads(printed.stdout.splitlines()[-1])


def main() -> int:
    parser = argparse.ArgumentParser(prog="python -m tests.bench", description=__doc__)
    parser.add_argument("--soak", action="store_true", help="the long runs (growth) instead of the short ones")
    parser.add_argument("only", nargs="*", metavar="MODULE", help="run only these, for example: live")
    options = parser.parse_args()
    figures: dict[str, Any] = {}
    for name in options.only or (SOAK_MODULES if options.soak else MODULES):
        began = time.monotonic()
        print(f"{name} ...", file=sys.stderr, flush=True)
        figures |= measured(name)
        print(f"{name}: {time.monotonic() - began:.0f} s", file=sys.stderr, flush=True)
    machine = {
        "date": datetime.now(UTC).isoformat(timespec="seconds"),
        "machine": f"{os.cpu_count()} x {platform.machine()}",
        "python": platform.python_version(),
        "load_1min": os.getloadavg()[0],
    }
    BUILD.mkdir(exist_ok=True)
    path = BUILD / ("soak.json" if options.soak else "bench.json")
    path.write_text(json.dumps(machine | figures, indent=2, ensure_ascii=False) + "\n", encoding="utf-8")
    print(table(figures))
    print(f"load {machine['load_1min']:.1f} at the end; written to {path.relative_to(BUILD.parent)}")
    return 0


if __name__ == "__main__":
    raise SystemExit(main())
