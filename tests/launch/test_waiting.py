"""What a person sees of a start."""

import io

import pytest

from launch.output import Output, width
from launch.progress import Progress
from launch.waiting import Display

BEGUN = "(APIServer pid=1) INFO 11-30 20:00:00 [a.py:1] [stage_init] Stage-0 set runtime devices: 0"
DONE = "(APIServer pid=1) INFO 11-30 20:01:21 [a.py:1] [StageRuntime] Stage 0 initialized"


@pytest.mark.parametrize("tongue", ["zh", "en"])
def test_on_a_terminal_one_line_changes_and_fits(tongue: str) -> None:
    seen = io.StringIO()
    display, progress = Display(Output(tongue, False, seen, seen, colour=True)), Progress()
    display.show(progress, 1, 0)
    progress.feed(BEGUN)
    display.show(progress, 5_000, 0)
    display.show(progress, 5_000, 0)  # nothing new: nothing written
    lines = seen.getvalue().split("\r")[1:]
    assert len(lines) == 2
    assert "\n" not in seen.getvalue()
    assert all("0 %" in line and width(line) < 80 for line in lines)
    assert "1:23:20" in lines[1]
    progress.feed(DONE)
    display.show(progress, 5_081, 0)
    assert seen.getvalue().count("\n") == 1
    assert "81" in seen.getvalue().split("\n")[0]
    display.end()
    assert seen.getvalue().endswith("\r")


def test_a_silence_is_spoken_of_once() -> None:
    seen = io.StringIO()
    display, progress = Display(Output("en", False, seen, seen)), Progress()
    for quiet_s in (10, 60, 61, 200, 0, 60):
        display.show(progress, 300, quiet_s)
    assert seen.getvalue().count("Nothing in the log for 1:00.") == 2


def test_in_a_file_each_phase_is_a_line() -> None:
    seen = io.StringIO()
    display, progress = Display(Output("en", False, seen, seen)), Progress()
    for line in (BEGUN, BEGUN, DONE):
        progress.feed(line)
        display.show(progress, 1, 0)
    assert seen.getvalue().splitlines() == ["   10 %  thinker  loading Python", "  thinker: ready after 81 s"]
