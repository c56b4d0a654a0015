"""The command before it talks: what is typed as an address and is none, and Ctrl-C while it loads."""

from __future__ import annotations

import signal
import subprocess
import sys
from pathlib import Path

import pytest

from launch.errors import InputError
from ui.live.duplex_input import address

ROOT = Path(__file__).resolve().parents[3]
ODD = ["", "http://", "http://[", "[::1", "http://127.0.0.1:99999", "http://127.0.0.1:0", "h:x", "http://a b", "a\nb"]


@pytest.mark.parametrize("typed", ODD)
def test_what_no_socket_can_be_opened_to_is_told(typed: str) -> None:
    with pytest.raises(InputError) as wrong:
        address(typed)
    assert wrong.value.key == "server-address"


def test_an_address_of_ipv6_is_one() -> None:
    assert address("ws://[::1]:8091/v1/realtime") == "http://[::1]:8091"


def test_ctrl_c_while_it_loads_ends_it_without_a_traceback() -> None:
    command = [sys.executable, "app.py", "duplex", "--url", "http://127.0.0.1:9"]
    with subprocess.Popen(command, cwd=ROOT, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True) as process:
        assert process.stdout is not None
        process.stdout.readline()  # the first line: what is heavy is imported next
        process.send_signal(signal.SIGINT)
        _, errors = process.communicate(timeout=30)
    assert process.returncode == 1
    assert errors == ""
