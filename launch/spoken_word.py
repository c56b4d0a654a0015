"""One word asked for aloud, and what came: how soon, and whether it is sound."""

from __future__ import annotations

import array
import base64
import io
import json
import math
import sys
import time
import wave
from dataclasses import dataclass
from typing import Any

import httpx

QUESTION = "Say just one word: yes."
_TOKENS = 16  # a word and its end; a model that will not stop is stopped
_SILENT_DBFS = -60.0  # below this nobody hears anything
_FULL = 32_768


@dataclass(frozen=True)
class SpeechCheck:
    """``seconds`` of sound that came; its format as its WAV header says it; its loudest sample against full scale
    (None: nothing came). Times in ms from the request's sending. ``error``: the server's words where it refused.
    """

    text: str = ""
    seconds: float = 0.0
    rate_hz: int | None = None
    channels: int | None = None
    bits: int | None = None
    peak_dbfs: float | None = None
    first_text_ms: float | None = None
    first_audio_ms: float | None = None
    total_ms: float | None = None
    status: int = 200
    error: str = ""

    @property
    def silent(self) -> bool:
        return self.peak_dbfs is not None and self.peak_dbfs < _SILENT_DBFS


def check_speech(client: httpx.Client, model: str) -> SpeechCheck:
    """Ask for a spoken word. Raises ``httpx.TransportError`` when the connection fails or is too slow."""
    body = {
        "model": model,
        "messages": [{"role": "user", "content": QUESTION}],
        "modalities": ["text", "audio"],
        "max_tokens": _TOKENS,
        "temperature": 0,
        "stream": True,
        "chat_template_kwargs": {"use_tts_template": True, "enable_thinking": False},
    }
    began = time.monotonic()
    heard = _Heard(began)
    with client.stream("POST", "/v1/chat/completions", json=body) as answer:
        if answer.status_code != 200:
            return SpeechCheck(status=answer.status_code, error=answer.read().decode("utf-8", "replace"))
        for line in answer.iter_lines():
            if line.startswith("data: {"):
                heard.take(json.loads(line[6:]))
    return heard.check()


class _Heard:
    """The answer, chunk by chunk."""

    def __init__(self, began: float) -> None:
        self.began = began
        self.text = ""
        self.error = ""
        self.first_text: float | None = None
        self.first_audio: float | None = None
        self.format: tuple[int, int, int] | None = None  # rate, channels, bits of the first piece
        self.frames = 0
        self.peak = 0

    def take(self, chunk: dict[str, Any]) -> None:
        if "error" in chunk:  # a failure after the answer began
            self.error = json.dumps(chunk, ensure_ascii=False)
            return
        for choice in chunk.get("choices") or []:
            content = (choice.get("delta") or {}).get("content")
            if not content:
                continue
            if chunk.get("modality") == "audio":
                self.first_audio = self.first_audio or self._ms()
                self._sound(base64.b64decode(content))
            else:
                self.first_text = self.first_text or self._ms()
                self.text += content

    def _sound(self, data: bytes) -> None:
        try:
            with wave.open(io.BytesIO(data)) as file:
                form = (file.getframerate(), file.getnchannels(), 8 * file.getsampwidth())
                pcm = file.readframes(file.getnframes())
        except (wave.Error, EOFError):  # no WAV: nothing is known of what it is
            self.format = self.format or (0, 0, 0)
            return
        self.format = self.format or form
        self.frames += len(pcm) * 8 // (form[1] * form[2])
        if form[2] == 16:
            samples = array.array("h", pcm[: len(pcm) // 2 * 2])
            if sys.byteorder == "big":
                samples.byteswap()
            self.peak = max(self.peak, max(samples, default=0), -min(samples, default=0))

    def _ms(self) -> float:
        return round((time.monotonic() - self.began) * 1000, 1)

    def check(self) -> SpeechCheck:
        rate, channels, bits = self.format or (None, None, None)
        heard = self.format is not None
        return SpeechCheck(
            text=self.text.strip(),
            seconds=round(self.frames / rate, 2) if rate else 0.0,
            rate_hz=rate,
            channels=channels,
            bits=bits,
            peak_dbfs=round(20 * math.log10(max(self.peak, 1) / _FULL), 1) if heard else None,
            first_text_ms=self.first_text,
            first_audio_ms=self.first_audio,
            total_ms=self._ms(),
            error=self.error,
        )
