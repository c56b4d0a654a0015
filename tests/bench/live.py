"""What the app adds to a live conversation: the relay between page and server, a broken line, the rehearsal's reply.

``relay_added_ms``: a microphone frame leaves the page → it is decoded by the server (``to_server``); a one-second unit of
sound leaves the server → all of it has come to the page (``to_browser``); less what the same takes in the same run when both
ends are connected directly: so the time inside the app. ``p50`` and ``p99``: the worst of both ways with 1 and with 8
conversations. ``relay_whole_ms``: nothing subtracted.
``relay_ratio``: p99 over that of a bare asyncio pipe which carries the server's own frames between the same ends, worst of
the four. ``relay_cpu_pct_per_session``: of one core, with 8, less what the app uses when it is idle.
``resume_gap_ms``: the socket between app and server is cut in the middle of an answer that comes at RTF 0.44 (a unit each
440 ms) → the next sound at the page; that it is the very next unit is checked. ``rehearsal_reply_s``: end of a spoken
question → first sound at the page, real weights.
"""

from __future__ import annotations

import asyncio
import base64
import itertools
import json
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import AsyncIterator, Iterator
from contextlib import AsyncExitStack, asynccontextmanager, contextmanager
from io import BytesIO
from pathlib import Path
from typing import Any

import httpx
import psutil
import soundfile
import websockets

from tests.bench.live_page import conversation, opened, report, speak, stamped
from tests.bench.live_stub import STAMP
from tests.bench.pipe import Pipe
from tests.bench.running import ROOT, App, free_port, running_app
from ui.live.page_wire import HEADER, MIC_MOST
from ui.media import audio
from ui.turn.parts import Audio

SECONDS = 30.0  # 150 microphone frames and 30 units of each conversation
SETTLE_S = 2.0  # until every conversation speaks
SESSIONS = (1, 8)
CUTS = 15
UNIT_S = 0.44  # RTF of the real server's speech
ROUNDS = 3  # of each question
UNIT_FRAMES = 5  # of 200 ms


@contextmanager
def process(module: str, *args: object) -> Iterator[int]:
    """A module of ours on a port of its own, answering."""
    port = free_port()
    running = subprocess.Popen([sys.executable, "-m", module, str(port), *map(str, args)], cwd=ROOT)
    try:
        until = time.monotonic() + 30
        while time.monotonic() < until:
            try:
                httpx.get(f"http://127.0.0.1:{port}/health", trust_env=False, timeout=2)
                break
            except httpx.TransportError:
                time.sleep(0.05)
        yield port
    finally:
        running.terminate()
        running.wait(10)


class Listener:
    """Takes the sound of one socket, in frames or as the server's events, and notes how long each unit took."""

    def __init__(self) -> None:
        self.took_ms: list[float] = []
        self.response = 0
        self._pieces = 0

    async def page(self, socket: websockets.ClientConnection) -> None:
        async for frame in socket:
            if isinstance(frame, bytes):
                self._pieces += 1
                self.response = HEADER.unpack_from(frame)[1]
                if self._pieces % UNIT_FRAMES == 0:
                    self._note(frame[HEADER.size :])

    async def server(self, socket: websockets.ClientConnection) -> None:
        async for frame in socket:
            event = json.loads(frame)
            if event["type"] == "response.audio.delta":
                self._note(base64.b64decode(event["delta"]))

    def _note(self, pcm: bytes) -> None:
        (sent,) = STAMP.unpack_from(pcm)
        self.took_ms.append((time.monotonic_ns() - sent) / 1e6)


async def append(socket: websockets.ClientConnection) -> None:
    """The microphone as a server's own client sends it."""
    due = time.monotonic()
    while True:
        sound = base64.b64encode(stamped(0)).decode()
        await socket.send(json.dumps({"type": "input_audio_buffer.append", "audio": sound, "audio_end_ms": 200}))
        due += MIC_MOST / 32_000
        await asyncio.sleep(max(0.0, due - time.monotonic()))


@asynccontextmanager
async def talking(socket: websockets.ClientConnection, *, page: bool) -> AsyncIterator[Listener]:
    listener = Listener()
    if page:
        await opened(socket)
        work = [listener.page(socket), speak(socket, stamped), report(socket, lambda: listener.response)]
    else:
        await socket.send(json.dumps({"type": "session.update", "session": {}}))
        work = [listener.server(socket), append(socket)]
    tasks = [asyncio.create_task(it) for it in work]
    try:
        yield listener
    finally:
        for task in tasks:
            task.cancel()
        await asyncio.wait(tasks)


