"""What a session tells, as one of the server's two vocabularies.

The engine's own events are flat (``reference/protocol.md`` §4.11). 0.26's ``/v1/duplex`` sends them as they are (``Native``);
``/v1/realtime`` of both versions projects them onto OpenAI's Realtime events (``Realtime``), in the order of §4.4.
"""

from __future__ import annotations

import base64
from collections.abc import Iterable
from typing import Any, Protocol

from launch.rehearsal.wire.realtime.describing import Style
from launch.rehearsal.wire.realtime.journal import stamped
from launch.rehearsal.wire.realtime.refusals import Refusal

Event = dict[str, Any]


class Projection(Protocol):
    style: Style

    def __call__(self, event: Event) -> Iterable[Event]:
        """The wire's events for one of the engine's."""
        ...

    def refusal(self, refusal: Refusal) -> Event: ...

    def stamped(self, event: Event) -> Event:
        """With an id of its own, where the dialect has them."""
        ...


class Native:
    """0.26's ``/v1/duplex``: flat, the words inside the sound's event, every piece of sound a WAV unless asked otherwise."""

    style: Style = "native"

    def __call__(self, event: Event) -> Iterable[Event]:
        if event["type"] == "response.output_audio.delta":
            yield event | {"audio": base64.b64encode(event["audio"]).decode()}
        elif not event["type"].startswith("input_audio_buffer."):
            yield event

    def refusal(self, refusal: Refusal) -> Event:
        return refusal.flat()

    def stamped(self, event: Event) -> Event:
        return event


