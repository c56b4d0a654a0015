"""What ``python app.py duplex`` does: a server (or the rehearsal engine), a conversation, its files, a verdict."""

from __future__ import annotations

import argparse
import asyncio
import json
import os
import shlex
import signal
import sys
import time
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import TextIO

from launch.engine import RehearsalEngine
from launch.errors import LaunchError, OmniError, ServerError
from launch.texts import language as spoken_language
from ui.live.account import Facts
from ui.live.chunks import Chunks
from ui.live.console import Console
from ui.live.duplex_input import Given, address, given_input, given_voice
from ui.live.ear import Ear
from ui.live.manners import instructions
from ui.live.recording import Recording
from ui.live.result import Result
from ui.live.session import LiveSession
from ui.live.setup import Setup
from ui.live.source import FileSource
from ui.live.duplex_talk import Talk
from ui.turn.client import ServerClient
from ui.turn.folder import new_folder
from ui.turn.probe import REHEARSAL_MODEL

_RUNS = Path("runs")  # as the app's own --runs
_GLANCE_S = 0.25  # between two looks at an engine that loads


def run(given: argparse.Namespace, environ: Mapping[str, str], stream: TextIO = sys.stdout) -> int:
    """One conversation. Returns the exit code: 0 good, 1 something was found."""
    tongue = spoken_language(environ, None if given.lang == "auto" else given.lang)
    console = Console("zh" if tongue == "zh" else "en", stream)
    try:
        with _engine(given, console) as engine:
            return asyncio.run(_hold(given, environ, console, engine))
    except OmniError as error:
        console.fault(error)
    except OSError as refused:  # the folder of the files
        console.fault(LaunchError("state-not-written", folder=given.output_dir or _RUNS, reason=refused.strerror or ""))
    except KeyboardInterrupt:
        print(file=stream, flush=True)  # the terminal has just shown ^C
    return 1


@contextmanager
def _engine(given: argparse.Namespace, console: Console) -> Iterator[RehearsalEngine | None]:
    """The rehearsal engine, where no server is named; ended at the end."""
    if given.url is not None:
        yield None
        return
    console.say("starting")
    engine = RehearsalEngine(shlex.split(given.rehearsal_args))
    engine.start()
    try:
        yield engine
    finally:
        engine.stop()


async def _hold(
    given: argparse.Namespace, environ: Mapping[str, str], console: Console, engine: RehearsalEngine | None
) -> int:
    stop = asyncio.Event()
    loop = asyncio.get_running_loop()
    loop.add_signal_handler(signal.SIGINT, _interrupted, loop, stop, console)
    loop.add_signal_handler(signal.SIGTERM, stop.set)
    sound = await asyncio.to_thread(given_input, given.input_wav, console.language)
    voice = await asyncio.to_thread(given_voice, given.ref_audio)
    _tell(console, "input", sound)
    _tell(console, "voice", voice)
    key = given.api_key_file.read_text(encoding="utf-8").strip() if given.api_key_file else None
    key = key or environ.get("OPENAI_API_KEY") or None
    base = address(given.url) if engine is None else engine.url
    served = await _served(base, key, engine, console, stop)
    model = given.model or served
    console.say("server", url=base, model=model)
    if served == REHEARSAL_MODEL:
        console.say("rehearsal")
    if stop.is_set():
        return 1
    started_at = time.time()
    folder = given.output_dir or new_folder(_RUNS, "duplex", started_at)
    folder.mkdir(parents=True, exist_ok=True)
    chunks = Chunks(folder)
    recording = Recording(folder, Facts(model, base, served == REHEARSAL_MODEL, started_at))
    words = given.instructions or instructions("", console.language)
    setup = Setup(model, words, voice.data, temperature=given.temperature)
    session = LiveSession(base, setup, api_key=key, log=recording.wire)
    began = time.monotonic()
    paced = not given.no_realtime_pacing
    talk = Talk(
        session,
        FileSource(sound.data, chunk_ms=given.chunk_ms, paced=paced, clock=time.monotonic),
        recording,
        chunks,
        listener=Ear,
        show=console.moment,
        now=lambda: time.monotonic() - began,
        timeout_s=given.timeout_s,
        require_audio=given.require_audio,
    )
    try:
        async with session:
            await talk.hold(stop)
    finally:
        await asyncio.to_thread(recording.finish, session.dropped_frames)
        chunks.close()
    for failure in talk.failures:
        console.fault(failure)
    if recording.error is not None:
        console.fault(recording.error)
    return _verdict(console, recording, chunks)


def _interrupted(loop: asyncio.AbstractEventLoop, stop: asyncio.Event, console: Console) -> None:
    """The first Ctrl-C closes the session; a second one ends the program as usual."""
    loop.remove_signal_handler(signal.SIGINT)
    console.say("stopping")
    stop.set()


async def _served(
    base: str, key: str | None, engine: RehearsalEngine | None, console: Console, stop: asyncio.Event
) -> str:
    """The id under which the server serves; an engine of ours is waited for. Raises ``OmniError``."""
    client = ServerClient(base, api_key=key)
    try:
        loading = None
        while engine is not None and not stop.is_set() and (await client.check()).state != "ready":
            if engine.error is not None:
                raise engine.error
            if engine.loading != loading and engine.loading is not None:
                loading = engine.loading
                console.say("loading", what=loading)
            await asyncio.sleep(_GLANCE_S)
        return await client.model()
    except ServerError as error:
        error.server = base
        raise
    finally:
        await client.close()


def _tell(console: Console, key: str, given: Given) -> None:
    console.say(key, name=given.name, seconds=f"{given.seconds:.1f}")
    for notice in given.notices:
        console.notice(notice)


def _verdict(console: Console, recording: Recording, chunks: Chunks) -> int:
    """The last lines, and the exit code."""
    path = recording.folder / "result.json"
    result = Result.model_validate(json.loads(path.read_text(encoding="utf-8")))
    if result.dropped_frames:
        console.say("dropped", count=result.dropped_frames)
    if result.model_decision is None:
        console.say("undecided")
    elif result.model_decision == "listen":
        console.say("listened")
    else:
        console.say("spoke", answers=len(result.answers), chunks=chunks.count, seconds=f"{chunks.seconds:.1f}")
    console.say("files", folder=os.path.relpath(recording.folder))
    return 0 if result.ok and recording.error is None else 1
