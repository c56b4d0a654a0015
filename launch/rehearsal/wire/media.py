"""Media in a request: a URL becomes the bytes of a file which can be opened, or an error in the server's words.

Nothing is ever fetched and nothing is read from disk: only data URLs are answered. Sources of the sentences: protocol
§3 and the captures err_bad_image, err_ref_audio_*.
"""

from __future__ import annotations

import base64
import binascii
import io
import math
import re
import warnings
from urllib.parse import urlsplit

import av
from av.error import FFmpegError
from PIL import Image

from launch.rehearsal.wire.dialect import Dialect
from launch.rehearsal.wire.errors import WireError

MAX_PIXELS = 178_956_970  # VLLM_MAX_IMAGE_PIXELS, the server's default
TOKENS_PER_PICTURE = 64  # queries of the resampler for one slice
TOKENS_PER_SECOND = 10  # of sound: 50 encoder frames a second, pooled by 5
FRAMES_PER_VIDEO = 64  # the server looks at no more


def take(kind: str, url: object, dialect: Dialect) -> tuple[bytes, int]:
    """The file in ``url``, opened as ``kind`` ("image", "audio", "video"), and about how many prompt tokens it takes.

    Reads whole pictures, and one frame of sound or film. Blocks: call it in a thread. Raises ``WireError``.
    """
    data = _read_url(url)
    if kind == "image":
        return data, _weigh_image(data)
    if kind == "audio":
        return data, _weigh_audio(data, dialect)
    return data, _weigh_video(data)


def _read_url(url: object) -> bytes:
    """The bytes inside a data URL. Raises ``WireError`` for anything else."""
    scheme = url.partition(":")[0].lower() if isinstance(url, str) else ""
    if scheme == "file":
        raise WireError(400, "Cannot load local files without `--allowed-local-media-path`.")
    if isinstance(url, str) and scheme in ("http", "https"):
        raise _unreachable(url)
    if not isinstance(url, str) or scheme != "data":
        raise WireError(400, "The URL must be either a HTTP, data or file URL.")
    head, comma, data = url[5:].partition(",")
    if not comma:
        raise WireError(400, f"Invalid data URL {url[:32]!r}: missing ',' separator.")
    if not head.endswith(";base64"):
        raise WireError(400, "Only base64 data URLs are supported for now.")
    try:
        return base64.b64decode(data, validate=True)
    except (binascii.Error, ValueError) as error:
        raise WireError(400, str(error)) from error


def _unreachable(url: str) -> WireError:
    """What aiohttp says on a machine with no network: a lookup that fails is a server error (protocol §3)."""
    try:
        parts = urlsplit(url)
        port = parts.port or (443 if parts.scheme == "https" else 80)
    except ValueError:
        return WireError(400, f"Failed to fetch media from URL: Invalid URL (parameter=image_url, value={url})")
    place = f"{parts.hostname}:{port}"
    message = f"Cannot connect to host {place} ssl:default [Temporary failure in name resolution]"
    return WireError(500, message, type="Internal Server Error")


def _weigh_image(data: bytes) -> int:
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", Image.DecompressionBombWarning)  # the limit below is the one that counts
            with Image.open(io.BytesIO(data)) as image:
                if image.width * image.height > MAX_PIXELS:
                    raise WireError(
                        400,
                        f"Failed to load image: Image dimensions {image.width}x{image.height}"
                        f" ({image.width * image.height} pixels) exceed the maximum of {MAX_PIXELS} pixels.",
                    )
                image.load()
    except (OSError, ValueError, SyntaxError, Image.DecompressionBombError) as error:
        why = re.sub(r" at 0x[0-9a-f]+", "", str(error))  # the server strips addresses and paths from what it says
        raise WireError(400, f"Failed to load image: {why} {why}") from error
    return TOKENS_PER_PICTURE


def _weigh_audio(data: bytes, dialect: Dialect) -> int:
    try:
        seconds = _open_and_read(data, "audio")
    except (FFmpegError, OSError, ValueError) as error:
        raise WireError(400, dialect.broken_audio.format(why=error)) from error
    return max(1, math.ceil(seconds * TOKENS_PER_SECOND))


def _weigh_video(data: bytes) -> int:
    try:
        seconds = _open_and_read(data, "video")
    except (FFmpegError, OSError, ValueError) as error:
        raise WireError(400, "Could not open video stream") from error
    return TOKENS_PER_PICTURE * min(FRAMES_PER_VIDEO, max(1, math.ceil(seconds)))


def _open_and_read(data: bytes, kind: str) -> float:
    """Decode one frame. The length in seconds, 0 when the container does not say."""
    with av.open(io.BytesIO(data), "r") as container:
        streams = container.streams.audio if kind == "audio" else container.streams.video
        if not streams:
            raise ValueError(f"No {kind} stream found.")
        if next(container.decode(streams[0]), None) is None:
            raise ValueError(f"No {kind} frame found.")
        return (container.duration or 0) / av.time_base
