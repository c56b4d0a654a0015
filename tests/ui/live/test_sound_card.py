"""Microphone and loudspeaker of the command line, over a PortAudio that is the test itself."""

from __future__ import annotations

import threading
from collections.abc import Callable
from typing import Any, ClassVar

import numpy as np
import pytest

from launch.errors import InputError
from ui.live.moments import Speech
from ui.live.sound_card import Loudspeaker, Microphone


class Stream:
    def __init__(self, *, callback: Callable[..., None], samplerate: int, **_: Any) -> None:
        self.callback, self.rate, self.state = callback, samplerate, "made"

    def start(self) -> None:
        self.state = "running"

    def close(self) -> None:
        self.state = "closed"


class Library:
    """One device of 48 kHz for each direction."""

    class PortAudioError(Exception): ...

    RawInputStream = RawOutputStream = Stream
    devices: ClassVar[dict[str, Any]] = {"name": "Headset", "default_samplerate": 48_000.0}

    def query_devices(self, kind: str) -> dict[str, Any]:
        return self.devices


class NoDevice(Library):
    def query_devices(self, kind: str) -> dict[str, Any]:
        raise self.PortAudioError("Error querying device -1")


async def test_the_microphone_gives_16_khz_from_the_devices_own_rate_and_drops_the_oldest() -> None:
    with Microphone(Library(), chunk_ms=200) as microphone:
        stream = microphone._stream
        assert (microphone.name, stream.rate, stream.state) == ("Headset", 48_000, "running")
        tone = (10_000 * np.sin(np.arange(9_600) * 2 * np.pi * 440 / 48_000)).astype("<i2").tobytes()

        def speak(times: int) -> None:
            for _ in range(times):
                stream.callback(tone, 9_600, None, None)

        thread = threading.Thread(target=speak, args=(30,))
        thread.start()
        thread.join()
        got = b""
        pieces = microphone.pieces()
        for _ in range(25):  # thirty came while nobody took any: the five oldest are gone
            got += await anext(pieces)
        samples = np.frombuffer(got, "<i2")
        assert abs(len(samples) - 25 * 3_200) < 32
        spectrum = np.abs(np.fft.rfft(samples[:16_000]))
        assert int(np.argmax(spectrum)) == 440
    assert stream.state == "closed"


def test_the_loudspeaker_plays_what_came_and_nothing_that_was_flushed() -> None:
    marks: list[tuple[float, int, float]] = []
    with Loudspeaker(Library()).told(lambda *mark: marks.append(mark)) as speaker:
        stream = speaker._stream
        played = bytearray(2 * 4_800)
        stream.callback(played, 4_800, None, None)
        assert not any(played)
        speaker.speech(Speech(1.0, 1, (np.ones(24_000, "<i2") * 7_000).tobytes(), 1_000))
        for _ in range(5):
            stream.callback(played, 4_800, None, None)
            assert np.count_nonzero(np.frombuffer(bytes(played), "<i2")) > 4_700
        speaker.flush(1.5, 1)
        stream.callback(played, 4_800, None, None)
        assert not any(played)
        assert speaker.idle
    assert [(mark[1], round(mark[2])) for mark in marks][-1] == (1, 500)
    assert stream.state == "closed"


async def test_a_machine_without_devices_is_told() -> None:
    with pytest.raises(InputError) as none, Microphone(NoDevice(), chunk_ms=200):
        pass
    assert none.value.key == "duplex-no-device"
