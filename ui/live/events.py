"""Every event of the server's realtime socket, both ways, both versions (protocol §4 for 0.26, §7 for 0.30).

Where the versions differ in a name, one class bears both (``response.audio.delta`` is ``response.output_audio.delta``
since 0.30); where they differ in a field, it is optional. The native dialect of 0.26's ``/v1/duplex`` (§4.11), which
the app does not speak, can be read too, so that its captures stay readable. Fields nobody knows are kept.

An event of an unknown type, or of a known type in an unknown shape, is an ``UnknownEvent``: kept, shown, never fatal.
"""

from __future__ import annotations

from typing import Annotated, Any, Literal

from pydantic import AliasChoices, BaseModel, ConfigDict, Field, TypeAdapter, ValidationError

# ------------------------------------------------------------------------------------------------ client → server


class ClientEvent(BaseModel):
    """What we say. ``None`` fields are left out on the wire."""

    model_config = ConfigDict(frozen=True)

    type: str

    def encoded(self) -> str:
        return self.model_dump_json(exclude_none=True)


class SessionUpdate(ClientEvent):
    """First frame of a new session; later it changes what may be changed (§4.2). ``session`` goes as it is, with its
    nulls: ``turn_detection`` must be null, not absent, to switch detection off."""

    type: Literal["session.update"] = "session.update"
    session: dict[str, Any]

    def encoded(self) -> str:
        return self.model_dump_json()


class SessionResume(ClientEvent):
    """First frame after a broken socket (§4.10). ``incarnation``: 0.26 wants it, 0.30 ignores it."""

    type: Literal["session.resume"] = "session.resume"
    session_id: str
    resume_token: str
    incarnation: int | None = None
    last_received_server_event_seq: int = 0


class InputAudioAppend(ClientEvent):
    """200 ms of microphone, for as long as the session is open (§4.3). ``audio``: base64 of s16le mono."""

    type: Literal["input_audio_buffer.append"] = "input_audio_buffer.append"
    audio: str
    input_audio_format: Literal["pcm16"] = "pcm16"
    sample_rate_hz: int = 16_000
    duration_ms: int = 200
    audio_end_ms: int
    video_frames: list[str] | None = None
    """Base64 JPEG, at most two; one is used per second of input."""


class InputAudioCommit(ClientEvent):
    """Ends a turn by hand; a streaming client never sends it (§4.5)."""

    type: Literal["input_audio_buffer.commit"] = "input_audio_buffer.commit"
    final: bool = True


class InputAudioClear(ClientEvent):
    """Drops what was appended and not used."""

    type: Literal["input_audio_buffer.clear"] = "input_audio_buffer.clear"


class InputCancel(ClientEvent):
    """Drops pending input and ends the answer."""

    type: Literal["input.cancel"] = "input.cancel"


class ResponseCreate(ClientEvent):
    """Asks for an answer; only in turn mode."""

    type: Literal["response.create"] = "response.create"


class ResponseCancel(ClientEvent):
    """Ends the answer that is being made (§4.7); ``response_not_active`` when it was already made."""

    type: Literal["response.cancel"] = "response.cancel"
    response_id: str | None = None


class OutputAudioClear(ClientEvent):
    """As ``ResponseCancel``; additionally answered by ``output_audio_buffer.cleared``."""

    type: Literal["output_audio_buffer.clear"] = "output_audio_buffer.clear"
    response_id: str | None = None


class BargeIn(ClientEvent):
    """Ends the answer with the reason barge_in (0.30; 0.26 refuses it)."""

    type: Literal["barge_in"] = "barge_in"


class PlaybackAck(ClientEvent):
    """What was heard of one answer so far, ms (§4.8)."""

    type: Literal["playback.ack"] = "playback.ack"
    response_id: str
    item_id: str
    played_ms: int
    committed_ms: int


class ItemCreate(ClientEvent):
    """A text item for the serving history; the native model does not see it."""

    type: Literal["conversation.item.create"] = "conversation.item.create"
    item: dict[str, Any]


