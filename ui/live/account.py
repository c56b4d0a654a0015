"""The running account of a conversation, from which ``result.json`` and the transcript are made."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

from launch.errors import OmniError
from ui.live.moments import (
    Back,
    Caption,
    Closed,
    Interrupted,
    Latency,
    Listening,
    Moment,
    Noticed,
    Opened,
    Speaking,
    Speech,
    Spoken,
)
from ui.live.result import ORIGINS, AnswerResult, LatencyResult, Result
from ui.live.transcript import Answer
from ui.turn.turn import told


@dataclass(frozen=True)
class Facts:
    """What is known before it begins. ``started_at``: seconds since 1970."""

    model: str
    server: str
    rehearsal: bool
    started_at: float


class Account:
    """Sees every moment; holds words and figures, no sound."""

    def __init__(self, facts: Facts) -> None:
        self.finished = False
        self.length_s = 0.0
        self.dropped_frames: int | None = None
        """Of the microphone, where the session has told the sum; otherwise those of its reconnections count."""
        self._seen = Result(
            rehearsal=facts.rehearsal, server=facts.server, model=facts.model, started_at=facts.started_at
        )
        self._answers: dict[int, Answer] = {}
        self._rows: dict[int, AnswerResult] = {}
        self._began: dict[int, float] = {}
        self._ended_well = False

    @property
    def answers(self) -> list[Answer]:
        """In the order in which they began."""
        return list(self._answers.values())

    def answer(self, response: int) -> Answer:
        """One answer's words, made when it is first named."""
        if response not in self._answers:
            self._answers[response] = Answer(response)
            self._rows[response] = AnswerResult(response=response)
        return self._answers[response]

    def moment(self, moment: Moment) -> None:
        """Something happened in the session."""
        seen = self._seen
        match moment:
            case Opened():
                seen.session_id, seen.wire = moment.session_id, moment.wire
            case Listening():
                seen.listen_count += 1
            case Speaking():
                self.answer(moment.response)
                self._began[moment.response] = moment.at
            case Speech():
                self._row(moment.response).duration_ms = moment.until_ms
                seen.audio_chunk_count += 1
            case Caption():
                self.answer(moment.response).captions.append((moment.text, moment.until_ms))
            case Spoken():
                self._spoken(moment)
            case Interrupted():
                row = self._row(moment.response)
                row.interrupted_by = row.interrupted_by or moment.by
            case Latency():
                row = self._row(moment.response)
                row.latency = row.latency.model_copy(
                    update={
                        "ttft_ms": _rounded(moment.ttft_ms),
                        "ttfp_ms": _rounded(moment.ttfp_ms),
                        "measurement_origin": ORIGINS[moment.since],
                    }
                )
            case Back():
                seen.reconnections += 1
                seen.dropped_frames += moment.dropped_frames
            case Noticed():
                seen.notices.append(told(moment.notice))
            case Closed():
                self._ended_well = moment.error is None
                if moment.error is not None:
                    seen.errors.append(told(moment.error))

    def failed(self, error: OmniError) -> None:
        """Something that the session itself does not call a failure, but whoever holds the conversation does."""
        self._seen.errors.append(told(error))

    def result(self, recording_error: OmniError | None = None) -> Result:
        """The account so far."""
        for number, answer in self._answers.items():
            row = self._rows[number]
            row.text, row.heard_text = answer.text, answer.heard_text
            row.heard_ms, row.heard_at_s = round(answer.heard_ms, 1), _rounded(answer.heard_at_s)
        seen, rows = self._seen, list(self._rows.values())
        seen.answers = rows
        seen.finished, seen.length_s = self.finished, round(self.length_s, 3)
        seen.transcript = _joined(row.text for row in rows)
        seen.heard_transcript = _joined(row.heard_text for row in rows)
        seen.model_decision = "speak" if rows else "listen" if seen.listen_count else None
        seen.latency = next((row.latency for row in rows if row.latency.measurement_origin), LatencyResult())
        if self.dropped_frames is not None:
            seen.dropped_frames = self.dropped_frames
        if recording_error is not None:
            seen.recording_error = told(recording_error)
        seen.ok = self._ended_well and bool(seen.session_id and seen.model_decision) and not seen.errors
        return seen

    def _row(self, response: int) -> AnswerResult:
        self.answer(response)
        return self._rows[response]

    def _spoken(self, moment: Spoken) -> None:
        row = self._row(moment.response)
        row.status, row.reason = moment.status, moment.reason
        row.duration_ms = max(row.duration_ms, moment.duration_ms)
        if row.duration_ms and moment.response in self._began:
            took_ms = (moment.at - self._began[moment.response]) * 1000
            row.latency = row.latency.model_copy(update={"rtf": round(took_ms / row.duration_ms, 4)})
        if moment.status == "failed":
            self._seen.errors.append({"response": moment.response, "status": "failed", "reason": moment.reason})


def _rounded(value: float | None) -> float | None:
    """To hundredths: what is measured here is not known better."""
    return None if value is None else round(value, 2)


def _joined(texts: Iterable[str]) -> str:
    return "\n".join(text.strip() for text in texts if text.strip())
