"""What is typed as an address and is none is told as such, before anything is connected to."""

from __future__ import annotations

import pytest

from launch.errors import InputError
from ui.live.duplex_input import address

ODD = ["", "http://", "http://[", "[::1", "http://127.0.0.1:99999", "http://127.0.0.1:0", "h:x", "http://a b", "a\nb"]


@pytest.mark.parametrize("typed", ODD)
def test_what_no_socket_can_be_opened_to_is_told(typed: str) -> None:
    with pytest.raises(InputError) as wrong:
        address(typed)
    assert wrong.value.key == "server-address"


def test_an_address_of_ipv6_is_one() -> None:
    assert address("ws://[::1]:8091/v1/realtime") == "http://[::1]:8091"
