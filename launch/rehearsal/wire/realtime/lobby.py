"""The sessions of one engine: how many there may be, who is attached to which, and who may come back (§4.9-4.10)."""

from __future__ import annotations

import asyncio
import json
import secrets
from dataclasses import dataclass, field
from typing import Any

from launch.rehearsal.brain.brain import Brain
from launch.rehearsal.wire.realtime.attachment import Attachment
from launch.rehearsal.wire.realtime.describing import runtime_control
from launch.rehearsal.wire.realtime.envelope import Projection
from launch.rehearsal.wire.realtime.journal import KEPT_BYTES, KEPT_S, Journal, stamped
from launch.rehearsal.wire.realtime.opening import Opening
from launch.rehearsal.wire.realtime.refusals import Refusal
from launch.rehearsal.wire.realtime.session import DuplexSession
from launch.rehearsal.wire.realtime.trouble import Troubles


@dataclass(frozen=True)
class Limits:
    """The server's own (``duplex_session`` of the deploy YAML; protocol §4.9), in seconds and bytes."""

    max_sessions: int = 2
    handshake_s: float = 10.0
    idle_s: float = 300.0
    lease_s: float = 300.0
    grace_s: float = 30.0
    replay_s: float = KEPT_S
    replay_bytes: int = KEPT_BYTES
    pending_bytes: int = 16 << 20


LIMITS = Limits()


@dataclass(eq=False)
class Place:
    """A session and who sits at it. ``token``: what the next ``session.resume`` must bring."""

    session: DuplexSession
    attachment: Attachment | None = None
    generation: int = 0
    token: str = ""
    leaving: asyncio.Task[None] | None = field(default=None, repr=False)


class Lobby:
    """Belongs to one event loop; ``close`` ends every session."""

    def __init__(self, brain: Brain, wire: str, troubles: Troubles, limits: Limits) -> None:
        self.wire = wire
        self.limits = limits
        self.troubles = troubles
        self._brain = brain
        self._places: dict[str, Place] = {}

    def __len__(self) -> int:
        return len(self._places)

    def open(self, opening: Opening, projection: Projection, attachment: Attachment) -> Place:
        """A new session; ``session.created`` and ``session.updated`` are said. Raises ``Refusal`` when all is taken."""
        if len(self._places) >= self.limits.max_sessions or self.troubles.comes("capacity"):
            words = f"duplex_session_capacity_exhausted: limit={self.limits.max_sessions}"
            raise Refusal("resource_exhausted", words, fatal=True)
        journal = Journal(kept_s=self.limits.replay_s, kept_bytes=self.limits.replay_bytes, stamp=projection.stamped)
        trouble = self.troubles.draw()
        session = DuplexSession(
            opening, self._brain, wire=self.wire, projection=projection, journal=journal, trouble=trouble
        )
        place = self._places[session.id] = Place(session)
        self._seat(place, attachment)
        created = {"type": "session.created", "session": session.describe(projection.style), **self._papers(place)}
        if projection.style == "native":
            created["runtime_control"] = runtime_control(session.id)
        attachment.say(json.dumps(projection.stamped(created)))
        session.send = attachment.say
        return place

    def resume(self, event: dict[str, Any], attachment: Attachment) -> Place:
        """Back to a session, in place of whoever sits there: ``session.resumed``, then what was missed. Raises ``Refusal``."""
        place = self._places.get(str(event.get("session_id")))
        if place is None:
            words = f"Unknown or expired duplex session: {event.get('session_id')}"
            raise Refusal("session_resume_expired", words, fatal=True)
        if not secrets.compare_digest(place.token.encode(), str(event.get("resume_token")).encode()):
            raise Refusal("invalid_resume_token", "Invalid duplex session resume token", fatal=True)
        seen = event.get("last_received_server_event_seq", 0)
        if not isinstance(seen, int) or isinstance(seen, bool) or seen < 0:
            raise Refusal("invalid_session_resume", "last_received_server_event_seq must be an integer", fatal=True)
        session = place.session
        if self.troubles.comes("journal-gap"):
            session.journal.lose()
        missed = session.journal.since(seen)
        if missed is None:
            gone = {"type": "session.resync_required", "session_id": session.id, "reason": "journal_gap"}
            attachment.say(json.dumps(stamped(gone)))
            raise Refusal("session_resume_expired", "The missed events are gone.", fatal=True)
        if (before := place.attachment) is not None:
            generation = {"attachment_generation": place.generation + 1}
            replaced = {"type": "session.replaced", "session_id": session.id, **generation}
            before.say(json.dumps(stamped(replaced)))
            before.end(1000, "session_replaced")
        self._seat(place, attachment)
        more = {} if self.wire == "0.26" else {"session": session.describe("resumed")}
        resumed = {"type": "session.resumed", "session_id": session.id, **more, **self._papers(place)}
        attachment.say(json.dumps(stamped(resumed)))
        for text in missed:
            attachment.say(text)
        session.send = attachment.say
        return place

    def leave(self, place: Place, attachment: Attachment) -> None:
        """The socket has gone: the session waits for it a while, still counted."""
        if place.attachment is attachment:
            place.attachment = place.session.send = None
            place.leaving = asyncio.create_task(self._wait(place), name=f"grace {place.session.id}")

    async def end(self, place: Place, reason: str) -> None:
        """The session is over; its place is free."""
        await place.session.close(reason)
        self._places.pop(place.session.id, None)

    async def close(self) -> None:
        for place in list(self._places.values()):
            if place.leaving is not None:
                place.leaving.cancel()
                await asyncio.wait([place.leaving])
            await self.end(place, "server_shutdown")

    async def _wait(self, place: Place) -> None:
        await asyncio.sleep(self.limits.grace_s)
        await self.end(place, "disconnected")

    def _seat(self, place: Place, attachment: Attachment) -> None:
        if place.leaving is not None:
            place.leaving.cancel()
            place.leaving = None
        place.attachment = attachment
        place.generation += 1
        place.token = secrets.token_urlsafe(32)
        attachment.trouble = place.session.trouble.at_event

    def _papers(self, place: Place) -> dict[str, Any]:
        incarnation = {"incarnation": 0} if self.wire == "0.26" else {}
        return {**incarnation, "attachment_generation": place.generation, "resume_token": place.token}
