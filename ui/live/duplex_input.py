"""What the command line brings to a conversation: the address, the sound that is said, the voice that answers."""

from __future__ import annotations

from dataclasses import dataclass
from io import BytesIO
from pathlib import Path
from urllib.parse import urlsplit
from wave import open as open_wav

from launch.errors import InputError
from ui.live.reference import Voices
from ui.media import audio
from ui.media.prepared import Notice
from ui.turn.parts import Audio, Language

_SAMPLES = Path(__file__).resolve().parent.parent.parent / "assets" / "samples"
_SCHEMES = {"http": "http", "https": "https", "ws": "http", "wss": "https"}


@dataclass(frozen=True)
class Given:
    """A sound that was made ready. ``data``: PCM s16le mono 16 kHz of an input, a WAV file of a voice."""

    name: str
    data: bytes
    seconds: float
    notices: tuple[Notice, ...] = ()


def address(url: str) -> str:
    """The http(s) base of a server from what the guide's demo takes: ws(s) or http(s), with or without a path; a prefix
    before ``/v1`` is a gateway's and stays. Raises ``InputError`` (server-address)."""
    try:
        parts = urlsplit(url if "://" in url else f"http://{url}")
        fits = parts.scheme in _SCHEMES and parts.hostname and not parts.username and parts.port != 0
    except ValueError as error:  # half of an IPv6 address, a port that is no number or beyond them all
        raise InputError("server-address", address=url) from error
    if not fits or any(letter.isspace() for letter in url):
        raise InputError("server-address", address=url)
    prefix = f"{parts.path}/".split("/v1/")[0].rstrip("/")
    return f"{_SCHEMES[parts.scheme]}://{parts.netloc}{prefix}"


def given_input(path: Path | None, language: Language) -> Given:
    """The sound in any file (of a video: its sound), or a sample question. Blocking. Raises ``MediaError``."""
    path = path or _SAMPLES / f"question-{language}.flac"
    prepared = audio.prepare(path)
    pcm = b"".join(_pcm(part) for part in prepared.parts if isinstance(part, Audio))
    notices = tuple(one for one in prepared.notices if one.key != "media-note-sound-parts")  # it is said as one
    return Given(prepared.name, pcm, len(pcm) / 2 / 16_000, notices)


def given_voice(path: Path | None) -> Given:
    """A reference voice from any file, or the best there is. Blocking. Raises ``MediaError``."""
    voices = Voices()
    if path is None:
        data = voices.wav("", "")
        return Given("assistant", data, len(_pcm(Audio(data, 0.0))) / 2 / 16_000)
    taken = voices.take(path, "")
    return Given(path.name, taken.sound.data, taken.sound.seconds, taken.notices)


def _pcm(part: Audio) -> bytes:
    with open_wav(BytesIO(part.data)) as sound:
        return sound.readframes(sound.getnframes())
