"""One duplex session: sound comes in, once a second it is decided to listen or to speak, and answers go out."""

from __future__ import annotations

import asyncio
import time
import uuid
from collections.abc import Callable
from typing import Any

from launch.rehearsal.brain.brain import EAR_RATE, SAMPLE_RATE, Brain, Part, Said
from launch.rehearsal.wire.realtime.describing import Style, session_object
from launch.rehearsal.wire.realtime.envelope import Projection
from launch.rehearsal.wire.realtime.journal import Journal
from launch.rehearsal.wire.realtime.listening import UNIT, Listener
from launch.rehearsal.wire.realtime.opening import Opening
from launch.rehearsal.wire.realtime.overhearing import DEFAULTS, ServerVad
from launch.rehearsal.wire.realtime.playback import Playback
from launch.rehearsal.wire.realtime.refusals import Refusal
from launch.rehearsal.wire.realtime.speaking import Answer, Slice
from launch.rehearsal.wire.realtime.trouble import Trouble
from launch.rehearsal.wire.sound import wav_header

UNIT_S = 1.0  # when nothing comes in although something is to be said, a silent unit stands in (§4.5)
AT_ONCE = 2  # slices with which an answer begins: a second in hand, so that a unit may come late without a hole
REMEMBERED = 4  # turns of the conversation that go with a question; Whisper hears each sound once only