async def relayed(app: App | None, port: int, sessions: int, stub: int) -> dict[str, Any]:
    """Milliseconds of both ways, through the app or (``None``) through what listens on ``port``; CPU seconds of the app."""
    async with AsyncExitStack() as stack, httpx.AsyncClient(trust_env=False) as http:
        listeners = []
        for _ in range(sessions):
            if app is not None:
                socket = await stack.enter_async_context(conversation(app.url))
            else:
                url = f"ws://127.0.0.1:{port}/v1/realtime?duplex=1"
                socket = await stack.enter_async_context(
                    websockets.connect(url, proxy=None, compression=None, max_size=1 << 24)
                )
            listeners.append(await stack.enter_async_context(talking(socket, page=app is not None)))
            await asyncio.sleep(1.0 / sessions)  # so that they do not all speak at the same moment
        await asyncio.sleep(SETTLE_S)
        await http.get(f"http://127.0.0.1:{stub}/took")
        for listener in listeners:
            listener.took_ms.clear()
        before = cpu_s(app.pid) if app is not None else 0.0
        await asyncio.sleep(SECONDS)
        used = (cpu_s(app.pid) - before) if app is not None else 0.0
        to_server = (await http.get(f"http://127.0.0.1:{stub}/took")).json()
        to_browser = [took for listener in listeners for took in listener.took_ms]
    return {"to_server": spread(to_server), "to_browser": spread(to_browser), "cpu_s": used}


def cpu_s(pid: int) -> float:
    times = psutil.Process(pid).cpu_times()
    return times.user + times.system


def spread(values: list[float]) -> dict[str, float]:
    cuts = statistics.quantiles(values, n=100, method="inclusive")
    return {"p50": round(cuts[49], 2), "p99": round(cuts[98], 2), "count": len(values)}


async def relay() -> dict[str, Any]:
    with process("tests.bench.live_stub") as stub, tempfile.TemporaryDirectory() as runs:
        server = f"http://127.0.0.1:{stub}"
        with (
            process("tests.bench.pipe", stub) as pipe,
            running_app(Path(runs), "--server", server, "--max-sessions", "8") as app,
        ):
            before = cpu_s(app.pid)
            await asyncio.sleep(SECONDS / 3)
            idle = (cpu_s(app.pid) - before) * 3
            ours, bare, direct = {}, {}, {}
            for sessions in SESSIONS:
                direct[sessions] = await relayed(None, stub, sessions, stub)
                bare[sessions] = await relayed(None, pipe, sessions, stub)
                ours[sessions] = await relayed(app, 0, sessions, stub)
    ways = [(sessions, way) for sessions in SESSIONS for way in ("to_server", "to_browser")]
    return {
        "relay_added_ms": {
            cut: round(max(ours[s][way][cut] - direct[s][way][cut] for s, way in ways), 2) for cut in ("p50", "p99")
        },
        "relay_whole_ms": {f"{way} {sessions}": ours[sessions][way] for sessions, way in ways},
        "direct_ms": {f"{way} {sessions}": direct[sessions][way] for sessions, way in ways},
        "bare_relay_ms": {f"{way} {sessions}": bare[sessions][way] for sessions, way in ways},
        "relay_ratio": round(max(ours[s][way]["p99"] / bare[s][way]["p99"] for s, way in ways), 2),
        "relay_cpu_pct_per_session": round(100 * (ours[8]["cpu_s"] - idle) / SECONDS / 8, 2),
    }


