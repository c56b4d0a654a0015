"""The quick question to a server: is it healthy, how many requests has it answered. On a bare socket, because an HTTP
client takes longer to import than ``status`` may take in all; and no proxy of the environment comes between.
"""

from __future__ import annotations

import re
import socket
from urllib.parse import urlsplit

# A healthy server answers in milliseconds, one that computes on all cores in a second.
PATIENCE_S = 2.0
_DONE = re.compile(r"^vllm_omni:requests_success_total\{[^}]*\} ([\d.e+]+)", re.MULTILINE)


def get(url: str, path: str, patience_s: float = PATIENCE_S) -> tuple[int, bytes] | None:
    """Status and body; None when nobody answers in time, or not in HTTP."""
    parts = urlsplit(url)
    where = (parts.hostname or "127.0.0.1", parts.port or 80)
    # HTTP/1.0, so that the end of the connection is the end of the body and nothing comes in chunks.
    request = f"GET {path} HTTP/1.0\r\nHost: {parts.netloc}\r\n\r\n".encode("ascii")
    try:
        with socket.create_connection(where, patience_s) as wire:
            wire.sendall(request)
            answer = b"".join(iter(lambda: wire.recv(65_536), b""))
    except OSError:  # refused, cut, or too slow: all mean that it cannot be counted on now
        return None
    head, _, body = answer.partition(b"\r\n\r\n")
    words = head.split(None, 2)
    return (int(words[1]), body) if len(words) > 1 and words[0].startswith(b"HTTP/") and words[1].isdigit() else None


def healthy(url: str, patience_s: float = PATIENCE_S) -> bool:
    """Whether ``/health`` says 200. Its body is empty in 0.26 and JSON from 0.30 on."""
    answer = get(url, "/health", patience_s)
    return answer is not None and answer[0] == 200


def requests(url: str) -> int | None:
    """How many requests it has answered since it started; None when it does not tell."""
    answer = get(url, "/metrics")
    if answer is None or answer[0] != 200:
        return None
    return round(sum(float(count) for count in _DONE.findall(answer[1].decode("utf-8", "replace"))))