class DuplexSession:
    """``send``: takes an event as JSON for whoever is attached now. Its task lives until ``close``."""

    def __init__(
        self, opening: Opening, brain: Brain, *, wire: str, projection: Projection, journal: Journal, trouble: Trouble
    ) -> None:
        self.id = f"duplex-{uuid.uuid4().hex}"
        self.opening = opening
        self.wire = wire
        self.projection = projection
        self.journal = journal
        self.trouble = trouble
        self.send: Callable[[str], None] | None = None
        self.touched = time.monotonic()
        """When the engine last had something to do with it: its lease counts from here."""
        self.playback = Playback(strict=wire != "0.26")
        self.epoch = 0
        self.turn_id = 0
        self._brain = brain
        self._listener = Listener(brain.detector())
        self._ear: ServerVad | None = None
        self._detection: dict[str, Any] | None = None
        self._input = bytearray()
        self._picture: bytes | None = None
        self._came = asyncio.Event()
        self._commit = False
        self._appended = False
        self._item_in = f"item_{uuid.uuid4().hex}"
        self._noticed = False
        self._answer: Answer | None = None
        self._response_id: str | None = None
        self._talk: list[tuple[Said, Said]] = []
        self._asked = Said("user", ())
        self._text = ""
        self._said_bytes = 0
        self._forced = opening.force_listen
        self.listen_for_voice(opening.echo.get("turn_detection") if opening.vad else None)
        self._living = asyncio.create_task(self._live(), name=self.id) if opening.native else None

    # What the client asks

    def describe(self, style: Style = "realtime") -> dict[str, Any]:
        """The session object of session.created."""
        return session_object(
            self.opening,
            self.wire,
            session_id=self.id,
            epoch=self.epoch,
            turn_id=self.turn_id,
            response_id=self._response_id,
            detection=self._detection,
            playback=self.playback.now,
            style=style,
        )

    def append(self, pcm: bytes, loud: bool, picture: bytes | None = None) -> None:
        """The next sound of the microphone, s16le mono at 16 kHz. ``loud``: it looks like speech."""
        self.touched = time.monotonic()
        if picture is not None:
            self._picture = picture
        if loud and self._ear is None:
            self.notice()
        self._input += pcm
        self._appended = True
        self._came.set()

    def notice(self, at_ms: int = 0) -> None:
        """Something that looks like speech was heard: said once, until the user's turn is over."""
        if not self._noticed:
            self._noticed = True
            self.tell({"type": "input_audio_buffer.speech_started", "audio_start_ms": at_ms, "item_id": self._item_in})

    async def overhear(self, pcm: bytes) -> None:
        """With server_vad: the user's turns are told, and their voice over an answer ends it."""
        if self._ear is None:
            return
        heard = await asyncio.to_thread(self._ear.hear, pcm)
        if heard.turn == "started":
            self.notice(heard.at_ms)
        elif heard.turn == "stopped":
            self._noticed = False
            item, self._item_in = self._item_in, f"item_{uuid.uuid4().hex}"
            self.tell({"type": "input_audio_buffer.speech_stopped", "audio_end_ms": heard.at_ms, "item_id": item})
        if self._response_id is None:
            return
        self.tell(heard.decision(self.id, self.epoch))
        if heard.voice_ms:
            await self.cancel("turn_detected")

    def listen_for_voice(self, detection: dict[str, Any] | None) -> None:
        """Switches server_vad on or, with ``None``, off: at the beginning or in an open session."""
        self._detection = None if detection is None else {**DEFAULTS, **detection}
        self._ear = None if detection is None else ServerVad(self._brain.detector(), speaking=self._noticed)

    async def commit(self) -> None:
        """The client says that its turn ends here. Raises ``Refusal`` when nothing was said since the last time."""
        if not self._appended:
            words = "input_audio_buffer.commit requires a non-empty input audio buffer"
            raise Refusal("input_audio_buffer_empty", words)
        self._appended = False
        item, self._item_in = self._item_in, f"item_{uuid.uuid4().hex}"
        committed = {
            "type": "input.committed",
            "session_id": self.id,
            "turn_id": self.turn_id,
            "epoch": self.epoch,
            "native_audio": True,
            "realtime_item_id": item,
        }
        if not self._noticed:
            self._input.clear()
            self.tell(committed | {"no_response": True, "is_speech": False})
            self._tell_listening("silence_or_noise")
            return
        self._noticed = False
        self.tell({"type": "input_audio_buffer.speech_stopped", "audio_end_ms": 0, "item_id": item})
        message = {"role": "user", "content": [_NATIVE_AUDIO]}
        self.tell(committed | {"history_len": len(self._talk), "message": message})
        self.playback.settle()
        self._commit = True
        self._came.set()

    def clear(self) -> None:
        self._input.clear()
        self._appended = False

    async def cancel(self, reason: str) -> bool:
        """Ends the answer that is being spoken; False when there is none."""
        if self._response_id is None:
            return False
        await self._stop(reason)
        return True

    async def _stop(self, reason: str) -> None:
        answer, response_id = self._answer, self._response_id
        cancelled_epoch, self.epoch = self.epoch, self.epoch + 1
        self._answer = self._response_id = None
        now = self.playback.now
        self.tell(
            {
                "type": "audio.cancelled",
                "session_id": self.id,
                "response_id": response_id,
                "reason": reason,
                "cancelled_epoch": cancelled_epoch,
                "epoch": self.epoch,
                "committed_ms": now.committed_ms,
                "playback": now.as_dict(),
            }
        )
        if response_id is not None:
            self._remember()
        if answer is not None:
            await answer.cancel()

    @property
    def pending_bytes(self) -> int:
        """Of input that is not decided upon yet, as the server counts it: float32."""
        return 2 * len(self._input)

    @property
    def speaking(self) -> bool:
        return self._response_id is not None

    # What it tells

    def tell(self, event: dict[str, Any]) -> None:
        """One of the engine's own events to whoever is attached, now or later."""
        for projected in self.projection(event):
            self.tell_plainly(projected)

    def tell_plainly(self, event: dict[str, Any]) -> None:
        """An event of the wire, as it is."""
        text = self.journal.write(event)
        if self.send is not None:
            self.send(text)

    async def close(self, reason: str) -> None:
        """Ends what is being said and the session's task."""
        if self.wire == "0.26":  # 0.30 has no word for an answer that a close cuts off
            await self._stop(reason)
        if self._living is not None:
            self._living.cancel()
            await asyncio.wait([self._living])
        if (answer := self._answer) is not None:
            await answer.cancel()

    # What it does by itself

    async def _live(self) -> None:
        while True:
            unit, last = await self._next_unit()
            await self.trouble.slow_unit()
            if self._answer is not None:
                await self._go_on(self._answer, unit)
            else:
                await self._decide(unit, last=last)
            self.touched = time.monotonic()

    async def _next_unit(self) -> tuple[bytes, bool]:
        """The next second of the microphone, and whether the client says that it was the last of a turn."""
        while len(self._input) < UNIT and not self._commit:
            self._came.clear()
            owing = self._answer is not None or self._listener.waiting
            try:
                async with asyncio.timeout(UNIT_S if owing else None):
                    await self._came.wait()
            except TimeoutError:
                break
        unit = bytes(self._input[:UNIT])
        del self._input[:UNIT]
        last = self._commit and not self._input
        if last:
            self._commit = False
        return unit.ljust(UNIT, b"\0"), last

    async def _decide(self, unit: bytes, *, last: bool) -> None:
        decision = await asyncio.to_thread(self._listener.hear, unit, last=last)
        if self._forced > 0:
            self._forced -= 1
            decision = "listen"
        if decision == "listen":
            self._tell_listening("model_listen")
            return
        said = self._listener.take()
        parts = [Part("audio", wav_header(len(said), EAR_RATE) + said)]
        if self._picture is not None:  # the camera sends one a second: an older one shows what is gone
            parts.insert(0, Part("image", self._picture))
            self._picture = None
        asked = Said("user", tuple(parts))
        speech = self.opening.speaks
        answer = Answer(self._brain, self._conversation(asked), speech=speech, endless=self.trouble.endless)
        self._answer = answer
        self._text = ""
        self._asked = asked
        first = await answer.next()
        if self._answer is not answer:
            return
        if first is None:
            self._answer = None
            if answer.failed:
                self.tell_plainly(self.projection.refusal(Refusal("runtime_append_failed", "The runtime failed.")))
            self._tell_listening("model_turn_completed_without_output")
            return
        self._begin(first.text)
        self._say(first)
        for _ in range(AT_ONCE - 1):
            if self._answer is answer:
                await self._say_next(answer)

    async def _go_on(self, answer: Answer, unit: bytes) -> None:
        if await asyncio.to_thread(self._listener.hear_over, unit):
            self._end()  # it yields: an ordinary end, only earlier (§4.7)
            await answer.cancel()
            self._tell_listening("model_listen")
            return
        await self._say_next(answer)

    async def _say_next(self, answer: Answer) -> None:
        piece = await answer.next()
        if self._answer is not answer:
            return  # cancelled meanwhile
        if piece is None:
            self._end()
        else:
            self._say(piece)

    def _begin(self, text: str) -> None:
        self._response_id = f"resp-{self.id}-{self.epoch}-{uuid.uuid4().hex[:8]}"
        self.playback.begin(self._response_id)
        self._said_bytes = 0
        self.tell({**self._about("response.created"), "modalities": list(self.opening.modalities)})
        if self.opening.speaks:
            self.tell({**self._about("response.speak"), "text": text, "end_of_turn": False, "model_speak": True})

    def _say(self, piece: Slice) -> None:
        self._said_bytes += len(piece.pcm)
        self.playback.reach(1000 * self._said_bytes // (2 * SAMPLE_RATE))
        self._text += piece.text
        duration_ms = self.playback.now.generated_ms
        wav = self.opening.container == "wav"
        self.tell(
            {
                **self._about("response.output_audio.delta"),
                "text": piece.text,
                "audio": wav_header(len(piece.pcm)) + piece.pcm if wav else piece.pcm,
                "format": self.opening.container,
                "end_of_turn": piece.last,
                "model_speak": True,
                "audio_duration_ms": duration_ms,
                "audio_text_marks": [{"text_chars": len(self._text), "audio_end_ms": duration_ms}],
                "playback": self.playback.now.as_dict(),
                "sample_rate_hz": SAMPLE_RATE,
                "vllm_omni": {"runtime_impl": "rehearsal", "model_turn_id": self.turn_id},
            }
        )
        if piece.last:
            self._end()

    def _end(self) -> None:
        done = self._about("response.done")
        self._answer = self._response_id = None
        self.tell({**done, "committed": False, "playback": self.playback.now.as_dict()})
        self._remember()

    def _remember(self) -> None:
        self.turn_id += 1
        self._talk.append((self._asked, Said("assistant", (Part("text", self._text.encode()),))))
        del self._talk[:-REMEMBERED]

    def _conversation(self, asked: Said) -> list[Said]:
        persona = self.opening.instructions
        before = [said for turn in self._talk for said in turn]
        return [*([Said("system", (Part("text", persona.encode()),))] if persona else []), *before, asked]

    def _about(self, kind: str) -> dict[str, Any]:
        return {"type": kind, "session_id": self.id, "response_id": self._response_id, "epoch": self.epoch}

    def _tell_listening(self, reason: str) -> None:
        listening = {"type": "response.listen", "session_id": self.id, "epoch": self.epoch, "reason": reason}
        self.tell({**listening, "model_listen": reason != "buffering"})


_NATIVE_AUDIO = {"type": "audio_url", "audio_url": {"url": "native-duplex:input-audio"}}
