"""``python -m launch.rehearsal``: a server that speaks MiniCPM-o's wire over small CPU models.

It prints ``listening URL`` when its port is open, ``loading WHAT SHARE`` (0 to 1) while it loads, and ``ready URL``
when it answers. Nothing heavy is imported before the first line.
"""

from __future__ import annotations

import argparse
import asyncio
import os
import signal
import sys
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from launch.rehearsal.brain.brain import Brain

PORT = 8091  # vllm serve's port in the guide's commands, so that an app finds either server at the same place


class Parser(argparse.ArgumentParser):
    def format_help(self) -> str:
        from launch.rehearsal.wire import faults
        from launch.rehearsal.wire.realtime import trouble

        rows = [f"  {faults.usage(name)}\n      {kind.__doc__}" for name, kind in faults.KINDS.items()]
        sockets = [f"  {trouble.usage(name)}\n      {what}" for name, (_, what) in trouble.KINDS.items()]
        self.epilog = "\n".join(
            [
                "Faults befall chat requests: with N the first N of them, after which the engine is healthy;",
                "without N all of them. Several may be given; they apply in their order.",
                *rows,
                "And these befall realtime sessions, the first N of them or all:",
                *sockets,
            ]
        )
        return super().format_help()


def parse(arguments: list[str] | None = None) -> argparse.Namespace:
    parser = Parser(
        prog="python -m launch.rehearsal",
        description="A rehearsal of vLLM-Omni's server on small CPU models. It is not MiniCPM-o.",
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    parser.add_argument("--host", default="127.0.0.1")
    parser.add_argument("--port", type=int, default=PORT, help=f"0 takes a free one (default {PORT})")
    parser.add_argument("--wire", choices=("0.26", "0.30"), default="0.26", help="the server version to speak as")
    parser.add_argument(
        "--brain",
        default="",
        metavar="FILE.gguf|canned",
        help="another thinking model, or no models: a text and a tone",
    )
    parser.add_argument("--weights", type=Path, metavar="DIR", help="where the fetched models are")
    parser.add_argument("--parent", type=int, metavar="PID", help="end when this process ends")
    parser.add_argument("--fault", action="append", default=[], metavar="KIND[:N]", help="see below; may be repeated")
    parser.add_argument(
        "--session-mode",
        choices=("duplex", "turn"),
        default="duplex",
        help="turn: as a server whose deploy file has no duplex sessions (default %(default)s)",
    )
    parser.add_argument("--max-sessions", type=int, default=2, help="realtime sessions at once (default %(default)s)")
    canned = parser.add_argument_group("with --brain canned")
    canned.add_argument("--text", metavar="TEXT", help="what it says")
    canned.add_argument(
        "--audio-s", type=float, metavar="S", help="length of its tone (default: as the text would take)"
    )
    canned.add_argument("--first-token-s", type=float, metavar="S", help="seconds before the first token")
    canned.add_argument("--token-s", type=float, metavar="S", help="seconds before each later token")
    canned.add_argument("--first-audio-s", type=float, metavar="S", help="seconds before the first sound")
    canned.add_argument("--rtf", type=float, help="seconds of waiting for each second of later sound")
    return parser.parse_args(arguments)


CANNED = ("text", "audio_s", "first_token_s", "token_s", "first_audio_s", "rtf")


def make_brain(options: argparse.Namespace) -> Brain:
    if options.brain == "canned":
        from launch.rehearsal.brain.canned import CannedBrain

        given = {name: getattr(options, name) for name in CANNED if getattr(options, name) is not None}
        return CannedBrain(**given)
    from launch.rehearsal.brain.small_brain import SmallBrain

    return SmallBrain(options.weights, model=Path(options.brain) if options.brain else None)


def die() -> None:
    """As a killed process would: no reply, no clean-up."""
    os.kill(os.getpid(), signal.SIGKILL)


def run(options: argparse.Namespace) -> int:
    """Serve until told to stop. The exit code: 0, or 1 when there are no weights to load."""
    from launch.rehearsal.weights import WeightsError
    from launch.rehearsal.wire.app import create_app
    from launch.rehearsal.wire.realtime.lobby import Limits
    from launch.rehearsal.wire.serve import Server, listen

    failures: list[Exception] = []
    with listen(options.host, options.port) as sock:
        host = f"[{options.host}]" if ":" in options.host else options.host
        url = f"http://{host}:{sock.getsockname()[1]}"

        def failed(error: Exception) -> None:
            failures.append(error)
            server.should_exit = True

        app = create_app(
            make_brain(options),
            wire=options.wire,
            faults=options.fault,
            progress=lambda what, share: print(f"loading {what} {share:.2f}", flush=True),
            ready=lambda: print(f"ready {url}", flush=True),
            failed=failed,
            die=die,
            mode=options.session_mode,
            limits=Limits(max_sessions=options.max_sessions),
        )
        server = Server(app, sock)
        print(f"listening {url}", flush=True)
        asyncio.run(server.run_here())
    for error in failures:
        if not isinstance(error, WeightsError):  # whose message is the whole story
            raise error
        print(error, file=sys.stderr)
    return 1 if failures else 0


def main(arguments: list[str] | None = None) -> int:
    options = parse(arguments)
    print(f"rehearsal engine, wire {options.wire}: small models on this CPU, not MiniCPM-o", flush=True)
    try:
        if options.parent:
            from launch.rehearsal.wire.parent import die_with

            die_with(options.parent)
        return run(options)
    except (OSError, ValueError) as error:  # a port that is taken, a parent that is gone, a fault nobody knows
        print(error, file=sys.stderr)
        return 2
    except ModuleNotFoundError as error:
        print(
            f"{error.name} is not installed: `make setup`, or pip install -r requirements-rehearsal.txt and then "
            "pip install --no-deps -r requirements-rehearsal-nodeps.txt",
            file=sys.stderr,
        )
        return 2


if __name__ == "__main__":
    sys.exit(main())
