"""The app as a process of its own, with its rehearsal engine."""

from __future__ import annotations

import re
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
ADDRESS = re.compile(r"http://127\.0\.0\.1:(\d+)")
END_S = 20  # the app promises to be gone within two


@contextmanager
def app(runs: Path, *rehearsal: str) -> Iterator[str]:
    """``app.py`` on a free port; its address once the page is open. ``rehearsal``: arguments for the engine.

    Raises ``RuntimeError`` with what the app said when it ends before that.
    """
    command = [sys.executable, "app.py", "--port", "0", "--runs", str(runs)]
    command += [f"--rehearsal-args={' '.join(rehearsal)}"] if rehearsal else []
    process = subprocess.Popen(command, cwd=ROOT, stdout=subprocess.PIPE, text=True)
    try:
        assert process.stdout is not None
        said = ""
        for line in process.stdout:
            said += line
            if found := ADDRESS.search(line):
                yield found[0]
                return
        raise RuntimeError(f"the app ended before its page was open:\n{said}")
    finally:
        process.terminate()
        process.wait(END_S)
