"""Reference voices: the sound whose voice the model takes on. Native duplex speaks with none without one (protocol §4.2)."""

from __future__ import annotations

import secrets
import wave
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import cache
from io import BytesIO
from pathlib import Path

import yaml

from launch.errors import InputError, MediaError
from ui.media import audio
from ui.media.prepared import Notice
from ui.turn.parts import Audio, Language

FOLDER = Path(__file__).resolve().parent.parent.parent / "assets" / "voices"
UPLOAD_MOST = 32 << 20
"""Bytes of an upload: a minute of 24 bit stereo at 96 kHz; only the first 30 s are used."""
SHORT_S, LONG_S = 3.0, 10.0
"""Advised: less holds too little of a voice, more costs 10 tokens of context a second and copies no better."""
_UPLOADS = 32  # of all owners, 1 MB each at most; the oldest is forgotten
_OWN = 3  # of one owner: nobody pushes the others' out
_DEFAULT = "asset:assistant-en"


@dataclass(frozen=True)
class Voice:
    """``id``: ``asset:…`` or ``server``. ``seconds``: of its sound."""

    id: str
    name: Mapping[Language, str]
    seconds: float


@dataclass(frozen=True)
class Upload:
    """An upload that can be spoken with, as ``upload:<token>``, by its owner only."""

    token: str
    owner: str
    sound: Audio
    notices: tuple[Notice, ...]


class Voices:
    """The voices to choose from. ``server``: where the server's own reference lies on this machine, if it does; asked anew
    each time, since a server may start later. Blocking where it reads files: call it in a thread."""

    def __init__(self, server: Callable[[], Path | None] = lambda: None) -> None:
        self._server = server
        self._uploads: dict[str, Upload] = {}

    def all(self) -> tuple[Voice, ...]:
        """What this machine has: the server's own first, where it is readable."""
        path = self._server()
        own = (Voice("server", _name("server"), _seconds(path)),) if path is not None else ()
        return (*own, *_assets())

    def wav(self, wanted: str, owner: str) -> bytes:
        """The WAV file of a voice: ``asset:<id>``, ``server``, ``upload:<token>`` of ``owner``, or nothing for the best
        there is. Raises ``InputError`` (live-voice-missing) for one that is not there (any more)."""
        kind, _, name = (wanted or self._best()).partition(":")
        if kind == "upload":
            upload = self._uploads.get(name)
            if upload is not None and upload.owner == owner:
                return upload.sound.data
        elif kind == "server":
            path = self._server()
            if path is not None:
                return path.read_bytes()
        elif f"asset:{name}" in {
            voice.id for voice in _assets()
        }:  # a name from a page reaches the disk only when it is known
            return (FOLDER / f"{name}.wav").read_bytes()
        raise InputError("live-voice-missing", voice=wanted)

    def take(self, path: Path, owner: str) -> Upload:
        """Makes an upload a reference voice. Raises ``MediaError``: no sound, too short, nothing but silence."""
        prepared = audio.prepare(path)
        sound = next(part for part in prepared.parts if isinstance(part, Audio))
        notices = [notice for notice in prepared.notices if notice.key != "media-note-sound-parts"]
        if any(notice.key == "media-note-silent" for notice in notices):
            raise MediaError("live-voice-silent")
        total = prepared.duration_s or sound.seconds
        if total > sound.seconds + 0.1:
            notices.append(Notice("live-voice-cut", {"seconds": f"{sound.seconds:.0f}", "total": f"{total:.0f}"}))
        elif total < SHORT_S:
            notices.append(Notice("live-voice-short", {"seconds": f"{total:.1f}"}))
        elif total > LONG_S:
            notices.append(Notice("live-voice-long", {"seconds": f"{total:.0f}"}))
        upload = Upload(secrets.token_urlsafe(16), owner, sound, tuple(notices))
        own = [token for token, it in self._uploads.items() if it.owner == owner]
        for token in own[: 1 - _OWN] if len(own) >= _OWN else list(self._uploads)[: 1 - _UPLOADS]:
            del self._uploads[token]
        self._uploads[upload.token] = upload
        return upload

    def _best(self) -> str:
        return "server" if self._server() is not None else _DEFAULT


@cache
def _assets() -> tuple[Voice, ...]:
    names = sorted(path.stem for path in FOLDER.glob("*.wav"))
    return tuple(Voice(f"asset:{name}", _name(name), _seconds(FOLDER / f"{name}.wav")) for name in names)


@cache
def _names() -> Mapping[str, Mapping[Language, str]]:
    return yaml.safe_load((FOLDER / "names.yaml").read_text(encoding="utf-8"))


def _name(voice: str) -> Mapping[Language, str]:
    return _names().get(voice, {"zh": voice, "en": voice})


def _seconds(path: Path) -> float:
    try:
        with wave.open(BytesIO(path.read_bytes())) as sound:
            return sound.getnframes() / sound.getframerate()
    except (OSError, EOFError, wave.Error):
        return 0.0
