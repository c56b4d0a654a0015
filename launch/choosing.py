"""Which of our servers a command means."""

from __future__ import annotations

from launch.errors import InputError
from launch.here import Here
from launch.records import Record, Records


def chosen(port: int | None, here: Here, *, stopped: bool = False) -> Record | None:
    """The record of ``port``, else the only one there is; None when there is none. ``stopped``: one that was stopped
    counts too, when no other is left. Raises ``InputError`` (which-server) when several are meant by nothing.
    """
    records, _ = Records(here.state_dir()).all()
    standing = [record for record in records if not record.stopped]
    if port is not None:
        return next((record for record in records if record.port == port and (stopped or not record.stopped)), None)
    if len(standing) > 1:
        raise InputError("which-server", ports=", ".join(str(record.port) for record in standing))
    if standing:
        return standing[0]
    return max(records, key=lambda record: record.started_at, default=None) if stopped else None
