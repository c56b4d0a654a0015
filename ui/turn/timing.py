"""The figures of a turn: by the definitions of ``vllm bench serve --omni`` (protocol §2.7), and from the player."""

from __future__ import annotations

from dataclasses import asdict, dataclass, replace

from ui.turn.events import SAMPLE_RATE, Finished, Speech, TextDelta, TurnEvent

_BYTES_PER_SECOND = SAMPLE_RATE * 2  # s16le, mono


@dataclass(frozen=True)
class Figures:
    """``None``: not known (yet, or at all). Times in milliseconds, from just before the request is sent.

    ttft_ms            arrival of the first text chunk that holds a new token
    ttfp_ms            arrival of the first audio chunk, even an empty one
    rtf                arrival of the *last* audio chunk / seconds of audio (the bench writes 0 where there is no audio)
    e2e_ms             arrival of the last chunk of a stream that ended as it should
    audio_s            seconds of audio received
    first_sound_ms     first sample out of the loudspeaker (from the player)
    stall_ms           silence inside the answer because audio came too late, summed (from the player)
    stall_longest_ms   the longest such hole (from the player)
    """

    ttft_ms: float | None = None
    ttfp_ms: float | None = None
    rtf: float | None = None
    e2e_ms: float | None = None
    audio_s: float | None = None
    first_sound_ms: float | None = None
    stall_ms: float | None = None
    stall_longest_ms: float | None = None

    def as_dict(self) -> dict[str, float | None]:
        return asdict(self)


class Timing:
    """Watches the events of one turn. An interruption leaves what was measured so far; ``e2e_ms`` stays unknown."""

    def __init__(self) -> None:
        self._seen = Figures()
        self._audio_bytes = 0

    def watch(self, event: TurnEvent) -> None:
        match event:
            case TextDelta() if self._seen.ttft_ms is None:
                self._seen = replace(self._seen, ttft_ms=event.at * 1000)
            case Speech():
                self._audio_bytes += len(event.pcm)
                seconds = self._audio_bytes / _BYTES_PER_SECOND
                self._seen = replace(
                    self._seen,
                    ttfp_ms=event.at * 1000 if self._seen.ttfp_ms is None else self._seen.ttfp_ms,
                    audio_s=seconds,
                    rtf=event.at / seconds if seconds else None,
                )
            case Finished():
                self._seen = replace(self._seen, e2e_ms=event.at * 1000)

    def heard(
        self,
        first_sound_ms: float | None = None,
        stall_ms: float | None = None,
        stall_longest_ms: float | None = None,
    ) -> None:
        """What the player measured, in ms; ``None`` leaves the earlier value."""
        told = {"first_sound_ms": first_sound_ms, "stall_ms": stall_ms, "stall_longest_ms": stall_longest_ms}
        self._seen = replace(self._seen, **{name: value for name, value in told.items() if value is not None})

    def figures(self) -> Figures:
        return self._seen
