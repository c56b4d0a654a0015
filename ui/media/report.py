"""The result for one file as one JSON object, and its parts as files: what ``python -m ui.media`` prints and writes."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

from launch.errors import MediaError
from launch.faults import Explanation, explain
from ui.media import audio, image, video
from ui.media.kind import kind_of
from ui.media.prepared import Kind, Medium, Notice, Prepared, shown_name
from ui.media.signature import signature
from ui.turn.parts import Audio, Image, Video

PREPARE: dict[Kind, Callable[[Path, str | None], Prepared]] = {
    "image": image.prepare,
    "audio": audio.prepare,
    "video": video.interleaved,
}
SUFFIXES: dict[str, str] = {"image/jpeg": ".jpg", "audio/wav": ".wav", "video/mp4": ".mp4"}
LANGUAGES = ("zh", "en")


def report(
    path: Path, name: str | None = None, kind: Kind | None = None, whole: bool = False, out: Path | None = None
) -> dict:
    """What ``path`` becomes, or why it cannot: ``ok``, facts, ``error_kind`` and sentences in both languages, and the parts.

    ``kind``: as which box's upload it is treated; by default what its content says. ``whole``: a clip as one file instead of pairs.
    ``out``: a folder for the parts as files, named by number, never after the upload.
    """
    told: dict = {"name": shown_name(path, name), "kind": kind, "ok": False}
    told |= dict.fromkeys(("width", "height", "duration_s", "frames_1fps", "has_audio", "error_kind"))
    try:
        told["kind"] = kind or kind_of(path)
        prepare = video.original if whole and told["kind"] == "video" else PREPARE[told["kind"]]
        prepared = prepare(path, name)
    except MediaError as error:
        told["kind"] = told["kind"] or _announced(path)
        told |= {key: error.facts[key] for key in ("width", "height") if key in error.facts}
        told["error_kind"] = error.key.removeprefix("media-").replace("-", "_")
        return (
            told
            | {f"message_{language}": _sentence(explain(error, language)) for language in LANGUAGES}
            | {"parts": []}
        )
    notices = prepared.notices
    if kind is None and prepared.kind == "audio" and signature(path).kind == "video":
        notices += (Notice("media-note-sound-only"),)
    for fact in ("width", "height", "duration_s", "frames_1fps", "has_audio"):
        told[fact] = getattr(prepared, fact)
    told["ok"] = True
    for language in LANGUAGES:
        told[f"message_{language}"] = " ".join(_sentence(notice.told(language)) for notice in notices) or None
    told["notices"] = [notice.key for notice in notices]
    told["parts"] = [_described(part, prepared, place) for place, part in enumerate(prepared.parts)]
    if out is not None:
        out.mkdir(parents=True, exist_ok=True)
        for place, (part, row) in enumerate(zip(prepared.parts, told["parts"], strict=True)):
            row["file"] = f"{place:03d}{SUFFIXES[row['mime']]}"
            (out / row["file"]).write_bytes(part.data)
    return told


def _announced(path: Path) -> Kind | None:
    """What kind the first bytes announce, of a file that could not be read further."""
    try:
        return signature(path).kind
    except MediaError:
        return None


def _sentence(explanation: Explanation) -> str:
    return f"{explanation.cause} {explanation.cure}".strip()


def _described(part: Medium, prepared: Prepared, place: int) -> dict:
    row: dict = {"kind": type(part).__name__.lower(), "mime": part.mime, "bytes": len(part.data)}
    match part:
        case Image():
            row |= {"width": part.width, "height": part.height}
        case Audio() | Video():
            row |= {"duration_s": part.seconds}
    if prepared.seconds:  # interleaved: each second is one part, or two where there is sound
        row["second"] = prepared.seconds[place * len(prepared.seconds) // len(prepared.parts)]
    return row