class Realtime:
    """``newer``: the names of 0.30. One for each session: it knows the items that came before."""

    style: Style = "realtime"

    def __init__(self, *, newer: bool) -> None:
        self._sound = "response.output_audio" if newer else "response.audio"
        self._words = "response.output_audio_transcript" if newer else "response.audio_transcript"
        self._newer = newer
        self._previous: str | None = None
        self._place: Event = {}
        self._before: str | None = None
        self._response = ""
        self._transcript = ""
        self._marks: list[Event] = []
        self._duration_ms = 0
        self._speaks = True
        self._last: Event = {}

    def refusal(self, refusal: Refusal) -> Event:
        return refusal.event()

    def stamped(self, event: Event) -> Event:
        return stamped(event)

    def __call__(self, event: Event) -> Iterable[Event]:
        match event["type"]:
            case "response.created":
                return self._created(event)
            case "response.speak":
                metadata = {"session_id": event["session_id"], "epoch": event["epoch"], "model_speak": True}
                return [{"type": "response.speak", **self._place, "metadata": metadata}]
            case "response.output_audio.delta":
                return self._delta(event)
            case "response.done":
                return self._done(event)
            case "audio.cancelled":
                return self._cancelled(event)
            case "response.listen":
                shown = {"object": "realtime.response", "status": "listening", "metadata": event}
                return [
                    {
                        "type": "response.listen",
                        "session_id": event["session_id"],
                        "epoch": event["epoch"],
                        "response": shown,
                    }
                ]
            case "input.committed":
                return self._committed(event)
            case "playback.acknowledged":
                return [{"type": "playback.acknowledged", "event": event}]
            case "session.closed":
                if self._newer:
                    reason = event.get("reason", "client_close")
                    closed = {"session_id": event["session_id"], "reason": reason, "event": {}}
                    return [{"type": "session.closed", **closed}]
                return [{"type": "session.closed", "event": event}]
            case _:
                return [event]

    def _item(self, status: str, content: list[Event]) -> Event:
        return {
            "id": self._place["item_id"],
            "object": "realtime.item",
            "type": "message",
            "role": "assistant",
            "status": status,
            "content": content,
        }

    def _created(self, event: Event) -> Iterable[Event]:
        self._response = event["response_id"]
        item_id = f"item_{self._response}"
        self._before, self._previous = self._previous, item_id
        self._place = {"response_id": self._response, "item_id": item_id, "output_index": 0, "content_index": 0}
        self._transcript, self._marks, self._duration_ms = "", [], 0
        self._speaks = "audio" in event["modalities"]
        response = {
            "id": self._response,
            "object": "realtime.response",
            "status": "in_progress",
            "status_details": None,
            "output": [],
            "modalities": event["modalities"],
            "metadata": {"duplex_event": event},
        }
        item = self._item("in_progress", [])
        yield {"type": "response.created", "response_id": self._response, "response": response}
        yield {"type": "conversation.item.added", "previous_item_id": self._before, "item": item}
        yield {"type": "conversation.item.created", "previous_item_id": self._before, "item": item}
        yield {"type": "response.output_item.added", "response_id": self._response, "output_index": 0, "item": item}
        if self._speaks:
            part = {"type": "audio", "transcript": ""}
            yield {"type": "response.content_part.added", **self._place, "part": part}

    def _delta(self, event: Event) -> Iterable[Event]:
        self._transcript += event["text"]
        self._duration_ms = event["audio_duration_ms"]
        mark = {"text_chars": len(self._transcript), "audio_end_ms": self._duration_ms}
        self._marks.append(mark)
        metadata = {
            "session_id": event["session_id"],
            "epoch": event["epoch"],
            "model_speak": True,
            "end_of_turn": event["end_of_turn"],
            "playback": event["playback"],
            "vllm_omni": event["vllm_omni"],
            "audio_duration_ms": self._duration_ms,
            "audio_text_marks": [mark],
        }
        sound = base64.b64encode(event["audio"]).decode()
        self._last = event | {"audio": sound}
        if self._speaks:
            yield {
                "type": f"{self._sound}.delta",
                **self._place,
                "delta": sound,
                "format": "wav" if event["format"] == "wav" else "pcm16",
                "sample_rate_hz": event["sample_rate_hz"],
                "metadata": metadata,
            }
        yield {"type": f"{self._words}.delta", **self._place, "delta": event["text"]}

    def _cancelled(self, event: Event) -> Iterable[Event]:
        if event["response_id"] is None:
            return
        if not self._newer:
            ends = {"content_index": 0, "audio_end_ms": event["committed_ms"], "event": event}
            yield {"type": "conversation.item.truncated", "item_id": self._place["item_id"], **ends}
        details = {"type": "cancelled", "reason": event["reason"]}
        yield from self._ended("cancelled", details, event, self._said_by(event["committed_ms"]))

    def _done(self, event: Event) -> Iterable[Event]:
        status = event.get("status", "completed")
        details = event.get("status_details", {"type": "completed", "reason": "stop"})
        return self._ended(status, details, self._last, self._transcript)

    def _ended(self, status: str, details: Event, event: Event, kept: str) -> Iterable[Event]:
        content = {
            "type": "output_audio",
            "transcript": kept,
            "audio_duration_ms": self._duration_ms,
            "audio_text_marks": self._marks,
        }
        item = self._item(status, [content])
        if self._speaks:
            yield {"type": f"{self._sound}.done", **self._place}
        if self._transcript:
            yield {"type": f"{self._words}.done", **self._place, "transcript": self._transcript}
        if self._speaks:
            part = {"type": "audio", "transcript": self._transcript}
            yield {"type": "response.content_part.done", **self._place, "part": part}
        yield {"type": "response.output_item.done", "response_id": self._response, "output_index": 0, "item": item}
        yield {"type": "conversation.item.done", "previous_item_id": self._before, "item": item}
        response = {
            "id": self._response,
            "object": "realtime.response",
            "status": status,
            "status_details": details,
            "output": [item],
            "metadata": event,
        }
        yield {"type": "response.done", "response_id": self._response, "response": response}
        yield {"type": "rate_limits.updated", "rate_limits": []}

    def _said_by(self, ms: float) -> str:
        """The words whose sound was heard by then, as the server cuts them (§4.8): in proportion between two marks."""
        chars, start_chars, start_ms = 0, 0, 0
        for mark in self._marks:
            if ms < mark["audio_end_ms"]:
                share = (ms - start_ms) / max(1, mark["audio_end_ms"] - start_ms)
                return self._transcript[: start_chars + int((mark["text_chars"] - start_chars) * max(0.0, share))]
            chars = start_chars = mark["text_chars"]
            start_ms = mark["audio_end_ms"]
        return self._transcript[:chars]

    def _committed(self, event: Event) -> Iterable[Event]:
        item_id = event["realtime_item_id"]
        before, self._previous = self._previous, item_id
        committed = {"previous_item_id": before, "item_id": item_id, "event": event}
        if event.get("no_response"):
            return [{"type": "input_audio_buffer.committed", **committed}]
        item = {
            "id": item_id,
            "object": "realtime.item",
            "type": "message",
            "role": "user",
            "status": "completed",
            "content": [{"type": "input_audio", "transcript": ""}],
        }
        place = {"previous_item_id": before, "item": item}
        return [
            {"type": "conversation.item.added", **place},
            {"type": "conversation.item.created", **place},
            {"type": "input_audio_buffer.committed", **committed},
            {"type": "conversation.item.done", **place},
        ]
