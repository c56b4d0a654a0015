"""A conversation held from the command line, against a scripted server: when it ends, what is heard, what is found."""

from __future__ import annotations

import asyncio
import io
import json
import time
from dataclasses import replace
from pathlib import Path

import numpy as np
import soundfile

from tests.ui.live.fake_server import Peer, Script, fake_server
from ui.live.account import Facts
from ui.live.chunks import Chunks
from ui.live.console import Console
from ui.live.duplex_talk import Talk
from ui.live.ear import Ear
from ui.live.moments import MIC_RATE, SPEECH_RATE, Speech
from ui.live.recording import Recording
from ui.live.result import Result
from ui.live.session import LiveSession
from ui.live.setup import Setup, Waits
from ui.live.source import FileSource

QUICK = replace(Waits(), connect=2, open=2, close=1, ack=0.01, retry_first=0.01, retry_most=0.05)
SPOKEN = np.full(MIC_RATE * 2 // 5, 5_000, "<i2").tobytes()  # 0.4 s


class Held:
    """A conversation that is over: its files, what the terminal was told, what was found."""

    def __init__(self, folder: Path, said: str, talk: Talk) -> None:
        self.folder = folder
        self.said = said
        self.found = [failure.key for failure in talk.failures]
        self.result = Result.model_validate_json((folder / "result.json").read_text(encoding="utf-8"))


async def hold(
    folder: Path,
    script: Script,
    *,
    timeout_s: float = 5.0,
    require_audio: bool = False,
    stop_after: float | None = None,
) -> Held:
    stream, stop = io.StringIO(), asyncio.Event()
    if stop_after is not None:
        asyncio.get_running_loop().call_later(stop_after, stop.set)
    async with fake_server(script) as server:
        recording, chunks = Recording(folder, Facts("m", server.url, True, 0.0)), Chunks(folder)
        session = LiveSession(server.url, Setup("m", "", b"RIFFvoice"), waits=QUICK, log=recording.wire)
        began = time.monotonic()
        talk = Talk(
            session,
            FileSource(SPOKEN, chunk_ms=200, paced=True, clock=time.monotonic),
            recording,
            chunks,
            listener=Ear,
            show=Console("en", stream).moment,
            now=lambda: time.monotonic() - began,
            timeout_s=timeout_s,
            require_audio=require_audio,
        )
        async with asyncio.timeout(20), session:
            await talk.hold(stop)
        await server.quiet()
    await asyncio.to_thread(recording.finish)
    chunks.close()
    return Held(folder, stream.getvalue(), talk)


async def listens(peer: Peer, count: int) -> None:
    for _ in range(count):
        await peer.receive("input_audio_buffer.append")
        await peer.listen()


async def test_an_answer_is_heard_to_its_end_and_then_three_decisions_to_listen_end_it(tmp_path: Path) -> None:
    async def script(peer: Peer) -> None:
        await peer.open()
        await listens(peer, 1)
        await peer.begin("r1")
        await peer.say("r1", "Good ", 500, 500)
        await peer.say("r1", "day.\x1b[31m", 300, 800)
        await peer.done("r1")
        await listens(peer, 3)
        await peer.closing()

    held = await hold(tmp_path, script)
    assert (held.result.ok, held.result.model_decision, held.found) == (True, "speak", [])
    assert [row.heard_ms for row in held.result.answers] == [800.0]
    assert held.result.heard_transcript == held.result.transcript
    output, rate = soundfile.read(tmp_path / "output.wav", dtype="int16")
    pieces = [soundfile.read(path, dtype="int16")[0] for path in sorted((tmp_path / "audio_chunks").iterdir())]
    assert (rate, len(output), len(pieces)) == (SPEECH_RATE, SPEECH_RATE * 800 // 1000, 2)
    assert np.array_equal(output, np.concatenate(pieces))
    both, _ = soundfile.read(tmp_path / "audio.wav", dtype="int16")
    assert np.count_nonzero(both[:, 1]) == len(output)
    assert np.count_nonzero(np.abs(both[:, 0]) > 2_500) == SPEECH_RATE * 4 // 10
    assert "Good day. [31m" in held.said  # inert: the escape is gone
    assert held.said.count("listening") == 2


async def test_a_model_that_only_listens_is_well_unless_sound_was_required(tmp_path: Path) -> None:
    async def script(peer: Peer) -> None:
        await peer.open()
        while (await peer.receive("input_audio_buffer.append", "session.close"))["type"] != "session.close":
            await peer.listen()
        await peer.send("session.closed", event={"type": "session.closed"})

    (tmp_path / "a").mkdir()
    (tmp_path / "b").mkdir()
    well = await hold(tmp_path / "a", script)
    assert (well.result.ok, well.result.model_decision, well.found) == (True, "listen", [])
    bad = await hold(tmp_path / "b", script, timeout_s=1.0, require_audio=True)
    assert (bad.result.ok, bad.found) == (False, ["duplex-no-sound"])
    assert [row["key"] for row in bad.result.errors] == ["duplex-no-sound"]


async def test_a_silent_server_is_told_after_the_time_out(tmp_path: Path) -> None:
    async def script(peer: Peer) -> None:
        await peer.open()
        await peer.closing()

    held = await hold(tmp_path, script, timeout_s=0.8)
    assert (held.result.ok, held.result.model_decision, held.found) == (False, None, ["duplex-no-decision"])


async def test_to_stop_closes_the_session_and_keeps_what_was_heard(tmp_path: Path) -> None:
    async def script(peer: Peer) -> None:
        await peer.open()
        await peer.begin("r1")
        await peer.say("r1", "A long story, told at length.", 5_000, 5_000)
        await peer.closing()

    held = await hold(tmp_path, script, stop_after=1.0)
    (answer,) = held.result.answers
    assert 500 < answer.heard_ms < 1_600
    assert held.result.finished
    events = [json.loads(line)["event"]["type"] for line in (tmp_path / "events.jsonl").read_text().splitlines()]
    assert "session.close" in events
    assert "session.closed" in events


async def test_what_the_model_takes_back_is_neither_heard_nor_recorded_as_heard(tmp_path: Path) -> None:
    async def script(peer: Peer) -> None:
        await peer.open()
        await peer.begin("r1")
        await peer.say("r1", "One, two, three, four, five, six.", 6_000, 6_000)
        for _ in range(5):
            await peer.receive("input_audio_buffer.append")  # a second of the user, over the answer
        await peer.done("r1", "cancelled", "barge_in")
        await listens(peer, 3)
        await peer.closing()

    held = await hold(tmp_path, script)
    (answer,) = held.result.answers
    assert (answer.status, answer.interrupted_by, answer.duration_ms) == ("cancelled", "model", 6_000.0)
    assert 600 < answer.heard_ms < 2_500
    assert answer.text.startswith(answer.heard_text)
    assert answer.heard_text in ("One, ", "One, two, ", "One, two,")
    both, _ = soundfile.read(tmp_path / "audio.wav", dtype="int16")
    assert abs(np.count_nonzero(both[:, 1]) - answer.heard_ms * SPEECH_RATE / 1000) < 24
    assert (tmp_path / "transcript.txt").read_text(encoding="utf-8").endswith(" —\n")
    assert "the model gives way" in held.said


async def test_what_is_flushed_is_not_heard() -> None:
    marks: list[tuple[float, int, float]] = []
    ear = Ear(lambda at, response, ms: marks.append((round(at, 3), response, round(ms, 3))))
    ear.speech(Speech(1.0, 1, b"", 1_000))
    ear.advance(1.25)
    ear.flush(1.4, 1)
    assert marks[-1] == (1.4, 1, 400.0)
    assert ear.idle
    ear.speech(Speech(3.0, 2, b"", 500))
    ear.advance(4.0)  # it has waited since 3.5
    ear.speech(Speech(4.1, 2, b"", 800))
    ear.over(4.2, 2)
    ear.advance(5.0)
    assert marks[-3:] == [(4.1, 2, 500.0), (4.2, 2, 600.0), (4.4, 2, 800.0)]
    assert ear.idle
