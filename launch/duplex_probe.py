"""A duplex session, opened and closed again; or why there is none."""

from __future__ import annotations

import base64
import io
import json
import math
import struct
import time
import wave
from dataclasses import dataclass
from typing import Any, Literal

from websockets.exceptions import ConnectionClosed, InvalidHandshake
from websockets.sync.client import ClientConnection, connect

_CONNECT_S = 5.0
# A turn server says at once that duplex is not to be had; a duplex server waits silently for the first frame.
_SILENCE_S = 1.0
_OPEN_S = 60.0  # the server's own limit; since 0.30 a first session may have to wait for the warm-up
_CLOSE_S = 5.0
_LARGEST = 64 << 20  # the server repeats the reference voice in its answer (protocol §4.2)
_VOICE_HZ, _VOICE_S = 16_000, 1  # the shortest reference voice that was seen to work


@dataclass(frozen=True)
class DuplexCheck:
    """``state``: open (a session was opened and closed), turn (the server is in turn mode), absent (no such route),
    busy (all its sessions are taken), failed (``error``: the server's words).
    """

    state: Literal["open", "turn", "absent", "busy", "failed"]
    open_ms: float | None = None
    error: str = ""


def check_duplex(url: str, model: str, key: str | None = None) -> DuplexCheck:
    """Open a session at the server ``url`` (``http://…``) and close it, whichever line the server is of."""
    base = "ws" + url.removeprefix("http")
    try:
        with _socket(f"{base}/v1/duplex", key) as socket:
            first = _receive(socket, _SILENCE_S)
        if first is not None and _code(first) == "unsupported":
            return DuplexCheck("turn")
        # autostart=0: else a model in the URL opens a session before the reference voice is there.
        with _socket(f"{base}/v1/realtime?duplex=1&autostart=0", key) as socket:
            return _session(socket, model)
    except InvalidHandshake:
        return DuplexCheck("absent")
    except (OSError, ConnectionClosed, TimeoutError) as broken:
        return DuplexCheck("failed", error=str(broken))


def _session(socket: ClientConnection, model: str) -> DuplexCheck:
    began = time.monotonic()
    socket.send(json.dumps({"type": "session.update", "session": _wish(model)}))
    while (event := _receive(socket, _OPEN_S - (time.monotonic() - began))) is not None:
        if event.get("type") == "session.created":
            took = round((time.monotonic() - began) * 1000, 1)
            _close(socket)
            return DuplexCheck("open", took)
        if event.get("type") == "error":
            busy = _code(event) == "resource_exhausted"
            return DuplexCheck("busy" if busy else "failed", error=json.dumps(event, ensure_ascii=False))
    return DuplexCheck("failed", error="session.created did not come")


def _close(socket: ClientConnection) -> None:
    """Said properly: a session whose socket merely drops holds its place for another 30 s."""
    socket.send(json.dumps({"type": "session.close"}))
    until = time.monotonic() + _CLOSE_S
    try:
        while (event := _receive(socket, until - time.monotonic())) is not None:
            if event.get("type") == "session.closed":
                return
    except ConnectionClosed:  # 0.26 ends the socket without a word
        return


def _wish(model: str) -> dict[str, Any]:
    return {
        "model": model,
        "modalities": ["audio", "text"],
        "input_audio_format": "pcm16",
        "output_audio_format": "pcm16",
        "turn_detection": None,
        "overlap_policy": "listen_only",
        "playback_commit_policy": "ack_only",
        "ref_audio": f"data:audio/wav;base64,{base64.b64encode(_voice()).decode('ascii')}",
        "extra_body": {"auto_response": True, "minicpmo45_native_duplex": True, "force_listen_count": 0},
    }


def _voice() -> bytes:
    """A tone as WAV: a session is opened with a reference voice or not at all, and nobody will hear this one."""
    pcm = (round(6000 * math.sin(2 * math.pi * 220 * n / _VOICE_HZ)) for n in range(_VOICE_HZ * _VOICE_S))
    file = io.BytesIO()
    with wave.open(file, "wb") as out:
        out.setnchannels(1)
        out.setsampwidth(2)
        out.setframerate(_VOICE_HZ)
        out.writeframes(b"".join(struct.pack("<h", sample) for sample in pcm))
    return file.getvalue()


def _socket(url: str, key: str | None) -> ClientConnection:
    headers = {"Authorization": f"Bearer {key}"} if key else {}
    return connect(
        url,
        additional_headers=headers,
        proxy=None,
        open_timeout=_CONNECT_S,
        close_timeout=_SILENCE_S,
        max_size=_LARGEST,
    )


def _receive(socket: ClientConnection, patience_s: float) -> dict[str, Any] | None:
    """The next event; None when none came in time."""
    try:
        event = json.loads(socket.recv(timeout=max(0.0, patience_s)))
    except TimeoutError:
        return None
    return event if isinstance(event, dict) else {}


def _code(event: dict[str, Any]) -> str:
    """An error's code: nested in the Realtime dialect, flat in the native one."""
    error = event.get("error")
    return str(error.get("code") if isinstance(error, dict) else event.get("code"))
