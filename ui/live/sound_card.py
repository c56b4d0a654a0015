"""A live microphone and loudspeaker for the command line, through PortAudio (the optional package ``sounddevice``)."""

from __future__ import annotations

import asyncio
import importlib
import threading
from collections import deque
from collections.abc import AsyncIterator, Callable
from typing import Any

import av
import numpy as np

from launch.errors import InputError
from ui.live.ear import Ear
from ui.live.moments import MIC_RATE, SPEECH_RATE, Speech

_WAITING = (
    25  # pieces of the microphone, 5 s: an event loop that stands still for longer has lost the conversation anyway
)


def portaudio() -> Any:
    """The module ``sounddevice``. Raises ``InputError`` (duplex-no-sound-library) without it or without PortAudio."""
    try:
        return importlib.import_module("sounddevice")
    except (ImportError, OSError) as missing:  # OSError: the package is there, the system's PortAudio is not
        raise InputError("duplex-no-sound-library", detail=str(missing)) from missing


class Microphone:
    """The default input device as a ``Source`` that never ends: at the device's own rate, resampled to 16 kHz mono.

    ``library``: ``portaudio()``. Close it with ``with``. Raises ``InputError`` (duplex-no-device) on entering.
    """

    seconds = 0.0
    ended = False

    def __init__(self, library: Any, *, chunk_ms: int) -> None:
        self._library = library
        self._chunk_ms = chunk_ms
        self._pieces: deque[bytes] = deque(maxlen=_WAITING)  # the oldest goes: what is old must not be heard as new
        self._came_one = asyncio.Event()
        self._waking = False
        self._loop = asyncio.get_running_loop()
        self._resampler = av.AudioResampler(format="s16", layout="mono", rate=MIC_RATE)
        self._stream: Any = None
        self.name = ""

    def __enter__(self) -> Microphone:
        device = _device(self._library, "input")
        self.name = str(device["name"])
        self._rate = round(float(device["default_samplerate"]))
        self._stream = _started(
            self._library,
            self._library.RawInputStream,
            samplerate=self._rate,
            channels=1,
            dtype="int16",
            blocksize=self._rate * self._chunk_ms // 1000,
            callback=self._came,
        )
        return self

    def __exit__(self, *_: object) -> None:
        self._stream.close()

    async def pieces(self) -> AsyncIterator[bytes]:
        while True:
            await self._came_one.wait()
            self._came_one.clear()
            self._waking = False
            while self._pieces:
                raw = np.frombuffer(self._pieces.popleft(), "<i2").reshape(1, -1)
                frame = av.AudioFrame.from_ndarray(raw, format="s16", layout="mono")
                frame.sample_rate = self._rate
                yield b"".join(one.to_ndarray().tobytes() for one in self._resampler.resample(frame))
                await asyncio.sleep(0)  # a device that runs wild must not hold up the rest of us

    def _came(self, data: Any, frames: int, time: object, status: object) -> None:
        """In PortAudio's own thread. One wake-up at a time: a flood of them would drown the event loop, and Ctrl-C in it."""
        self._pieces.append(bytes(data))
        if not self._waking:
            self._waking = True
            self._loop.call_soon_threadsafe(self._came_one.set)


class Loudspeaker:
    """The default output device as a listener. What was heard is told by an ``Ear``: the card plays what the ear hears,
    its own delay (20 to 100 ms) later. Close it with ``with``. Raises ``InputError`` (duplex-no-device) on entering.
    """

    def __init__(self, library: Any) -> None:
        self._library = library
        self._ear = Ear(lambda at, response, ms: None)
        self._lock = threading.Lock()
        self._waiting = bytearray()
        self._stream: Any = None
        self.name = ""

    def __enter__(self) -> Loudspeaker:
        device = _device(self._library, "output")
        self.name = str(device["name"])
        rate = round(float(device["default_samplerate"]))
        self._resampler = av.AudioResampler(format="s16", layout="mono", rate=rate)
        self._stream = _started(
            self._library,
            self._library.RawOutputStream,
            samplerate=rate,
            channels=1,
            dtype="int16",
            callback=self._wanted,
        )
        return self

    def __exit__(self, *_: object) -> None:
        self._stream.close()

    def told(self, heard: Callable[[float, int, float], None]) -> Loudspeaker:
        """Itself, telling from now on how far it has heard."""
        self._ear = Ear(heard)
        return self

    @property
    def idle(self) -> bool:
        return self._ear.idle

    def speech(self, moment: Speech) -> None:
        self._ear.speech(moment)
        frame = av.AudioFrame.from_ndarray(np.frombuffer(moment.pcm, "<i2").reshape(1, -1), format="s16", layout="mono")
        frame.sample_rate = SPEECH_RATE
        pcm = b"".join(one.to_ndarray().tobytes() for one in self._resampler.resample(frame))
        with self._lock:
            self._waiting += pcm

    def over(self, at: float, response: int) -> None:
        self._ear.over(at, response)

    def flush(self, at: float, response: int) -> None:
        self._ear.flush(at, response)
        with self._lock:
            self._waiting.clear()

    def advance(self, at: float) -> None:
        self._ear.advance(at)

    def _wanted(self, data: Any, frames: int, time: object, status: object) -> None:
        """In PortAudio's own thread: the next ``frames`` samples, silence where there are none."""
        with self._lock:
            ready = bytes(self._waiting[: frames * 2])
            del self._waiting[: frames * 2]
        data[:] = ready.ljust(frames * 2, b"\0")


def _device(library: Any, kind: str) -> Any:
    try:
        return library.query_devices(kind=kind)
    except (library.PortAudioError, ValueError) as missing:
        raise InputError("duplex-no-device", detail=str(missing), kind=kind) from missing


def _started(library: Any, kind: Callable[..., Any], **options: Any) -> Any:
    """A stream that runs. The device may be there and still refuse (held by another program, no permission)."""
    try:
        stream = kind(**options)
        stream.start()
    except (library.PortAudioError, ValueError) as refused:
        raise InputError("duplex-no-device", detail=str(refused), kind="") from refused
    return stream
