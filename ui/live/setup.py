"""What a conversation asks the server for, and how long each of its steps may take."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True)
class Setup:
    """What ``session.update`` says (protocol §4.2)."""

    model: str
    """Id from /v1/models. The socket stores it unchecked, so a wrong one is not refused here."""
    instructions: str
    """Becomes the system prompt."""
    reference: bytes
    """The voice: a WAV file of any rate. No bytes: none is sent, and the server refuses speech (ref_audio_required)."""
    idle_s: float = 300.0
    """Seconds without anything sent after which the server ends the session."""
    server_vad: bool = False
    """The server hears the user talk over an answer and stops it. Asked for only where its capabilities allow it."""
    temperature: float | None = None
    """None: the server's own, 0.7."""


@dataclass(frozen=True)
class Waits:
    """Every time-out and back-off of a session, in seconds: an argument, so that a test need not wait."""

    connect: float = 10.0
    """TCP, TLS and the HTTP upgrade; and the answer to a session.resume, which needs no engine."""
    open: float = 190.0
    """From session.update to session.created: 0.26 gives its engine 60 s, 0.30 holds clients up to 180 s (§7)."""
    ping: float = 5.0
    pong: float = 10.0
    """Between WebSocket pings, and for each pong: a half-open socket is known after 15 s and, with ``close``, left after
    20 s, which leaves 10 s of the server's time of grace. A pong comes from the server's event loop, which decoding a
    reference voice may hold for a second or two."""
    silent: float = 12.0
    """No event although we append: then a heartbeat asks whether anybody is there; without an answer for as long again
    the socket counts as broken. The model decides every second, a loaded card needs 2-3 s for one."""
    undecided: float = 12.0
    """Seconds of microphone on which the model decided nothing: then that is said."""
    answer: float = 64.0
    """A single answer may last this long; then it is cancelled. Twenty tokens a unit and a talker's context of 4096
    codes end an honest one earlier."""
    heartbeat: float = 15.0
    """Nothing appended for so long: a session.heartbeat. The server's leases are 300 s; a proxy's are often 60 s."""
    grace: float = 30.0
    """The server keeps a session whose socket broke for this long (``disconnect_grace_s``)."""
    retry_first: float = 0.25
    retry_most: float = 4.0
    """Back-off between attempts to resume: doubled from the first to the most."""
    full_first: float = 1.0
    full_most: float = 8.0
    """The same while every place is taken: a closing session keeps its place for 1-2 s (§4.9)."""
    full_limit: float = 120.0
    """Then a full server is reported: two minutes of standing in line is what a person at a stand gives it, and 0.30
    frees a lost client's place after 35 s, so three such generations have passed."""
    close: float = 5.0
    """For session.closed after session.close, and for the socket's own goodbye."""
    ack: float = 0.25
    """Between two playback acknowledgements of one response."""
    event_ack: float = 5.0
    """Between two session.event_ack: the journal of 8 MiB holds over two minutes of speech, so this is plenty."""
