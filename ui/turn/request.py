"""One question, as the server wants it (protocol §2.1-2.3)."""

from __future__ import annotations

import base64
from dataclasses import dataclass
from typing import Any, Literal

from ui.turn.parts import Audio, Image, Message, Part, Settings, Text, Video, Voice
from ui.turn.recipes import as_curl, as_powershell, as_python

__all__ = ["Body", "Request", "Wire", "as_curl", "as_powershell", "as_python"]

Wire = Literal["0.26", "0.30"]
Body = dict[str, Any]


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
        settings = self.settings
        messages = [*self._system(), *(_message(message) for message in self.messages)]
        body: Body = {
            "model": model,
            "messages": messages,
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
            if wire == "0.30" and self.voice is not None and self.voice.reference is not None:
                body["ref_audio"] = _data_url(self.voice.reference.mime, self.voice.reference.data)
        return body

    def count(self, kind: type[Part]) -> int:
        """How many parts of ``kind`` go out, the voice's reference among them: the server counts it too (§2.3)."""
        sent = sum(isinstance(part, kind) for message in self.messages for part in message.parts)
        return sent + (kind is Audio and self._reference() is not None)

    def _reference(self) -> Audio | None:
        """The reference sound is worth its tokens only when an answer will be spoken."""
        return self.voice.reference if self.voice is not None and self.settings.speech else None

    def _system(self) -> list[dict[str, Any]]:
        if self.voice is None:
            return []
        parts = [Text(self.voice.before), self._reference(), Text(self.voice.after)]
        kept = tuple(part for part in parts if part is not None and part != Text(""))
        return [_message(Message("system", kept))] if kept else []


def _message(message: Message) -> dict[str, Any]:
    texts = [_text(part) for part in message.parts if isinstance(part, Text)]
    if len(texts) == len(message.parts):
        return {"role": message.role, "content": "\n".join(texts)}
    return {"role": message.role, "content": [_part(part) for part in message.parts]}


def _part(part: Part) -> dict[str, Any]:
    match part:
        case Text():
            return {"type": "text", "text": _text(part)}
        case Image():
            return {"type": "image_url", "image_url": {"url": _data_url(part.mime, part.data)}}
        case Audio():
            # audio_url and not input_audio: the server turns the latter into a data URL anyway (§2.3), and so all three
            # media have one shape, which names its own type.
            return {"type": "audio_url", "audio_url": {"url": _data_url(part.mime, part.data)}}
        case Video():
            return {"type": "video_url", "video_url": {"url": _data_url(part.mime, part.data)}}


def _text(part: Text) -> str:
    """A browser can hand over half a surrogate pair; UTF-8 has no way to write one."""
    return part.text.encode("utf-8", "replace").decode("utf-8")


def _data_url(mime: str, data: bytes) -> str:
    return f"data:{mime};base64,{base64.b64encode(data).decode('ascii')}"
