"""Whether the page may start and stop servers."""

from __future__ import annotations

import ipaddress

from ui.control.routes import Why
from ui.options import Options


def why_not(options: Options) -> Why | None:
    """Why not; ``None``: it may. Without ``--control`` only a page that nobody else on the network reaches may."""
    if options.control is not None:
        return None if options.control else "asked"
    return None if _loopback(options.host) else "wide"


def _loopback(host: str) -> bool:
    if host == "localhost":
        return True
    try:
        return ipaddress.ip_address(host).is_loopback
    except ValueError:
        return False
