"""What is kept of a turn: the evidence under ``runs/``, and the zip of "save this turn"."""

from __future__ import annotations

import hashlib
import io
import json
import zipfile
from pathlib import Path
from typing import Any, Literal

from pydantic import BaseModel

from ui.turn.events import Failed, Finished, Noticed, Speech, TextDelta, TurnEvent, TurnState
from ui.turn.folder import new_folder
from ui.turn.recipes import MediaFile, as_curl, as_powershell, as_python
from ui.turn.request import Wire
from ui.turn.turn import Turn, told

_LATE = ("turn.json", "figures.json")  # files that change after the answer has ended


class EventRow(BaseModel):
    """One line of ``events.jsonl``. ``at``: seconds since the request was sent; ``bytes``: PCM of a speech packet."""

    at: float
    type: Literal["text", "speech", "noticed", "finished", "stopped", "failed"]
    text: str | None = None
    bytes: int | None = None
    reason: str | None = None
    error: dict[str, Any] | None = None


class TurnRecord(BaseModel):
    """A turn without its media. ``rehearsal``: answered by the rehearsal engine, its figures say nothing of the model.

    ``request``: the JSON that was sent, each medium as ``{file, mime, bytes, sha256}``. No key, no header stands in it.
    """

    id: str
    what: str
    started_at: float
    state: TurnState
    model: str | None
    wire: Wire | None
    rehearsal: bool
    text: str
    error: dict[str, Any] | None
    notices: list[dict[str, Any]]
    figures: dict[str, float | None]
    request: dict[str, Any]
    events: list[EventRow]

    @classmethod
    def of(cls, turn: Turn) -> TurnRecord:
        return cls(
            id=turn.id,
            what=turn.what,
            started_at=turn.started_at,
            state=turn.state,
            model=turn.model,
            wire=turn.wire,
            rehearsal=turn.rehearsal,
            text=turn.text,
            error=None if turn.error is None else told(turn.error),
            notices=[told(notice) for notice in turn.notices],
            figures=turn.figures.as_dict(),
            request=_marked(*turn.short()),
            events=[_row(event) for event in turn.events],
        )

    def files(self) -> dict[str, str]:
        """The record as text files by name."""
        body = {"text", "figures", "request", "events"}
        return {
            "turn.json": _json(self.model_dump(exclude=body)),
            "request.json": _json(self.request),
            "events.jsonl": "".join(row.model_dump_json(exclude_none=True) + "\n" for row in self.events),
            "answer.txt": self.text,
            "figures.json": _json(self.figures | {"rehearsal": self.rehearsal}),
        }

    def write(self, runs_dir: Path, wav: bytes) -> Path:
        """Writes a new folder ``<runs_dir>/<local time>-<what>`` and returns it. Raises ``OSError``."""
        folder = new_folder(runs_dir, self.what, self.started_at)
        for name, text in self.files().items():
            (folder / name).write_text(text, encoding="utf-8")
        if any(row.bytes for row in self.events):
            (folder / "answer.wav").write_bytes(wav)
        return folder

    def write_late(self, folder: Path) -> Path:
        """Writes again what may change after the end: the player's figures, the notices. Raises ``OSError``."""
        files = self.files()
        for name in _LATE:
            (folder / name).write_text(files[name], encoding="utf-8")
        return folder


def zip_of(turn: Turn, base_url: str, *, key: bool = False) -> bytes:
    """The turn as one zip: its record, its media and sound, and its request as curl, PowerShell and Python, which run
    beside the unpacked media. ``key``: the server wants one; each of the three reads it from the environment.

    Blocks for as long as compressing takes: call it in a thread."""
    short, files = turn.short()
    out = io.BytesIO()
    with zipfile.ZipFile(out, "w", zipfile.ZIP_DEFLATED) as archive:
        for name, text in TurnRecord.of(turn).files().items():
            archive.writestr(name, text)
        archive.writestr("request.sh", as_curl(short, base_url, key=key))
        archive.writestr("request.ps1", as_powershell(short, base_url, key=key))
        archive.writestr("request.py", as_python(short, base_url))
        for name, data in files.items():
            archive.writestr(zipfile.ZipInfo(name), data)  # media are compressed already: stored as they are
        if turn.pcm:
            archive.writestr("answer.wav", turn.wav())
    return out.getvalue()


def _marked(short: dict[str, Any], files: dict[str, bytes]) -> dict[str, Any]:
    def mark(value: Any) -> Any:
        match value:
            case MediaFile():
                data = files[value.name]
                digest = hashlib.sha256(data).hexdigest()
                return {"file": value.name, "mime": value.mime, "bytes": len(data), "sha256": digest}
            case dict():
                return {name: mark(one) for name, one in value.items()}
            case list():
                return [mark(one) for one in value]
            case _:
                return value

    return mark(short)


def _row(event: TurnEvent) -> EventRow:
    match event:
        case TextDelta():
            return EventRow(at=event.at, type="text", text=event.text)
        case Speech():
            return EventRow(at=event.at, type="speech", bytes=len(event.pcm))
        case Noticed():
            return EventRow(at=event.at, type="noticed", error=told(event.notice))
        case Finished():
            return EventRow(at=event.at, type="finished", reason=event.reason)
        case Failed():
            return EventRow(at=event.at, type="failed", error=told(event.error))
        case _:
            return EventRow(at=event.at, type="stopped")


def _json(value: Any) -> str:
    return json.dumps(value, ensure_ascii=False, indent=2) + "\n"
