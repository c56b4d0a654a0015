"""The server's chunks, of 0.26, 0.30 and later wires alike, as TurnEvents (protocol §2.4, §2.5, §7)."""

from __future__ import annotations

import base64
import binascii
from collections.abc import Iterator, Mapping
from typing import Any

from launch.errors import ServerError, ServerRefused
from ui.turn.events import Finished, Noticed, Speech, TextDelta, TurnEvent
from ui.turn.parts import writable
from ui.turn.sound import SpeechDecoder


class ChunkReader:
    """Reads the chunks of one answer in order. ``reason``: the finish_reason, ``None`` until the server gave one."""

    def __init__(self) -> None:
        self.reason: str | None = None
        self._sound = SpeechDecoder()
        self._told = False
        self._tokens = 0
        self._last_at = 0.0
        self._last_speech_at: float | None = None

    def read(self, chunk: Any, at: float) -> Iterator[TurnEvent]:
        """The events of one streamed chunk (an SDK object) that came ``at`` seconds after the request.

        Text and audio share ``choices[0]``; only the chunk's ``modality`` tells them apart, and a chunk without one is
        text unless it carries ``delta.audio``. Raises ``ServerRefused`` for audio that cannot be read.
        """
        self._last_at = at
        modality = getattr(chunk, "modality", None)
        fresh = self._new_tokens(chunk)
        for choice in getattr(chunk, "choices", None) or ():
            delta = getattr(choice, "delta", None)
            content = getattr(delta, "content", None)
            packets = _packets(getattr(delta, "audio", None))
            if modality == "audio":
                yield from self._speech(packets or ([content] if isinstance(content, str) else []), at)
            else:
                yield from self._speech(packets, at)
                tokens = fresh or len(getattr(choice, "token_ids", None) or ()) or bool(content)
                if isinstance(content, str) and tokens:
                    yield TextDelta(at, writable(content))
            self._finish_reason(choice, modality)

    def read_whole(self, completion: Mapping[str, Any], at: float) -> Iterator[TurnEvent]:
        """The events of a whole answer in one JSON, as a proxy that cannot stream hands it out: both modalities stand
        in one choice (0.30) or in two with the same index (0.26)."""
        self._last_at = at
        for choice in completion.get("choices") or ():
            message = choice.get("message") or {}
            if message.get("content"):
                yield TextDelta(at, writable(message["content"]))
            yield from self._speech(_packets(message.get("audio")), at)
            self.reason = self.reason or choice.get("finish_reason")

    def end(self) -> Iterator[TurnEvent]:
        """What is left when the stream has ended: the resampler's tail, and ``Finished``, dated by the last chunk."""
        tail = self._sound.finish()
        if tail and self._last_speech_at is not None:
            yield Speech(self._last_speech_at, tail)
        yield Finished(self._last_at, self.reason or "stop")

    def _new_tokens(self, chunk: Any) -> int:
        """Growth of ``usage.completion_tokens``, the bench's first choice; audio chunks say 0 and do not count."""
        count = getattr(getattr(chunk, "usage", None), "completion_tokens", None) or 0
        fresh, self._tokens = max(0, count - self._tokens), max(self._tokens, count)
        return fresh

    def _speech(self, packets: list[str], at: float) -> Iterator[TurnEvent]:
        for packet in packets:
            self._last_speech_at = at
            try:
                data = base64.b64decode(packet, validate=True)
            except binascii.Error as error:
                raise ServerRefused("speech-undecodable", detail=f"an audio chunk is not base64: {error}") from error
            yield Speech(at, self._sound.feed(data))
            if (form := self._sound.foreign) is not None and not self._told:
                self._told = True
                notice = ServerError("speech-converted", rate=form.rate, channels=form.channels, bits=form.bits)
                yield Noticed(at, notice)

    def _finish_reason(self, choice: Any, modality: str | None) -> None:
        """The text's reason says more ("length") than the audio's, which is "stop" whatever happened (§2.4)."""
        reason = getattr(choice, "finish_reason", None)
        if reason and (self.reason is None or modality == "text"):
            self.reason = reason


def _packets(audio: Any) -> list[str]:
    """The base64 packets of ``delta.audio`` or ``message.audio``: a string, something with ``data``, or a list."""
    if audio is None:
        return []
    if isinstance(audio, str):
        return [audio]
    if isinstance(audio, list):
        return [packet for one in audio for packet in _packets(one)]
    data = audio.get("data") if isinstance(audio, Mapping) else getattr(audio, "data", None)
    return _packets(data)
