"""What ties us to a session on the server across sockets: its id, its changing token, and how far we have heard."""

from __future__ import annotations

from dataclasses import dataclass

from ui.live.events import Known, SessionCreated, SessionEventAck, SessionResume, SessionResumed, UnknownEvent


@dataclass
class Attachment:
    """A session that can be resumed (protocol §4.10). ``resumable`` False: its server said that it no longer is."""

    session_id: str
    token: str | None
    incarnation: int | None
    seen: int = 0
    """Highest ``server_event_seq`` taken."""
    acked: int = 0
    missed: int = 0
    """Events between two numbers taken: none is ever missing as long as the server keeps its promise."""
    resumable: bool = True

    @classmethod
    def of(cls, created: SessionCreated) -> Attachment:
        assert created.session is not None
        return cls(created.session.id, created.resume_token, created.incarnation, resumable=bool(created.resume_token))

    def renew(self, resumed: SessionResumed) -> None:
        """The old token is dead; whatever is newer than ``seen`` follows."""
        self.token = resumed.resume_token

    def resume(self) -> SessionResume:
        """The first frame on a new socket."""
        return SessionResume(
            session_id=self.session_id,
            resume_token=self.token or "",
            incarnation=self.incarnation,
            last_received_server_event_seq=self.seen,
        )

    def takes(self, event: Known | UnknownEvent) -> bool:
        """False for an event that was already taken before the socket broke; else it counts as taken."""
        seq = event.server_event_seq
        if seq is None:
            return True
        if seq <= self.seen:
            return False
        self.missed += seq - self.seen - 1
        self.seen = seq
        return True

    def event_ack(self) -> SessionEventAck | None:
        """What the server may forget by now; None when it has been told."""
        if self.acked == self.seen:
            return None
        self.acked = self.seen
        return SessionEventAck(server_event_seq=self.seen)
