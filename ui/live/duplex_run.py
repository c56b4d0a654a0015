"""What ``python app.py duplex`` does: a server, a conversation, its files, a verdict."""

from __future__ import annotations

import argparse
import asyncio
import json
import signal
import sys
import time
from collections.abc import Callable, Mapping
from contextlib import ExitStack, suppress
from pathlib import Path

from launch.errors import LaunchError, OmniError
from launch.texts import language as spoken_language
from ui.live.account import Facts
from ui.live.chunks import Chunks
from ui.live.console import Console
from ui.live.duplex_input import Given, given_input, given_voice
from ui.live.duplex_server import Answering, answering, is_rehearsal
from ui.live.duplex_talk import Listener, Talk
from ui.live.ear import Ear
from ui.live.manners import instructions
from ui.live.recording import Recording
from ui.live.result import Result
from ui.live.session import LiveSession
from ui.live.setup import Setup
from ui.live.sound_card import Loudspeaker, Microphone, portaudio
from ui.live.source import FileSource, Source
from ui.turn.folder import new_folder

_RUNS = Path("runs")  # as the app's own --runs

Hear = Callable[[Callable[[float, int, float], None]], Listener]
"""Makes the listener, from what is to be told how far it has heard."""


def run(given: argparse.Namespace, environ: Mapping[str, str]) -> int:
    """One conversation. Returns the exit code: 0 good, 1 something was found."""
    tongue = spoken_language(environ, None if given.lang == "auto" else given.lang)
    console = Console("zh" if tongue == "zh" else "en", sys.stdout)
    try:
        with answering(given.url, given.rehearsal_args, console) as server:
            return asyncio.run(_prepared(given, environ, console, server))
    except OmniError as error:
        console.fault(error)
    except OSError as refused:  # the folder of the files
        console.fault(LaunchError("state-not-written", folder=given.output_dir or _RUNS, reason=refused.strerror or ""))
    return 1


async def _prepared(given: argparse.Namespace, environ: Mapping[str, str], console: Console, server: Answering) -> int:
    stop = asyncio.Event()
    loop = asyncio.get_running_loop()
    with suppress(NotImplementedError):  # on Windows Ctrl-C cancels us instead, which closes everything too
        loop.add_signal_handler(signal.SIGINT, _interrupted, loop, stop, console)
        loop.add_signal_handler(signal.SIGTERM, stop.set)
    with ExitStack() as devices:
        source, hear = await _sides(given, console, devices)
        voice = await asyncio.to_thread(given_voice, given.ref_audio)
        _tell(console, "voice", voice)
        key = given.api_key_file or environ.get("OPENAI_API_KEY") or None
        served = await server.served(key, console, stop)
        if served is None:
            return 1
        words = given.instructions or instructions("", console.language)
        setup = Setup(given.model or served, words, voice.data, temperature=given.temperature)
        console.say("server", url=server.url, model=setup.model)
        if is_rehearsal(served):
            console.say("rehearsal")
        facts = Facts(setup.model, server.url, is_rehearsal(served), time.time())
        return await _held(given, console, facts, setup, key, source, hear, stop)


async def _sides(given: argparse.Namespace, console: Console, devices: ExitStack) -> tuple[Source, Hear]:
    """Who speaks, and how the answers are heard. ``devices`` closes what has to be closed."""
    if not given.mic:
        sound = await asyncio.to_thread(given_input, given.input_wav, console.language)
        _tell(console, "input", sound)
        paced = not given.no_realtime_pacing
        return FileSource(sound.data, chunk_ms=given.chunk_ms, paced=paced, clock=time.monotonic), Ear
    library = await asyncio.to_thread(portaudio)
    microphone = devices.enter_context(Microphone(library, chunk_ms=given.chunk_ms))
    speaker = devices.enter_context(Loudspeaker(library))
    console.say("microphone", device=microphone.name, speaker=speaker.name)
    return microphone, speaker.told


async def _held(
    given: argparse.Namespace,
    console: Console,
    facts: Facts,
    setup: Setup,
    key: str | None,
    source: Source,
    hear: Hear,
    stop: asyncio.Event,
) -> int:
    folder = given.output_dir or new_folder(_RUNS, "duplex", facts.started_at)
    folder.mkdir(parents=True, exist_ok=True)
    chunks, recording = Chunks(folder), Recording(folder, facts)
    session = LiveSession(facts.server, setup, api_key=key, log=recording.wire)
    began = time.monotonic()
    talk = Talk(
        session,
        source,
        recording,
        chunks,
        listener=hear,
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
    for failure in (*talk.failures, *filter(None, [recording.error])):
        console.fault(failure)
    return _verdict(console, recording, chunks)


def _interrupted(loop: asyncio.AbstractEventLoop, stop: asyncio.Event, console: Console) -> None:
    """The first Ctrl-C closes the session; a second one ends the program as usual."""
    loop.remove_signal_handler(signal.SIGINT)
    console.say("stopping")
    stop.set()


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
    folder = recording.folder.resolve()
    console.say("files", folder=folder.relative_to(Path.cwd()) if folder.is_relative_to(Path.cwd()) else folder)
    return 0 if result.ok and recording.error is None else 1
