"""``events.jsonl``: every event of a session, both ways, without media and without secrets."""

from __future__ import annotations

import json
from collections.abc import Mapping
from contextlib import suppress
from pathlib import Path
from typing import Any

from launch.redact import MASK, is_secret

_LONG = 4_096  # characters: instructions and transcripts are shorter; 40 ms of base64 sound are longer
_MEDIA = ("audio", "delta", "ref_audio", "video_frames")  # where the protocol carries sound and pictures (§4.2-§4.4)


class EventLog:
    """One line an event, flushed line by line: after a crash every line but perhaps the last is whole."""

    def __init__(self, path: Path) -> None:
        """Raises ``OSError``."""
        self._file = path.open("w", encoding="utf-8", buffering=1)

    def write(self, event: Mapping[str, Any]) -> None:
        """Raises ``OSError``."""
        self._file.write(json.dumps(safe(event), ensure_ascii=False, separators=(",", ":")) + "\n")

    def close(self) -> None:
        """Raises ``OSError``."""
        self._file.close()

    def abandon(self) -> None:
        """Close the file after a failure, as it is."""
        with suppress(OSError):
            self._file.close()


def safe(value: Any, name: str = "") -> Any:
    """``value`` without what may not stand in a file: strings under a secret's name are masked (``resume_token``; a
    number of tokens is no secret), media that somebody forgot to replace become their size."""
    match value:
        case Mapping():
            return {str(key): safe(one, str(key)) for key, one in value.items()}
        case list() | tuple():
            return [safe(one, name) for one in value]
        case bytes() | bytearray():
            return {"bytes": len(value)}
        case str() if value and is_secret(name):
            return MASK
        case str() if value.startswith("data:") or (len(value) > _LONG and name in _MEDIA):
            return {"characters": len(value)}
        case _:
            return value
