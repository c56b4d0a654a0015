"""What a client may ask of an open session, event by event (protocol §4.3)."""

from __future__ import annotations

import time
import uuid
from collections.abc import Awaitable, Callable
from typing import Any

from launch.rehearsal.wire.realtime.microphone import is_loud, picture_of, sound_of
from launch.rehearsal.wire.realtime.playback import too_late
from launch.rehearsal.wire.realtime.refusals import Refusal
from launch.rehearsal.wire.realtime.session import DuplexSession

ALIASES = {
    "input.audio.append": "input_audio_buffer.append",
    "push_chunk": "input_audio_buffer.append",
    "audio.playback_ack": "playback.ack",
    "close": "session.close",
    "close_session": "session.close",
    "signal_turn": "turn.signal",
    "input_text.append": "input.text.append",
    "push_text": "input.text.append",
    "open_session": "session.create",
    "session.config": "session.create",
}
WAV_BY_DEFAULT = ("input.audio.append", "push_chunk")
Event = dict[str, Any]


class Desk:
    """One socket's. ``native``: it speaks 0.26's flat dialect. ``pending_bytes``: of sound that may wait to be heard."""

    def __init__(self, wire: str, *, native: bool, pending_bytes: int) -> None:
        self._old = wire == "0.26"
        self._native = native
        self._pending_bytes = pending_bytes
        self._items: dict[str, Event] = {}

    async def take(self, session: DuplexSession, event: Event) -> None:
        """Does what ``event`` asks. Raises ``Refusal``."""
        sent = str(event.get("type"))
        kind = ALIASES.get(sent, sent)
        handler = _HANDLERS.get(kind)
        if handler is None:
            words = "Unknown duplex event" if self._old else "Unknown duplex event type"
            raise Refusal("unknown_event", f"{words}: {sent}")
        if kind == "input_audio_buffer.append" and sent in WAV_BY_DEFAULT:
            event = {"format": "wav", **event}
        if kind != "playback.ack":  # which renews the socket's clock and not the engine's (§4.9)
            session.touched = time.monotonic()
        await handler(self, session, event)

    async def _append(self, session: DuplexSession, event: Event) -> None:
        try:
            wave = sound_of(event, session.opening.in_format, session.wire)
        except Refusal:
            if self._old and event.get("audio"):
                session.notice()  # before it looks whether it can decode it, as captured
            raise
        picture = picture_of(event)
        if session.pending_bytes > self._pending_bytes:
            raise Refusal("input_backpressure", "Too much unprocessed input; this append is lost")
        pcm = (wave.clip(-1, 1) * 32767).astype("<i2").tobytes()
        session.append(pcm, is_loud(event, wave), picture)
        await session.overhear(pcm)
        if self._old and (event.get("overlap_action") == "barge_in" or event.get("force_barge_in")):
            raise Refusal("barge_in_unsupported", "barge_in is not supported by this duplex runtime")

    async def _commit(self, session: DuplexSession, event: Event) -> None:
        await session.commit()

    async def _clear(self, session: DuplexSession, event: Event) -> None:
        session.clear()
        session.tell_plainly({"type": "input_audio_buffer.cleared"})

    async def _cancel(self, session: DuplexSession, event: Event) -> None:
        if not await session.cancel("barge_in" if self._old else "client_cancelled"):
            raise Refusal("response_not_active", "response.cancel requires an active response")

    async def _clear_output(self, session: DuplexSession, event: Event) -> None:
        await session.cancel("output_audio_buffer_clear")
        session.tell_plainly({"type": "output_audio_buffer.cleared"})

    async def _drop_input(self, session: DuplexSession, event: Event) -> None:
        session.clear()
        await session.cancel("input_cancelled")

    async def _barge_in(self, session: DuplexSession, event: Event) -> None:
        if self._old:
            raise Refusal("barge_in_unsupported", "barge_in is not supported by this duplex runtime")
        if not await session.cancel("barge_in"):
            raise Refusal("response_not_active", "barge_in requires an active response")

    async def _signal(self, session: DuplexSession, event: Event) -> None:
        if event.get("event") == "barge_in":
            return await self._barge_in(session, event)
        if event.get("event") == "session.update":
            return await self._update(session, {"session": event.get("payload")})
        told = {"type": "turn.event", "session_id": session.id, "event": event.get("event")}
        if self._old and not self._native:
            told = {"type": "duplex.turn.event", "event": told}
        session.tell_plainly(told)

    async def _create_response(self, session: DuplexSession, event: Event) -> None:
        if session.speaking:
            raise Refusal("response_already_active", "A response is already active")
        options = event.get("response")
        if isinstance(options, dict) and options.keys() & {
            "instructions",
            "voice",
            "temperature",
            "max_tokens",
            "tools",
        }:
            raise Refusal("unsupported_native_response_options", "Native duplex takes no response options")
        if self._old:
            raise Refusal("response_create_without_input", "response.create requires committed input audio")
        words = (
            "This duplex model answers speech input only. Seed the session with initial_user_text to ask it in text."
        )
        raise Refusal("text_only_turn_unsupported", words)

    async def _update(self, session: DuplexSession, event: Event) -> None:
        wanted = event.get("session")
        wanted = wanted if isinstance(wanted, dict) else {}
        if isinstance(wanted.get("ref_audio"), str):
            opened = "native duplex runtime" if self._old else "session"
            words = f"session.update cannot change ref_audio after the {opened} is open"
            raise Refusal("ref_audio_update_unsupported", words)
        if wanted.get("model") not in (None, session.opening.model):
            raise Refusal("model_update_unsupported", "session.update cannot change the model")
        if "instructions" in wanted and not self._old:
            words = "instructions cannot be changed after the session is created"
            raise Refusal("instructions_update_unsupported", words)
        if not self._old and "turn_detection" in wanted:
            detection = wanted["turn_detection"]
            session.listen_for_voice(detection if isinstance(detection, dict) else None)
        session.tell_plainly({"type": "session.updated", "session": session.describe()})

    async def _acknowledge(self, session: DuplexSession, event: Event) -> None:
        if session.trouble.late_acks:
            raise too_late()
        item_id, cursors = session.playback.acknowledge(event)
        session.tell(
            {
                "type": "playback.acknowledged",
                "session_id": session.id,
                "epoch": session.epoch,
                "item_id": item_id,
                "played_ms": cursors.played_ms,
                "committed_ms": cursors.committed_ms,
                "truncate": False,
                "playback": cursors.as_dict(),
                "history_committed": not session.speaking,
            }
        )

    async def _heartbeat(self, session: DuplexSession, event: Event) -> None:
        session.tell_plainly({"type": "session.heartbeat_ack", "session_id": session.id})

    async def _seen(self, session: DuplexSession, event: Event) -> None:
        number = event.get("server_event_seq")
        if not isinstance(number, int) or not 0 <= number <= session.journal.last:
            raise Refusal("invalid_event_ack", "session.event_ack requires a known server_event_seq")
        session.journal.seen(number)

    async def _text(self, session: DuplexSession, event: Event) -> None:
        raise Refusal("native_text_append_unsupported", "Native duplex sessions take no text input")

    async def _item_create(self, session: DuplexSession, event: Event) -> None:
        item = event.get("item")
        item = item if isinstance(item, dict) else {}
        asked = item.get("id")
        item = {
            **item,
            "id": asked if isinstance(asked, str) and asked else f"item_{uuid.uuid4().hex}",
            "object": "realtime.item",
            "status": "completed",
        }
        previous = next(reversed(self._items), None)
        self._items[item["id"]] = item
        for kind in ("added", "created", "done"):
            told = {"type": f"conversation.item.{kind}", "previous_item_id": previous, "item": item}
            session.tell_plainly(told)

    async def _item(self, session: DuplexSession, event: Event) -> None:
        item_id = event.get("item_id")
        if not isinstance(item_id, str) or not item_id:
            raise Refusal("missing_item_id", f"{event['type']} requires item_id")
        what = str(event["type"]).rpartition(".")[2]
        if what == "truncate":
            ends = {"content_index": event.get("content_index", 0), "audio_end_ms": event.get("audio_end_ms", 0)}
            return session.tell_plainly({"type": "conversation.item.truncated", "item_id": item_id, **ends})
        if item_id not in self._items:
            raise Refusal("item_not_found", f"No conversation item {item_id}")
        if what == "delete":
            del self._items[item_id]
            return session.tell_plainly({"type": "conversation.item.deleted", "item_id": item_id})
        told = {"type": "conversation.item.retrieved", "item_id": item_id, "item": self._items[item_id]}
        return session.tell_plainly(told)


_HANDLERS: dict[str, Callable[[Desk, DuplexSession, Event], Awaitable[None]]] = {
    "input_audio_buffer.append": Desk._append,
    "input_audio_buffer.commit": Desk._commit,
    "input_audio_buffer.clear": Desk._clear,
    "response.cancel": Desk._cancel,
    "response.create": Desk._create_response,
    "output_audio_buffer.clear": Desk._clear_output,
    "input.cancel": Desk._drop_input,
    "barge_in": Desk._barge_in,
    "turn.signal": Desk._signal,
    "session.update": Desk._update,
    "playback.ack": Desk._acknowledge,
    "session.heartbeat": Desk._heartbeat,
    "session.event_ack": Desk._seen,
    "input.text.append": Desk._text,
    "conversation.item.create": Desk._item_create,
    "conversation.item.delete": Desk._item,
    "conversation.item.retrieve": Desk._item,
    "conversation.item.truncate": Desk._item,
}
