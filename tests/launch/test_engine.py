"""The rehearsal engine as a child: what happens when it cannot even begin."""

from __future__ import annotations

import time

from launch.engine import RehearsalEngine
from launch.errors import OmniError


def test_an_engine_that_never_was_ready_is_told_once_and_not_started_again() -> None:
    told: list[OmniError] = []
    engine = RehearsalEngine(["--fault", "no-such-fault"], say=told.append)
    engine.start()
    first = engine.pid
    deadline = time.monotonic() + 60
    while not told:
        assert time.monotonic() < deadline
        time.sleep(0.05)
    time.sleep(1.5)  # longer than the pause before a restart
    assert [error.key for error in told] == ["rehearsal-engine-died"]
    assert told[0].facts["code"] not in (0, None)
    assert (engine.pid, engine.error) == (first, told[0])
    engine.stop()


def test_one_that_is_told_to_stop_is_not_mourned() -> None:
    told: list[OmniError] = []
    engine = RehearsalEngine(["--brain", "canned"], say=told.append)
    engine.start()
    engine.stop()
    time.sleep(0.2)
    assert told == []