async def resume() -> dict[str, Any]:
    gaps: list[float] = []
    with process("tests.bench.live_stub", UNIT_S) as stub, tempfile.TemporaryDirectory() as runs:
        pipe = Pipe(free_port(), stub)
        async with await pipe.start():
            with running_app(Path(runs), "--server", f"http://127.0.0.1:{pipe.port}") as app:
                async with conversation(app.url) as socket:
                    await opened(socket)
                    heard: list[tuple[float, int]] = []  # when, and the unit's stamp
                    tasks = [asyncio.create_task(it) for it in (speak(socket, stamped), _hear(socket, heard))]
                    async with asyncio.timeout(CUTS * 10):
                        while len(gaps) < CUTS:
                            # Three units pass; then a cut, each time at another moment between two of them.
                            await asyncio.sleep(UNIT_S * (3 + len(gaps) / CUTS))
                            pipe.cut()
                            gaps.append(await _next_unit(heard, time.monotonic()))
                    for task in tasks:
                        task.cancel()
                    await asyncio.wait(tasks)
    stamps = [stamp for _, stamp in heard]
    units = stamps[::UNIT_FRAMES]
    assert stamps == [unit for unit in units for _ in range(UNIT_FRAMES)][: len(stamps)], "torn, lost or twice"
    apart = [(after - before) / 1e9 for before, after in itertools.pairwise(units)]
    assert max(apart) < 2 * UNIT_S + 0.3, f"a unit is missing: {max(apart):.2f} s between two"
    return {"resume_gap_ms": {"p50": round(statistics.median(gaps)), "max": round(max(gaps)), "count": len(gaps)}}


async def _hear(socket: websockets.ClientConnection, heard: list[tuple[float, int]]) -> None:
    async for frame in socket:
        if isinstance(frame, bytes):  # at once, not when all have come: others look at the list meanwhile
            heard += [(time.monotonic(), STAMP.unpack_from(frame, HEADER.size)[0])]


async def _next_unit(heard: list[tuple[float, int]], since: float) -> float:
    """Milliseconds from ``since`` to the first sound that was made or sent after it."""
    before = heard[-1][1]
    while heard[-1][1] == before:  # noqa: ASYNC110 - it is polled finer than it is measured
        await asyncio.sleep(0.002)
    return 1000 * (next(at for at, stamp in heard if stamp > before) - since)


def question(name: str) -> tuple[list[bytes], float]:
    """A sample's microphone frames with a second of silence before it, and when its speech ends (s)."""
    (part, *_) = audio.prepare(ROOT / "assets" / "samples" / name).parts
    assert isinstance(part, Audio)
    pcm = bytes(32_000) + part.data[44:]
    frames = [pcm[start : start + MIC_MOST] for start in range(0, len(pcm), MIC_MOST)]
    samples, rate = soundfile.read(BytesIO(part.data), dtype="float32")
    loud = [n for n in range(0, len(samples), 160) if abs(samples[n : n + 160]).max() > 0.02]
    return frames, 1.0 + (loud[-1] + 160) / rate


async def asked(url: str, name: str, language: str) -> float:
    """Seconds from the end of the question to the first sound of the answer to it."""
    frames, ends = question(name)
    async with conversation(url, language=language) as socket:
        await opened(socket)
        began = time.monotonic()
        speaking = asyncio.create_task(
            speak(
                socket,
                lambda number: frames[number].ljust(MIC_MOST, b"\0") if number < len(frames) else bytes(MIC_MOST),
            )
        )
        try:
            async with asyncio.timeout(ends + 30):
                while True:
                    frame = await socket.recv()
                    if isinstance(frame, bytes) and len(frame) > HEADER.size:
                        return time.monotonic() - began - ends
        finally:
            speaking.cancel()


async def reply() -> dict[str, Any]:
    with tempfile.TemporaryDirectory() as runs, running_app(Path(runs)) as app:
        async with httpx.AsyncClient(base_url=app.url, trust_env=False) as http:
            await http.get("/")
            async with asyncio.timeout(180):
                while (await http.get("/server")).json()["state"] not in ("ready", "busy"):  # noqa: ASYNC110
                    await asyncio.sleep(0.5)
        await asked(app.url, "question-en.flac", "en")  # warms it
        took = {
            language: [await asked(app.url, f"question-{language}.flac", language) for _ in range(ROUNDS)]
            for language in ("en", "zh")
        }
    every = [seconds for runs in took.values() for seconds in runs]
    return {
        "rehearsal_reply_s": round(statistics.median(every), 2),
        "rehearsal_reply_spread_s": {key: f"{min(runs):.2f}-{max(runs):.2f}" for key, runs in took.items()},
    }


async def _measure() -> dict[str, Any]:
    return await relay() | await resume() | await reply()


def measure() -> dict[str, Any]:
    """The figures by key."""
    return asyncio.run(_measure())