class ItemTruncate(ClientEvent):
    """Cuts an answer's item at ``audio_end_ms``."""

    type: Literal["conversation.item.truncate"] = "conversation.item.truncate"
    item_id: str
    content_index: int = 0
    audio_end_ms: int


class ItemRetrieve(ClientEvent):
    """Asks for an item."""

    type: Literal["conversation.item.retrieve"] = "conversation.item.retrieve"
    item_id: str


class ItemDelete(ClientEvent):
    """Removes an item."""

    type: Literal["conversation.item.delete"] = "conversation.item.delete"
    item_id: str


class TurnSignal(ClientEvent):
    """A hint of a client that decides turns itself; ``event``: user_started, ..."""

    type: Literal["turn.signal"] = "turn.signal"
    event: str
    payload: dict[str, Any] | None = None


class InputTextAppend(ClientEvent):
    """Text into a session; a native one refuses it."""

    type: Literal["input.text.append"] = "input.text.append"
    text: str


class SessionHeartbeat(ClientEvent):
    """Renews both idle clocks (§4.9) while nothing is appended."""

    type: Literal["session.heartbeat"] = "session.heartbeat"


class SessionEventAck(ClientEvent):
    """The server may forget what it kept for a resume up to this number. No answer."""

    type: Literal["session.event_ack"] = "session.event_ack"
    server_event_seq: int


class SessionClose(ClientEvent):
    """The end, said properly: a socket that just drops keeps its place for 30 s."""

    type: Literal["session.close"] = "session.close"


# ------------------------------------------------------------------------------------------------ server → client


class ServerEvent(BaseModel):
    """What the server says. ``server_event_seq``: 1, 2, 3, ... within a session, across its sockets; absent on the
    answers to a first frame and on some errors."""

    model_config = ConfigDict(frozen=True, extra="allow")

    type: str
    event_id: str | None = None
    server_event_seq: int | None = None


class Part(BaseModel):
    """A piece of the wire that is not an event of its own."""

    model_config = ConfigDict(frozen=True, extra="allow")


class SessionInfo(Part):
    """The session as the server holds it. Echoes the client's reference voice (§4.2)."""

    id: str
    capabilities: dict[str, Any] = {}
    idle_timeout_s: float | None = None


class SessionCreated(ServerEvent):
    """Answer to the first ``session.update``. Without ``session`` it is the greeting of the transcription protocol:
    the server is in turn mode (§4.1)."""

    type: Literal["session.created"]
    session: SessionInfo | None = None
    incarnation: int | None = None
    """0.26 only: how the versions are told apart (§7)."""
    attachment_generation: int | None = None
    resume_token: str | None = None


class SessionUpdated(ServerEvent):
    """Right after ``session.created``, and after every later ``session.update``."""

    type: Literal["session.updated"]
    session: SessionInfo | None = None


class SessionResumed(ServerEvent):
    """Answer to ``session.resume``, with a new token; the missed events follow."""

    type: Literal["session.resumed"]
    session_id: str
    resume_token: str
    incarnation: int | None = None
    attachment_generation: int | None = None


class SessionReplaced(ServerEvent):
    """Another socket has resumed this session; ours is closed."""

    type: Literal["session.replaced"]


class SessionExpired(ServerEvent):
    """The engine's lease ran out: nothing appended, no heartbeat, nothing said for ``idle_ttl_s``."""

    type: Literal["session.expired"]
    reason: str | None = None


class ResyncRequired(ServerEvent):
    """``journal_gap``: what we miss is gone, no resume. ``journal_overflow``: this session can no longer be
    resumed, but goes on."""

    type: Literal["session.resync_required"]
    reason: str | None = None


class SessionClosed(ServerEvent):
    """The end. The reason stands in the event (0.30) or in what it wraps (0.26)."""

    type: Literal["session.closed"]
    reason: str | None = None
    event: dict[str, Any] = {}

    @property
    def why(self) -> str:
        return str(self.reason or self.event.get("reason") or "")


