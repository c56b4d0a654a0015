"""A log that is being written: its new lines, also when its name is rotated away, deleted, or its content cut."""

from __future__ import annotations

import os
from pathlib import Path
from typing import BinaryIO

_BLOCK = 1 << 20  # bytes at once: a start writes less in all


class LogFile:
    """Reads a log from its beginning, or from its last ``last`` lines. ``held``: the same file as the server holds it
    open (``/proc/<pid>/fd/1``), which is where its words go whatever became of the name; None when it is gone.
    """

    def __init__(self, path: Path, held: Path | None = None, last: int | None = None) -> None:
        self.places = [place for place in (held, path) if place is not None]
        self._file: BinaryIO | None = None
        self._rest = b""
        self._last = last

    def lines(self) -> list[bytes]:
        """The whole lines written since the last call, without their ends. Empty while there is no log."""
        if self._file is None:
            self._open()
        if self._file is None:
            return []
        if os.fstat(self._file.fileno()).st_size < self._file.tell():  # cut by logrotate's copytruncate
            self._file.seek(0)
            self._rest = b""
        found: list[bytes] = []
        while data := self._file.read(_BLOCK):
            *whole, self._rest = (self._rest + data).split(b"\n")
            found += whole
        return found

    def close(self) -> None:
        if self._file is not None:
            self._file.close()
            self._file = None

    def __enter__(self) -> LogFile:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def _open(self) -> None:
        for place in self.places:
            try:
                self._file = place.open("rb")
            except OSError:  # not there (yet), or its process is gone
                continue
            if self._last is not None:
                _seek_last(self._file, self._last)
            return


def _seek_last(file: BinaryIO, lines: int) -> None:
    """Place ``file`` before its last ``lines`` lines."""
    place, breaks = file.seek(0, os.SEEK_END), 0
    while place > 0:
        step = min(_BLOCK, place)
        place = file.seek(place - step)
        block = file.read(step)
        ends = [index for index, byte in enumerate(block) if byte == 10]
        if breaks + len(ends) > lines:
            file.seek(place + ends[len(ends) - (lines - breaks) - 1] + 1)
            return
        breaks += len(ends)
    file.seek(0)
