"""A server that ``launch up`` started on this machine: its own reference voice, and how many sessions it admits."""

from __future__ import annotations

from pathlib import Path
from urllib.parse import urlsplit

from launch.deploy_file import open_file
from launch.errors import InputError
from launch.records import Record, Records

_LOOPBACK = frozenset({"127.0.0.1", "localhost", "::1"})
_REFERENCE = Path("assets") / "HT_ref_audio.wav"  # in the weights' folder (protocol §5.4, prompt_wav)


class Neighbour:
    """The server at ``url``, if a record of ``state`` (``launch.here.state_dir``) tells of it. Reads files: blocking."""

    def __init__(self, url: str, state: Path) -> None:
        address = urlsplit(url)
        self._port = address.port if address.hostname in _LOOPBACK else None
        self._records = Records(state)

    def reference(self) -> Path | None:
        """Its own reference voice, where it can be read."""
        record = self._record()
        path = Path(record.model) / _REFERENCE if record is not None else None
        return path if path is not None and path.is_file() else None

    def sessions(self) -> int | None:
        """``max_sessions`` of its deploy file; ``None`` where that cannot be read."""
        record = self._record()
        if record is None or "--deploy-config" not in record.command[:-1]:
            return None
        path = Path(record.command[record.command.index("--deploy-config") + 1])
        try:
            files = open_file(path).chain()
        except InputError:  # it, or its base, is inside the server's own package
            return None
        block = next((it.document.data["duplex_session"] for it in files if "duplex_session" in it.document.data), {})
        most = block.get("max_sessions", 1) if isinstance(block, dict) else 1  # 1 is the server's default
        return most if isinstance(most, int) and most > 0 else None

    def _record(self) -> Record | None:
        record = self._records.get(self._port) if self._port is not None else None
        return record if record is not None and not record.stopped else None