class HeartbeatAck(ServerEvent):
    """Answer to ``session.heartbeat``."""

    type: Literal["session.heartbeat_ack"]


class SpeechStarted(ServerEvent):
    """First sound that looks like speech; with server_vad each time."""

    type: Literal["input_audio_buffer.speech_started"]
    audio_start_ms: float | None = None


class SpeechStopped(ServerEvent):
    """After a commit; with server_vad each time the user stops."""

    type: Literal["input_audio_buffer.speech_stopped"]
    audio_end_ms: float | None = None


class InputCommitted(ServerEvent):
    """A commit was taken."""

    type: Literal["input_audio_buffer.committed", "input.committed"]


class InputCleared(ServerEvent):
    """Input was dropped on our demand."""

    type: Literal["input_audio_buffer.cleared", "input.cancelled"]


class InputTranscript(ServerEvent):
    """The transcript that the client itself had sent along; there is no recognition."""

    type: Literal["conversation.item.input_audio_transcription.completed"]
    transcript: str = ""


class ResponseListen(ServerEvent):
    """One second of input was listened to; a decision, no error. Outside an answer about once a second."""

    type: Literal["response.listen"]
    response: dict[str, Any] = {}
    reason: str | None = None

    @property
    def why(self) -> str:
        return str(self.reason or (self.response.get("metadata") or {}).get("reason") or "")


class StatusDetails(Part):
    """Why an answer ended."""

    type: str | None = None
    reason: str | None = None


class ResponseBody(Part):
    """An answer as a whole."""

    id: str | None = None
    status: str | None = None
    status_details: StatusDetails | None = None


class ResponseCreated(ServerEvent):
    """An answer begins."""

    type: Literal["response.created"]
    response_id: str
    response: ResponseBody | None = None


class ResponseSpeak(ServerEvent):
    """The model decided to speak: once, before the first sound."""

    type: Literal["response.speak"]
    response_id: str | None = None


class ItemNews(ServerEvent):
    """Something became of an item of the conversation: added and created when it begins, done at its end."""

    type: Literal[
        "conversation.item.added",
        "conversation.item.created",
        "conversation.item.done",
        "conversation.item.deleted",
        "conversation.item.retrieved",
    ]


class ItemTruncated(ServerEvent):
    """An item was cut at ``audio_end_ms``; on 0.26 the first answer to a cancel."""

    type: Literal["conversation.item.truncated"]
    item_id: str | None = None
    audio_end_ms: float | None = None


class OutputItem(ServerEvent):
    """Envelope of an answer: its item begins, is done."""

    type: Literal["response.output_item.added", "response.output_item.done"]
    response_id: str | None = None


class ContentPart(ServerEvent):
    """Envelope of an answer: its part begins, is done."""

    type: Literal["response.content_part.added", "response.content_part.done"]
    response_id: str | None = None


class AudioMetadata(Part):
    """``audio_duration_ms``: length of the answer so far, this piece included."""

    audio_duration_ms: float | None = None
    end_of_turn: bool | None = None


class AudioDelta(ServerEvent):
    """About a second of an answer's sound. ``delta``: base64, s16le mono, where ``format`` is pcm16."""

    type: Literal["response.audio.delta", "response.output_audio.delta"]
    response_id: str
    delta: str = Field("", validation_alias=AliasChoices("delta", "audio"))
    format: str = "pcm16"
    sample_rate_hz: int | None = None
    metadata: AudioMetadata = AudioMetadata()


class TranscriptDelta(ServerEvent):
    """The words of the sound just sent; may be empty."""

    type: Literal["response.audio_transcript.delta", "response.output_audio_transcript.delta"]
    response_id: str
    delta: str = ""


class AudioDone(ServerEvent):
    """No more sound of this answer."""

    type: Literal["response.audio.done", "response.output_audio.done"]
    response_id: str


class TranscriptDone(ServerEvent):
    """No more words of this answer; all of them together."""

    type: Literal["response.audio_transcript.done", "response.output_audio_transcript.done"]
    response_id: str
    transcript: str = ""


