"""Whether a server could listen on a port, asked the way the server itself does."""

from __future__ import annotations

import socket


def refusal(host: str, port: int) -> OSError | None:
    """Why nothing can listen on ``host:port`` now (``errno`` tells: EADDRINUSE, an address of another machine, ...);
    None when it can.
    """
    family = socket.AF_INET6 if ":" in host else socket.AF_INET
    with socket.socket(family, socket.SOCK_STREAM) as probe:
        probe.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)  # as uvicorn does; TIME_WAIT is no holder
        try:
            probe.bind((host, port))
        except OSError as refused:
            return refused
    return None
