"""Shared rules of the suite: where ``../shared`` and Chromium are, and that nothing may be skipped in CI without a word."""

from __future__ import annotations

import os
import shutil
import signal
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parent.parent
SHARED = ROOT.parent / "shared"
CHROMIUM = next(filter(None, map(shutil.which, ("chromium", "chromium-browser", "google-chrome"))), None)


def pytest_configure() -> None:
    """Programs under test get Ctrl-C and a hang-up as in a terminal, even where the suite runs under nohup or as a shell's background
    job: a signal ignored by us would be ignored by them too, while a handler of ours is not handed on."""
    for number in (signal.SIGINT, signal.SIGHUP):
        if signal.getsignal(number) is signal.SIG_IGN:
            signal.signal(number, lambda *_: None)


def missing_reason(item: pytest.Item) -> str | None:
    """Why ``item`` cannot run on this machine, or None."""
    if item.get_closest_marker("shared") and not SHARED.is_dir():
        return "needs the ../shared folder beside the checkout"
    if item.get_closest_marker("browser") and CHROMIUM is None:
        return "needs Chromium: install the package 'chromium'"
    if item.get_closest_marker("weights"):
        from launch.rehearsal import weights

        if weights.missing():
            return "needs the rehearsal weights: make weights"
    return None


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    for item in items:
        reason = missing_reason(item)
        if reason:
            item.add_marker(pytest.mark.skip(reason=reason))
        if item.get_closest_marker("browser"):
            # They hear a real browser in real time: on a machine whose cores are taken, a second of starvation is the machine's.
            # A defect fails three times; the report counts every rerun.
            item.add_marker(pytest.mark.flaky(reruns=2))


@pytest.hookimpl(trylast=True)
def pytest_sessionfinish(session: pytest.Session) -> None:
    """In CI a skipped test is a failure: a green run must mean that everything ran."""
    reporter = session.config.pluginmanager.get_plugin("terminalreporter")
    if os.environ.get("CI") and reporter is not None and reporter.stats.get("skipped") and session.exitstatus == 0:
        session.exitstatus = pytest.ExitCode.TESTS_FAILED


@pytest.fixture(scope="session")
def shared() -> Path:
    """The folder of material that lies beside a checkout (tests that use it carry the mark ``shared``)."""
    return SHARED
