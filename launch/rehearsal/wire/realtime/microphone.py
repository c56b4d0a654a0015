"""What an append carries: base64 of any format the server takes → 16 kHz mono, and a camera's picture (§4.3)."""

from __future__ import annotations

import base64
import io
from typing import Any

import numpy as np
import soundfile

from launch.rehearsal.brain.brain import EAR_RATE, UndecodableMedia
from launch.rehearsal.brain.sound import decode
from launch.rehearsal.wire.realtime.describing import SILENT_RMS
from launch.rehearsal.wire.realtime.refusals import Refusal

PICTURE_MOST = 4_000_000  # characters of base64
_G711 = {"g711_ulaw": "ULAW", "g711_alaw": "ALAW"}
_FLAGS = ("is_speech", "speech")


def sound_of(event: dict[str, Any], in_format: str, wire: str) -> np.ndarray:
    """The wave, float32 -1..1 at ``EAR_RATE``; empty when the event only carries a picture. Raises ``Refusal``."""
    data = event.get("audio", event.get("delta"))
    kind = event.get("input_audio_format") or event.get("format") or in_format
    rate = event.get("sample_rate_hz", event.get("sample_rate", EAR_RATE))
    if not isinstance(rate, int) or not 8_000 <= rate <= 192_000:
        raise Refusal("bad_audio", f"Unsupported sample rate: {rate}")
    if not data and event.get("video_frames"):
        return np.zeros(0, np.float32)
    try:
        raw = base64.b64decode(data, validate=True) if isinstance(data, str) and data else b""
    except ValueError:
        raw = b""
    if not raw:
        if wire == "0.26":
            raise Refusal("bad_event", "input.audio.append requires audio")
        words = "input_audio_buffer.append requires audio and/or video_frames"
        raise Refusal("invalid_input_modality", words)
    return _decoded(raw, str(kind), rate)


def _decoded(raw: bytes, kind: str, rate: int) -> np.ndarray:
    if kind == "pcm_f32le":  # never resampled
        wave = np.frombuffer(raw[: len(raw) - len(raw) % 4], "<f4").astype(np.float32)
        return np.nan_to_num(wave, nan=0.0, posinf=1.0, neginf=-1.0)
    if kind in _G711:
        wave, _ = soundfile.read(
            io.BytesIO(raw), format="RAW", subtype=_G711[kind], samplerate=8_000, channels=1, dtype="float32"
        )
        return _resampled(wave, 8_000)
    if kind == "wav":
        try:
            return decode(raw, "audio")
        except UndecodableMedia as error:
            raise Refusal("bad_audio", f"Cannot decode audio: {error}") from error
    if len(raw) % 2:
        raise Refusal("bad_audio", "PCM16 audio must have an even number of bytes")
    return _resampled(np.frombuffer(raw, "<i2").astype(np.float32) / 32768, rate)


def _resampled(wave: np.ndarray, rate: int) -> np.ndarray:
    """Linear, as the server does it."""
    if rate == EAR_RATE or not wave.size:
        return wave
    at = np.arange(round(wave.size * EAR_RATE / rate)) * rate / EAR_RATE
    return np.interp(at, np.arange(wave.size), wave).astype(np.float32)


def is_loud(event: dict[str, Any], wave: np.ndarray) -> bool:
    """Whether it looks like speech: by the client's word, else by its loudness."""
    for flag in _FLAGS:
        if isinstance(event.get(flag), bool):
            return bool(event[flag])
    return bool(wave.size) and float(np.sqrt(np.mean(np.square(wave)))) >= SILENT_RMS


def picture_of(event: dict[str, Any]) -> bytes | None:
    """The last of the event's frames. Raises ``Refusal``."""
    frames = event.get("video_frames")
    if not frames:
        return None
    if not isinstance(frames, list) or len(frames) > 2:
        raise Refusal("invalid_video_frames", "video_frames must be a list of at most two frames")
    for frame in frames:
        if not isinstance(frame, str) or len(frame) > PICTURE_MOST:
            raise Refusal("invalid_video_frames", "a video frame must be base64 of at most 4000000 characters")
    try:
        return base64.b64decode(frames[-1].rpartition(",")[2], validate=True)
    except ValueError as error:
        raise Refusal("invalid_video_frames", "a video frame must be base64") from error
