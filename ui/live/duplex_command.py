"""``python app.py duplex``: one live conversation from the command line, with the options and files of the guide's demo.

Nothing heavy is imported before the first line of output.
"""

from __future__ import annotations

import argparse
from collections.abc import Mapping, Sequence
from pathlib import Path

from launch import values


def parser() -> argparse.ArgumentParser:
    """The guide's options (§9.5) and ours."""
    it = argparse.ArgumentParser(
        prog="python app.py duplex",
        description="Talk to a full-duplex server: a file or a microphone goes in all the time, the model decides each "
        "second to listen or to speak.",
        epilog="Exit code: 0 good, 1 something was found, 2 the command was not understood. Listening is a decision of "
        "the model, not a failure.",
    )
    it.add_argument(
        "--url",
        "--server",
        metavar="URL",
        help="the server: http(s):// or ws(s)://, with or without a path; without it, small models on this machine answer",
    )
    source = it.add_mutually_exclusive_group()
    source.add_argument(
        "--input-wav", metavar="FILE", type=_file, help="what is said to it, any sound or video (default: a sample)"
    )
    source.add_argument("--mic", action="store_true", help="a live microphone and loudspeaker; Ctrl-C ends it")
    it.add_argument(
        "--ref-audio", metavar="FILE", type=_file, help="the voice it speaks with, 3 to 10 s (default: ours)"
    )
    it.add_argument("--output-dir", metavar="DIR", type=Path, help="default: runs/<time>-duplex")
    it.add_argument("--model", metavar="ID", help="default: what the server's /v1/models says")
    it.add_argument("--instructions", metavar="TEXT", help="the system prompt")
    it.add_argument("--temperature", type=float, metavar="T", help="default: the server's own")
    it.add_argument(
        "--chunk-ms", type=_milliseconds, default=200, metavar="MS", help="sound given at a time (default: %(default)s)"
    )
    it.add_argument(
        "--timeout-s",
        type=values.seconds,
        default=60.0,
        metavar="S",
        help="wait for the model's next word or decision; longer for the first run on a new card (default: %(default)s)",
    )
    it.add_argument("--no-realtime-pacing", action="store_true", help="give the file as fast as the server takes it")
    it.add_argument("--require-audio", action="store_true", help="a model that only listens is a finding")
    it.add_argument("--api-key-file", metavar="FILE", type=values.key, help="a file that holds the server's API key")
    it.add_argument("--lang", choices=("auto", "zh", "en"), default="auto", help="default: that of the shell")
    it.add_argument("--rehearsal-args", default="", help=argparse.SUPPRESS)  # for tests
    return it


def main(argv: Sequence[str], environ: Mapping[str, str]) -> int:
    """Hold one conversation. Returns the exit code."""
    given = parser().parse_args(argv)
    try:
        print("Omni Showcase · duplex / 全双工 …", flush=True)
        from ui.live.duplex_run import run  # takes seconds, in which somebody may think better of it

        return run(given, environ)
    except KeyboardInterrupt:
        print(flush=True)  # the terminal has just shown ^C
        return 1


def _file(text: str) -> Path:
    path = Path(text)
    if not path.is_file():
        raise argparse.ArgumentTypeError(f"{text}: no such file")
    return path


def _milliseconds(text: str) -> int:
    if not text.isdecimal() or not 10 <= (number := int(text)) <= 1_000:
        raise argparse.ArgumentTypeError(f"{text}: 10 to 1000 milliseconds")
    return number