class ResponseDone(ServerEvent):
    """An answer has ended: completed, cancelled or failed. Exactly one for each ``response.created``."""

    type: Literal["response.done"]
    response_id: str | None = None
    response: ResponseBody | None = None
    status: str | None = None
    status_details: StatusDetails | None = None

    @property
    def ended(self) -> tuple[str, str, str]:
        """The answer's id, its status, and the server's word for why. Flat in the native dialect, which names no
        status for a completed one."""
        body = self.response or ResponseBody()
        details = body.status_details or self.status_details
        return (
            self.response_id or body.id or "",
            body.status or self.status or "completed",
            (details.reason if details else None) or "",
        )


class AudioCancelled(ServerEvent):
    """Native dialect: an answer was ended early."""

    type: Literal["audio.cancelled"]
    response_id: str | None = None
    reason: str | None = None


class RateLimits(ServerEvent):
    """Closes the block of an answer; empty."""

    type: Literal["rate_limits.updated"]


class PlaybackAcknowledged(ServerEvent):
    """Answer to ``playback.ack``."""

    type: Literal["playback.acknowledged"]


class OutputCleared(ServerEvent):
    """Answer to ``output_audio_buffer.clear``."""

    type: Literal["output_audio_buffer.cleared"]


class OverlapDecision(ServerEvent):
    """What the server made of input during an answer: ``listen``, or ``barge_in`` when it ends the answer."""

    type: Literal["overlap.decision"]
    action: str | None = None
    reason: str | None = None


class TurnEvent(ServerEvent):
    """The server's inner state machine; of no use to a client."""

    type: Literal["turn.event", "duplex.turn.event", "runtime.control", "duplex.runtime.control"]


class ErrorBody(Part):
    """An error of the Realtime dialect."""

    type: str | None = None
    code: str | None = None
    message: str | None = None
    retryable: bool | None = None


class ErrorEvent(ServerEvent):
    """Something was refused or failed (§4.12). Nested in the Realtime dialect; flat in the native one and where a
    server refuses the protocol as a whole."""

    type: Literal["error"]
    error: ErrorBody | str | None = None
    code: str | None = None
    retryable: bool | None = None

    @property
    def name(self) -> str:
        """The code, or "" without one."""
        return (self.error.code if isinstance(self.error, ErrorBody) else self.code) or ""

    @property
    def message(self) -> str:
        """The server's words."""
        return (self.error.message if isinstance(self.error, ErrorBody) else self.error) or ""


class UnknownEvent(ServerEvent):
    """An event that none of the others describes, as it came."""

    type: str = ""
    received: dict[str, Any]


Known = (
    SessionCreated
    | SessionUpdated
    | SessionResumed
    | SessionReplaced
    | SessionExpired
    | ResyncRequired
    | SessionClosed
    | HeartbeatAck
    | SpeechStarted
    | SpeechStopped
    | InputCommitted
    | InputCleared
    | InputTranscript
    | ResponseListen
    | ResponseCreated
    | ResponseSpeak
    | ItemNews
    | ItemTruncated
    | OutputItem
    | ContentPart
    | AudioDelta
    | TranscriptDelta
    | AudioDone
    | TranscriptDone
    | ResponseDone
    | AudioCancelled
    | RateLimits
    | PlaybackAcknowledged
    | OutputCleared
    | OverlapDecision
    | TurnEvent
    | ErrorEvent
)
_KNOWN: TypeAdapter[Known] = TypeAdapter(Annotated[Known, Field(discriminator="type")])


def read(event: dict[str, Any]) -> Known | UnknownEvent:
    """A server's event from its JSON object. Raises nothing."""
    try:
        return _KNOWN.validate_python(event)
    except ValidationError:
        seq = event.get("server_event_seq")
        return UnknownEvent(
            type=str(event.get("type", "")),
            server_event_seq=seq if isinstance(seq, int) else None,
            received=event,
        )
