"""The app's port: taken before anything slow is loaded, with a word about who holds it when it is not free."""

from __future__ import annotations

import errno
import socket

import psutil

from launch.errors import LaunchError


def claim(host: str, port: int) -> socket.socket:
    """A listening socket on ``host:port`` (0: any free port). A browser that comes early waits in its queue instead of being refused.

    Raises ``LaunchError``: ``app-port-taken``, or ``app-port-refused`` for an unknown host, a port below 1024 and the like.
    """
    try:
        family, kind, proto, _, address = socket.getaddrinfo(
            host, port, type=socket.SOCK_STREAM, flags=socket.AI_PASSIVE
        )[0]
        door = socket.socket(family, kind, proto)
    except OSError as wrong:
        raise LaunchError("app-port-refused", host=host, port=port, reason=wrong.strerror) from wrong
    door.setsockopt(
        socket.SOL_SOCKET, socket.SO_REUSEADDR, 1
    )  # else a restart waits for the old connections' TIME_WAIT
    try:
        door.bind(address)
        door.listen(128)  # for those who come before uvicorn, which listens again with a longer queue
    except OSError as refused:
        door.close()
        if refused.errno != errno.EADDRINUSE:
            raise LaunchError("app-port-refused", host=host, port=port, reason=refused.strerror) from refused
        who, command = holder(port)
        raise LaunchError("app-port-taken", port=port, holder=who, next=port + 1, command=command) from refused
    return door


def holder(port: int) -> tuple[str, str]:
    """Who listens on ``port``, and the command that ends or finds it. Another user's process has no name here."""
    for process in psutil.process_iter(["pid", "name"]):
        try:
            connections = process.net_connections(kind="tcp")
        except (psutil.AccessDenied, psutil.NoSuchProcess):
            continue
        if any(c.status == psutil.CONN_LISTEN and c.laddr and c.laddr.port == port for c in connections):
            return f"{process.info['name']} (pid {process.info['pid']})", f"kill {process.info['pid']}"
    return "—", f"ss -ltnp | grep :{port}"
