"""A second of sound as a file, the way a client sends it."""

from __future__ import annotations

import pytest

from launch.rehearsal.brain.canned import tone
from launch.rehearsal.wire.sound import encode


@pytest.fixture(scope="session")
def wav() -> bytes:
    return encode(tone(0, 1), "wav")
