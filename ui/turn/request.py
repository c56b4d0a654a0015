"""One question, as the server wants it (protocol §2.1-2.3)."""

from __future__ import annotations

import base64
import json
import secrets
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, Literal

from ui.turn.parts import Audio, Image, Message, Part, Settings, Text, Video, Voice, writable
from ui.turn.recipes import Shelf

Wire = Literal["0.26", "0.30"]
Body = dict[str, Any]
Place = Callable[[str, bytes], str]  # MIME type and bytes of a medium → the URL that stands for it
_SLICE = (
    3 << 18
)  # bytes encoded at a time, a few milliseconds; a multiple of 3, so that the pieces join without padding
_MOST_SOUNDS = 64  # limit_mm_per_prompt.audio of the packaged one-card deploy file (§2.3)


@dataclass(frozen=True)
class Request:
    """Everything of one turn that the user chose. ``messages`` in the order they are sent, the new question last."""

    messages: tuple[Message, ...]
    settings: Settings
    voice: Voice | None = None

    def body(self, model: str, wire: Wire | None) -> Body:
        """The JSON of ``POST /v1/chat/completions``, exactly as it goes over the wire.

        ``modalities`` always stands there: absent means text *and* audio, ``null`` breaks the server's streaming fix
        (§2.1). A setting of ``None`` is not sent. ``ref_audio`` (timbre) goes at the root, and only to a ``wire`` that
        reads it: 0.26 ignores it. Nothing stands here that the server ignores without a word.
        """
        return self._body(model, wire, _data_url)

    def short(self, model: str, wire: Wire | None) -> tuple[Body, dict[str, bytes]]:
        """``body`` with each medium as a ``MediaFile``, and the media by file name."""
        shelf = Shelf()
        return self._body(model, wire, shelf.put), shelf.files

    def encoded(self, model: str, wire: Wire | None) -> bytes:
        """``body`` as UTF-8, without ever holding the interpreter for long: in a thread it leaves the event loop free,
        where ``json.dumps`` of a video of 50 MB stops it for half a second."""
        media: list[bytes] = []
        mark = secrets.token_hex(8)  # stands for a medium, and nowhere else

        def aside(mime: str, data: bytes) -> str:
            media.append(data)
            return f"data:{mime};base64,{mark}"

        first, *rest = json.dumps(self._body(model, wire, aside), ensure_ascii=False).encode().split(mark.encode())
        pieces = [first]
        for data, text in zip(media, rest, strict=True):
            pieces += [base64.b64encode(data[at : at + _SLICE]) for at in range(0, len(data), _SLICE)]
            pieces.append(text)
        return b"".join(pieces)

    def count(self, kind: type[Part]) -> int:
        """How many parts of ``kind`` go out, the voice's reference among them: the server counts it too (§2.3)."""
        return self._sent(kind) + (kind is Audio and self._reference() is not None)

    def _sent(self, kind: type[Part]) -> int:
        return sum(isinstance(part, kind) for message in self.messages for part in message.parts)

    def _reference(self) -> Audio | None:
        """The reference sound is worth its tokens only when an answer will be spoken, and never at the price of a
        refusal: it would be one sound too many beside a clip of 64 pairs."""
        if self.voice is None or not self.settings.speech or self._sent(Audio) >= _MOST_SOUNDS:
            return None
        return self.voice.reference

    def _body(self, model: str, wire: Wire | None, place: Place) -> Body:
        settings = self.settings
        body: Body = {
            "model": model,
            "messages": [_message(message, place) for message in (*self._system(), *self.messages)],
            "modalities": ["text", "audio"] if settings.speech else ["text"],
        }
        for name in ("max_tokens", "temperature", "seed"):
            if (value := getattr(settings, name)) is not None:
                body[name] = value
        body["stream"] = True
        body["stream_options"] = {"include_usage": True}
        if settings.speech:
            # Thinking is switched off with speech: the talker would read the think block aloud.
            body["chat_template_kwargs"] = {"use_tts_template": True, "enable_thinking": False}
            if wire == "0.30" and (reference := self._reference()) is not None:
                body["ref_audio"] = place(reference.mime, reference.data)
        return body

    def _system(self) -> tuple[Message, ...]:
        if self.voice is None:
            return ()
        parts = (Text(self.voice.before), self._reference(), Text(self.voice.after))
        kept = tuple(part for part in parts if part is not None and part != Text(""))
        return (Message("system", kept),) if kept else ()


def _message(message: Message, place: Place) -> dict[str, Any]:
    texts = [writable(part.text) for part in message.parts if isinstance(part, Text)]
    if len(texts) == len(message.parts):
        return {"role": message.role, "content": "\n".join(texts)}
    return {"role": message.role, "content": [_part(part, place) for part in message.parts]}


def _part(part: Part, place: Place) -> dict[str, Any]:
    if isinstance(part, Text):
        return {"type": "text", "text": writable(part.text)}
    # audio_url and not input_audio: the server turns the latter into a data URL anyway (§2.3), and so all three media
    # have one shape, which names its own type.
    kind = {Image: "image_url", Audio: "audio_url", Video: "video_url"}[type(part)]
    return {"type": kind, kind: {"url": place(part.mime, part.data)}}


def _data_url(mime: str, data: bytes) -> str:
    return f"data:{mime};base64,{base64.b64encode(data).decode('ascii')}"
