"""What of a session's moments the page is told, and in which words."""

from __future__ import annotations

from ui.live import page_wire as say
from ui.live.moments import (
    Back,
    Caption,
    HeardYou,
    Interrupted,
    Latency,
    Listening,
    Lost,
    Moment,
    Noticed,
    Opened,
    Speaking,
    Spoken,
    Unknown,
    Waiting,
)


def told(moment: Moment, opened: Opened | None) -> say.AppWord | None:
    """The page's word for ``moment``; ``None`` for sound, which goes as frames, and for the end, which is the
    conversation's to tell. ``opened``: the session that goes on after a loss."""
    match moment:
        case Opened():
            return _open(moment)
        case Back():
            return _open(opened).model_copy(update={"resumed": moment.resumed, "gap_s": moment.gap_s})
        case Waiting():
            return say.State(state="waiting", attempt=moment.attempt, retry_s=moment.retry_s)
        case Lost():
            return say.State(state="lost")
        case HeardYou():
            return say.Heard(speaking=moment.speaking)
        case Listening():
            return say.Listen(at=moment.at, reason=moment.reason)
        case Speaking():
            return say.Begins(response=moment.response)
        case Caption():
            return say.Words(response=moment.response, text=moment.text, until_ms=moment.until_ms)
        case Spoken():
            return say.Said(
                response=moment.response,
                status=moment.status,
                reason=moment.reason,
                text=moment.text,
                duration_ms=moment.duration_ms,
            )
        case Interrupted():
            return say.Flush(response=moment.response, by=moment.by)
        case Latency():
            return say.Took(
                response=moment.response,
                since=moment.since,
                ttft_ms=_tenths(moment.ttft_ms),
                ttfp_ms=_tenths(moment.ttfp_ms),
            )
        case Noticed():
            return say.notice(moment.notice)
        case Unknown():
            return say.Strange(event=dict(moment.event))
    return None


def _open(opened: Opened | None) -> say.State:
    if opened is None:
        return say.State(state="open")
    return say.State(
        state="open",
        wire=opened.wire,
        barge_in=opened.barge_in,
        camera=opened.camera,
        idle_s=opened.idle_s,
    )


def _tenths(value: float | None) -> float | None:
    return None if value is None else round(value, 1)
