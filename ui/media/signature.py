"""What a file says it is in its first bytes. The name and its extension are never asked."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

from launch.errors import MediaError
from ui.media.prepared import Kind

HEAD_BYTES = 1024  # every magic below lies well inside; text is judged by the same bytes
MAX_FILE_BYTES = 2 << 30  # 2 GiB: an hour of 1080p from a phone; more is a film archive, not a question


@dataclass(frozen=True)
class Signature:
    """``name``: the format in a word or two, as told to the user; ``kind``: what such a file usually holds, None: not media."""

    name: str
    kind: Kind | None


IMAGE_BRANDS = {b"avif", b"avis", b"heic", b"heix", b"hevc", b"heim", b"heis", b"mif1", b"msf1"}
SOUND_BRANDS = {b"M4A ", b"M4B ", b"M4P "}

MAGICS: tuple[tuple[int, bytes, str, Kind | None], ...] = (
    (0, b"\xff\xd8\xff", "JPEG", "image"),
    (0, b"\x89PNG\r\n\x1a\n", "PNG", "image"),
    (0, b"GIF87a", "GIF", "image"),
    (0, b"GIF89a", "GIF", "image"),
    (8, b"WEBP", "WebP", "image"),
    (0, b"BM", "BMP", "image"),
    (0, b"II*\0", "TIFF", "image"),
    (0, b"MM\0*", "TIFF", "image"),
    (0, b"II+\0", "BigTIFF", "image"),
    (0, b"\0\0\1\0", "ICO", "image"),
    (0, b"\0\0\0\x0cjP  ", "JPEG 2000", "image"),
    (0, b"\xff\x4f\xff\x51", "JPEG 2000", "image"),
    (8, b"WAVE", "WAV", "audio"),
    (0, b"riff\x2e\x91\xcf\x11", "Wave64", "audio"),
    (0, b"FORM", "AIFF", "audio"),
    (0, b"ID3", "MP3", "audio"),
    (0, b"fLaC", "FLAC", "audio"),
    (0, b"OggS", "Ogg", "audio"),
    (0, b"#!AMR", "AMR", "audio"),
    (0, b"caff", "CAF", "audio"),
    (0, b".snd", "AU", "audio"),
    (0, b"wvpk", "WavPack", "audio"),
    (0, b"MAC ", "APE", "audio"),
    (8, b"AVI ", "AVI", "video"),
    (0, b"\x1a\x45\xdf\xa3", "Matroska/WebM", "video"),
    (0, b"\x30\x26\xb2\x75\x8e\x66\xcf\x11", "ASF/WMV", "video"),
    (0, b"FLV\1", "FLV", "video"),
    (0, b"\0\0\1\xba", "MPEG", "video"),
    (0, b"\0\0\1\xb3", "MPEG", "video"),
    (0, b"\xff\xfe", "text (UTF-16)", None),  # before the MPEG sync word below, which it looks like
    (0, b"%PDF", "PDF", None),
    (0, b"PK\3\4", "ZIP/Office", None),
    (0, b"Rar!", "RAR", None),
    (0, b"7z\xbc\xaf", "7-Zip", None),
    (0, b"\x1f\x8b", "gzip", None),
    (0, b"MZ", "EXE", None),
    (0, b"\x7fELF", "ELF", None),
    (0, b"8BPS", "Photoshop", None),
    (0, b"\xff\x0a", "JPEG XL", None),
    (0, b"\0\0\0\x0cJXL ", "JPEG XL", None),
)
TEXTS: tuple[tuple[bytes, str], ...] = (
    (b"<?xml", "XML"),
    (b"<!doctype html", "HTML"),
    (b"<html", "HTML"),
    (b"#extm3u", "M3U playlist"),
    (b"ffconcat", "playlist"),
    (b"%pdf", "PDF"),
)


def _iso(head: bytes) -> Signature | None:
    """MP4, QuickTime, HEIF and their kin: a box of type ``ftyp`` (or an older QuickTime box) comes first."""
    box, brand = head[4:8], head[8:12]
    if box == b"ftyp":
        if brand in IMAGE_BRANDS:
            return Signature("AVIF" if brand.startswith(b"avi") else "HEIC", "image")
        return Signature("MP4", "audio" if brand in SOUND_BRANDS else "video")
    return Signature("QuickTime", "video") if box in (b"moov", b"mdat", b"wide", b"free", b"skip") else None


def _text(head: bytes) -> Signature | None:
    """Only letters and line ends: no medium begins so, whatever its first two letters are ("BM..." is a word, too)."""
    if not all(byte >= 0x20 or byte in b"\t\r\n\f" for byte in head):
        return None
    start = head.lstrip(b"\xef\xbb\xbf \t\r\n").lower()
    if b"<svg" in start:
        return Signature("SVG", None)
    for opening, name in TEXTS:
        if start.startswith(opening):
            return Signature(name, None)
    return Signature("text", None)


def signature(path: Path) -> Signature:
    """The format that the first bytes of ``path`` announce; for unknown ones the name is their hexadecimal digits.

    Raises ``MediaError`` media-gone (no readable file there), media-empty-file, media-file-too-large.
    """
    try:
        size = path.stat().st_size
        with path.open("rb") as file:
            head = file.read(HEAD_BYTES)
    except OSError as error:
        raise MediaError("media-gone", detail=type(error).__name__) from error
    if not head:
        raise MediaError("media-empty-file")
    if size > MAX_FILE_BYTES:
        raise MediaError("media-file-too-large", size=round(size / 1e9, 1), limit=round(MAX_FILE_BYTES / 1e9, 1))
    if text := _text(head):
        return text
    for offset, magic, name, kind in MAGICS:
        if head.startswith(magic, offset):
            return Signature(name, kind)
    if head[0] == 0xFF and head[1:2] and head[1] & 0xE0 == 0xE0:
        return Signature("MP3/AAC", "audio")
    if head[0] == 0x47 and head[188:189] == b"\x47":
        return Signature("MPEG-TS", "video")
    return _iso(head) or Signature(head[:4].hex(" ").upper(), None)
