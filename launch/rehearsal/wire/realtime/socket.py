"""A client's socket: its first event opens or resumes a session, every other one is for that session (§4.2-4.3)."""

from __future__ import annotations

import asyncio
import json
import time
from typing import Any, Literal

from starlette.websockets import WebSocket

from launch.rehearsal.wire.realtime.asking import ALIASES, Desk
from launch.rehearsal.wire.realtime.attachment import Attachment
from launch.rehearsal.wire.realtime.envelope import Projection
from launch.rehearsal.wire.realtime.lobby import Lobby, Place
from launch.rehearsal.wire.realtime.opening import opening
from launch.rehearsal.wire.realtime.reading import event_of
from launch.rehearsal.wire.realtime.refusals import Refusal

EVENT_MOST = 15 << 20  # bytes of one event
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
        self._desk = Desk(lobby.wire, native=native, pending_bytes=lobby.limits.pending_bytes)
        self._received = time.monotonic()

    async def run(self, first: Event | None) -> None:
        """Until either side ends it. ``first``: what stands for the client's first event (autostart), else None."""
        at_once = True  # whatever stops us before an end was said: nobody would write it
        try:
            self._place = await self._handshake(first)
            await self._talk(self._place)
            at_once = False
        except Refusal as refusal:
            self._attachment.say(json.dumps(self._projection.stamped(self._projection.refusal(refusal))))
            self._attachment.end()
            at_once = False
        except Gone:
            return
        finally:
            if self._place is not None:
                self._lobby.leave(self._place, self._attachment)
            await self._attachment.close(at_once=at_once)

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
            event = event_of(text)
        except ValueError as error:
            raise Refusal("invalid_json", broken, fatal=broken != "Invalid JSON event") from error
        if event is None:
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
                    event = reading.result()
                    if ALIASES.get(str(event.get("type")), event.get("type")) == "session.close":
                        return await self._ended(place, {})
                    await self._desk.take(session, event)
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
