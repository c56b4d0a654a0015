"""Fixtures of the launcher's tests."""

from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.launch.running import Box, box


@pytest.fixture
def machine(tmp_path: Path) -> Iterator[Box]:
    with box(tmp_path) as made:
        yield made
