"""A client's socket: its first event opens or resumes a session, every other one is for that session (§4.2-4.3)."""

from __future__ import annotations

import asyncio
import json
import time
import uuid
from collections.abc import Awaitable, Callable
from typing import Any, Literal

from starlette.websockets import WebSocket

from launch.rehearsal.wire.realtime.attachment import Attachment
from launch.rehearsal.wire.realtime.envelope import Projection
from launch.rehearsal.wire.realtime.lobby import Lobby, Place
from launch.rehearsal.wire.realtime.microphone import is_loud, picture_of, sound_of
from launch.rehearsal.wire.realtime.opening import opening
from launch.rehearsal.wire.realtime.playback import too_late
from launch.rehearsal.wire.realtime.refusals import Refusal

EVENT_MOST = 15 << 20  # bytes of one event
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


class Gone(Exception):
    """The client has left."""


class Conversation:
    """``native``: 0.26's ``/v1/duplex``, where a session is created and not updated, and sound is a WAV a piece."""

    def __init__(self, socket: WebSocket, lobby: Lobby, projection: Projection, *, native: bool = False) -> None:
        self._socket = socket
        self._lobby = lobby
        self._projection = projection
        self._native = native
        self._old = lobby.wire == "0.26"
        self._attachment = Attachment(socket)
        self._place: Place | None = None
        self._items: dict[str, Event] = {}
        self._received = time.monotonic()

    async def run(self, first: Event | None) -> None:
        """Until either side ends it. ``first``: what stands for the client's first event (autostart), else None."""
        gone = False
        try:
            self._place = await self._handshake(first)
            await self._talk(self._place)
        except Refusal as refusal:
            self._attachment.say(json.dumps(self._projection.stamped(self._projection.refusal(refusal))))
            self._attachment.end()
        except Gone:
            gone = True
        finally:
            if self._place is not None:
                self._lobby.leave(self._place, self._attachment)
            await self._attachment.close(at_once=gone)

    async def _handshake(self, event: Event | None) -> Place:
        while True:
            if event is None:
                event = await self._first()
            kind = ALIASES.get(str(event.get("type")), event.get("type"))
            if kind == "session.resume" and not self._native:
                return self._lobby.resume(event, self._attachment)
            opens = "session.create" if self._native else "session.update"
            if kind != opens:
                if self._old:
                    raise Refusal("bad_event", f"Expected session.create, got: {kind}", fatal=True)
                event = {}  # 0.30 takes anything for a wish to begin
            try:
                container: Literal["pcm", "wav"] = "wav" if self._native else "pcm"
                wanted = opening(event.get("session"), self._lobby.wire, self._lobby.limits.idle_s, container=container)
            except Refusal as refusal:
                if refusal.fatal:
                    raise
                self._attachment.say(json.dumps(self._projection.stamped(self._projection.refusal(refusal))))
                event = None
                continue
            place = self._lobby.open(wanted, self._projection, self._attachment)
            if not self._native:
                place.session.tell_plainly({"type": "session.updated", "session": place.session.describe()})
            return place

    async def _first(self) -> Event:
        try:
            async with asyncio.timeout(self._lobby.limits.handshake_s):
                return await self._event(f"Invalid JSON in session.{'create' if self._old else 'update'}")
        except TimeoutError as error:
            raise Refusal("config_timeout", "Timed out waiting for session.create", fatal=True) from error

    async def _event(self, broken: str = "Invalid JSON event") -> Event:
        """The client's next event. Raises ``Gone``; ``Refusal`` for what is none."""
        message = await self._socket.receive()
        if message["type"] == "websocket.disconnect":
            raise Gone
        self._received = time.monotonic()
        text = message.get("text") or ""
        if len(text) > EVENT_MOST:
            raise Refusal("event_too_large", f"Event exceeds {EVENT_MOST} bytes")
        try:
            event = json.loads(text)
        except ValueError as error:
            raise Refusal("invalid_json", broken, fatal=broken != "Invalid JSON event") from error
        if not isinstance(event, dict):
            raise Refusal("bad_event", "An event must be a JSON object")
        return event

    async def _talk(self, place: Place) -> None:
        session, limits = place.session, self._lobby.limits
        death = asyncio.create_task(self._attachment.died.wait())
        try:
            while True:
                now = time.monotonic()
                idle = self._received + session.opening.idle_s - now
                lease = session.touched + limits.lease_s - now
                if idle <= 0:
                    return await self._ended(place, {"reason": "timeout"})
                if lease <= 0:
                    return await self._expired(place)
                reading = asyncio.ensure_future(self._event())
                await asyncio.wait({reading, death}, timeout=min(idle, lease), return_when=asyncio.FIRST_COMPLETED)
                if death.done():
                    reading.cancel()
                    await asyncio.gather(reading, return_exceptions=True)
                    return await self._died(place)
                if not reading.done():
                    reading.cancel()
                    await asyncio.gather(reading, return_exceptions=True)
                    continue
                if place.attachment is not self._attachment:
                    return  # somebody resumed it elsewhere; that socket was told and is being closed
                try:
                    if await self._handle(place, reading.result()):
                        return
                except Refusal as refusal:
                    self._refuse(place, refusal)
        finally:
            death.cancel()
            await asyncio.gather(death, return_exceptions=True)

    def _refuse(self, place: Place, refusal: Refusal) -> None:
        told = self._projection.refusal(refusal)
        if not self._old and refusal.code in ("unknown_event", "invalid_json"):  # 0.30's translator numbers nothing
            self._attachment.say(json.dumps(self._projection.stamped(told)))
        else:
            place.session.tell_plainly(told)

    async def _ended(self, place: Place, more: Event) -> None:
        await self._lobby.end(place, "session_close")
        place.session.tell({"type": "session.closed", "session_id": place.session.id, **more})
        if self._old:
            self._attachment.end()
        else:
            self._attachment.end(1000, "client_close")

    async def _expired(self, place: Place) -> None:
        await self._lobby.end(place, "timeout")
        incarnation = {"incarnation": 0} if self._old else {}
        told = {"session_id": place.session.id, **incarnation, "reason": "idle_ttl_expired"}
        place.session.tell_plainly({"type": "session.expired", **told})
        self._attachment.end(1000, "session_expired")

    async def _died(self, place: Place) -> None:
        self._refuse(place, Refusal("runtime_append_failed", "EngineCore encountered an issue."))
        place.session.send = None  # a process that dies says nothing more
        await self._lobby.end(place, "engine_dead")
        self._attachment.end(1012)

    # One event of an open session. True: it was the last.

    async def _handle(self, place: Place, event: Event) -> bool:
        sent = str(event.get("type"))
        kind = ALIASES.get(sent, sent)
        session = place.session
        if kind == "session.close":
            await self._ended(place, {})
            return True
        handler = _HANDLERS.get(kind)
        if handler is None:
            words = "Unknown duplex event" if self._old else "Unknown duplex event type"
            raise Refusal("unknown_event", f"{words}: {sent}")
        if kind == "input_audio_buffer.append" and sent in WAV_BY_DEFAULT:
            event = {"format": "wav", **event}
        session.touched = time.monotonic() if kind != "playback.ack" else session.touched
        await handler(self, place, event)
        return False

    async def _append(self, place: Place, event: Event) -> None:
        session = place.session
        try:
            wave = sound_of(event, session.opening.in_format, self._lobby.wire)
        except Refusal:
            if self._old and event.get("audio"):
                session.notice()  # before it looks whether it can decode it, as captured
            raise
        picture = picture_of(event)
        if session.pending_bytes > self._lobby.limits.pending_bytes:
            raise Refusal("input_backpressure", "Too much unprocessed input; this append is lost")
        pcm = (wave.clip(-1, 1) * 32767).astype("<i2").tobytes()
        session.append(pcm, is_loud(event, wave), picture)
        await session.overhear(pcm)
        if self._old and (event.get("overlap_action") == "barge_in" or event.get("force_barge_in")):
            raise Refusal("barge_in_unsupported", "barge_in is not supported by this duplex runtime")

    async def _commit(self, place: Place, event: Event) -> None:
        await place.session.commit()

    async def _clear(self, place: Place, event: Event) -> None:
        place.session.clear()
        place.session.tell_plainly({"type": "input_audio_buffer.cleared"})

    async def _cancel(self, place: Place, event: Event) -> None:
        if not await place.session.cancel("barge_in" if self._old else "client_cancelled"):
            raise Refusal("response_not_active", "response.cancel requires an active response")

    async def _clear_output(self, place: Place, event: Event) -> None:
        await place.session.cancel("output_audio_buffer_clear")
        place.session.tell_plainly({"type": "output_audio_buffer.cleared"})

    async def _drop_input(self, place: Place, event: Event) -> None:
        place.session.clear()
        await place.session.cancel("input_cancelled")

    async def _barge_in(self, place: Place, event: Event) -> None:
        if self._old:
            raise Refusal("barge_in_unsupported", "barge_in is not supported by this duplex runtime")
        if not await place.session.cancel("barge_in"):
            raise Refusal("response_not_active", "barge_in requires an active response")

    async def _signal(self, place: Place, event: Event) -> None:
        if event.get("event") == "barge_in":
            return await self._barge_in(place, event)
        if event.get("event") == "session.update":
            return await self._update(place, {"session": event.get("payload")})
        told = {"type": "turn.event", "session_id": place.session.id, "event": event.get("event")}
        if self._old and not self._native:
            told = {"type": "duplex.turn.event", "event": told}
        place.session.tell_plainly(told)

    async def _create_response(self, place: Place, event: Event) -> None:
        if place.session.speaking:
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

    async def _update(self, place: Place, event: Event) -> None:
        wanted = event.get("session")
        wanted = wanted if isinstance(wanted, dict) else {}
        session = place.session
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

    async def _acknowledge(self, place: Place, event: Event) -> None:
        session = place.session
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

    async def _heartbeat(self, place: Place, event: Event) -> None:
        place.session.tell_plainly({"type": "session.heartbeat_ack", "session_id": place.session.id})

    async def _seen(self, place: Place, event: Event) -> None:
        number = event.get("server_event_seq")
        if not isinstance(number, int) or not 0 <= number <= place.session.journal.last:
            raise Refusal("invalid_event_ack", "session.event_ack requires a known server_event_seq")
        place.session.journal.seen(number)

    async def _text(self, place: Place, event: Event) -> None:
        raise Refusal("native_text_append_unsupported", "Native duplex sessions take no text input")

    async def _item_create(self, place: Place, event: Event) -> None:
        item = event.get("item")
        item = item if isinstance(item, dict) else {}
        item = {
            **item,
            "id": item.get("id") or f"item_{uuid.uuid4().hex}",
            "object": "realtime.item",
            "status": "completed",
        }
        previous = next(reversed(self._items), None)
        self._items[item["id"]] = item
        for kind in ("added", "created", "done"):
            told = {"type": f"conversation.item.{kind}", "previous_item_id": previous, "item": item}
            place.session.tell_plainly(told)

    async def _item(self, place: Place, event: Event) -> None:
        item_id = event.get("item_id")
        if not item_id:
            raise Refusal("missing_item_id", f"{event['type']} requires item_id")
        what = str(event["type"]).rpartition(".")[2]
        if what == "truncate":
            ends = {"content_index": event.get("content_index", 0), "audio_end_ms": event.get("audio_end_ms", 0)}
            return place.session.tell_plainly({"type": "conversation.item.truncated", "item_id": item_id, **ends})
        if item_id not in self._items:
            raise Refusal("item_not_found", f"No conversation item {item_id}")
        if what == "delete":
            del self._items[item_id]
            return place.session.tell_plainly({"type": "conversation.item.deleted", "item_id": item_id})
        told = {"type": "conversation.item.retrieved", "item_id": item_id, "item": self._items[item_id]}
        return place.session.tell_plainly(told)


_HANDLERS: dict[str, Callable[[Conversation, Place, Event], Awaitable[None]]] = {
    "input_audio_buffer.append": Conversation._append,
    "input_audio_buffer.commit": Conversation._commit,
    "input_audio_buffer.clear": Conversation._clear,
    "response.cancel": Conversation._cancel,
    "response.create": Conversation._create_response,
    "output_audio_buffer.clear": Conversation._clear_output,
    "input.cancel": Conversation._drop_input,
    "barge_in": Conversation._barge_in,
    "turn.signal": Conversation._signal,
    "session.update": Conversation._update,
    "playback.ack": Conversation._acknowledge,
    "session.heartbeat": Conversation._heartbeat,
    "session.event_ack": Conversation._seen,
    "input.text.append": Conversation._text,
    "conversation.item.create": Conversation._item_create,
    "conversation.item.delete": Conversation._item,
    "conversation.item.retrieve": Conversation._item,
    "conversation.item.truncate": Conversation._item,
}
