"""The figures against numbers computed by hand from the bench's definitions (protocol §2.7)."""

from collections.abc import AsyncIterator

import httpx2
import pytest

from launch.errors import ServerGone
from tests.ui.turn.asking import question
from tests.ui.turn.wire import captured
from ui.turn.client import ServerClient
from ui.turn.events import Failed, Finished, Speech, TextDelta
from ui.turn.timing import Figures, Timing


class Clock:
    now = 100.0

    def __call__(self) -> float:
        return self.now


class Replayed(httpx2.AsyncByteStream):
    """A captured stream in which each chunk arrives at its given time after the request."""

    def __init__(self, chunks: list[bytes], times: list[float], clock: Clock) -> None:
        assert len(chunks) == len(times)
        self._chunks, self._times, self._clock = chunks, times, clock

    async def __aiter__(self) -> AsyncIterator[bytes]:
        for chunk, at in zip(self._chunks, self._times, strict=True):
            self._clock.now = 107.0 + at
            yield chunk + b"\n\n"


async def figures(name: str, times: list[float], *, speech: bool = True) -> Figures:
    clock = Clock()
    _, headers, body = captured(name)
    chunks = [chunk for chunk in body.split(b"\n\n") if chunk.strip()]

    def answer(request: httpx2.Request) -> httpx2.Response:
        if request.url.path == "/health":
            return httpx2.Response(200)
        if request.url.path == "/v1/models":
            clock.now = 107.0  # reading the model id took 7 s; the question is sent after it, and timed from then
            return httpx2.Response(200, json={"data": [{"id": "m"}]})
        kind = {"content-type": headers["content-type"]}
        return httpx2.Response(200, headers=kind, stream=Replayed(chunks, times, clock))

    client = ServerClient("http://server", transport=httpx2.MockTransport(answer), clock=clock)
    timing = Timing()
    async for event in client.stream(question(speech=speech)):
        timing.watch(event)
    await client.close()
    return timing.figures()


async def test_speech_of_0_26() -> None:
    """Chunks of the capture: role, text, audio 1 s, audio 1 s, audio 0.88 s, [DONE].

    ttft  = arrival of the first text chunk with a token, not of the role chunk        = 0.333 s
    ttfp  = arrival of the first audio chunk                                           = 0.986 s
    audio = (24000 + 24000 + 21120) frames / 24000                                     = 2.88 s
    rtf   = arrival of the last audio chunk / audio = 1.440 / 2.88                     = 0.5
    e2e   = arrival of the last chunk before [DONE]                                    = 1.440 s
    """
    seen = await figures("0.26/chat_tts_template_stream", [0.2, 0.333, 0.986, 1.2, 1.44, 9.0])
    assert seen.as_dict() == pytest.approx(
        {"ttft_ms": 333, "ttfp_ms": 986, "rtf": 0.5, "e2e_ms": 1440, "audio_s": 2.88,
         "first_sound_ms": None, "stall_ms": None, "stall_longest_ms": None}
    )  # fmt: skip


async def test_speech_of_0_30_with_a_usage_chunk() -> None:
    """Chunks: role, text, audio 1 s, audio 1 s, audio 0.64 s (15360 frames), usage, [DONE].

    rtf = 1.98 / 2.64 = 0.75: the usage chunk is no audio; e2e is the usage chunk's arrival, the last before [DONE].
    """
    seen = await figures("0.30/chat_text_audio_stream", [0.1, 0.1, 0.5, 1.0, 1.98, 2.0, 3.0])
    assert (seen.ttft_ms, seen.ttfp_ms, seen.e2e_ms) == pytest.approx((100, 500, 2000))
    assert (seen.rtf, seen.audio_s) == pytest.approx((0.75, 2.64))


async def test_text_alone() -> None:
    """Chunks: role, six of text, usage, [DONE]; no audio, so neither TTFP nor RTF (the bench writes 0 for RTF)."""
    seen = await figures("0.26/chat_text_stream", [0.05, 0.06, 0.08, 0.1, 0.12, 0.14, 0.16, 0.17, 0.2], speech=False)
    assert (seen.ttft_ms, seen.e2e_ms) == pytest.approx((60, 170))
    assert (seen.ttfp_ms, seen.rtf, seen.audio_s) == (None, None, None)


def test_an_empty_packet_counts_for_ttfp_and_gives_no_rtf() -> None:
    timing = Timing()
    timing.watch(Speech(0.4, b""))
    assert timing.figures() == Figures(ttfp_ms=400, audio_s=0)
    timing.watch(Speech(0.8, bytes(48_000)))
    assert timing.figures() == Figures(ttfp_ms=400, audio_s=1.0, rtf=0.8)


def test_an_answer_that_broke_off_has_no_end() -> None:
    timing = Timing()
    timing.watch(TextDelta(0.2, "a"))
    timing.watch(TextDelta(0.3, "b"))
    timing.watch(Failed(0.5, ServerGone("stream-broken-midway")))
    assert timing.figures() == Figures(ttft_ms=200)


def test_what_the_player_says_stays_until_it_says_more() -> None:
    timing = Timing()
    timing.heard(first_sound_ms=1020.0, stall_ms=0.0)
    timing.watch(Finished(2.0, "stop"))
    timing.heard(stall_ms=80.0, stall_longest_ms=60.0)
    assert timing.figures() == Figures(e2e_ms=2000, first_sound_ms=1020, stall_ms=80, stall_longest_ms=60)
