"""The door: options, one line of output at once, then the page.

Nothing heavy is imported here: Gradio alone takes seconds, and whoever starts this should see at once that it starts.
"""

from __future__ import annotations

import argparse
import os
import shlex
import sys
from collections.abc import Mapping, Sequence
from pathlib import Path
from urllib.parse import urlsplit

from launch import values
from launch.config import layered
from launch.errors import LaunchError
from ui.options import Options
from ui.turn.parts import Language


def parser() -> argparse.ArgumentParser:
    """The command line. Each option may also stand as ``OMNI_<NAME>`` in the environment or as ``name: value`` in ./omni.yaml."""
    it = argparse.ArgumentParser(
        prog="python app.py",
        description="Talk to MiniCPM-o 4.5 on a vLLM-Omni server; without --server, to small models on this machine.",
        epilog="Order: flag, then OMNI_<NAME>, then omni.yaml in the working directory, then the default. "
        "`python app.py duplex --help`: a live conversation from the command line.",
    )
    it.add_argument("--server", metavar="URL", help="the vLLM-Omni server, e.g. http://127.0.0.1:8091")
    it.add_argument(
        "--host", default="127.0.0.1", help="address to listen on (default: %(default)s, reached by ssh -L)"
    )
    it.add_argument(
        "--port", type=values.port, default=7862, help="port to listen on; 0 takes a free one (default: %(default)s)"
    )
    it.add_argument(
        "--lang",
        choices=("auto", "zh", "en"),
        default="auto",
        help="first language of the page (default: the browser's)",
    )
    it.add_argument(
        "--api-key-file",
        metavar="FILE",
        type=values.key,
        help="a file that holds the server's API key (default: OPENAI_API_KEY, where it is set)",
    )
    # The time-outs: a server on loopback accepts within milliseconds; a cold one may compile for a minute before its first event; a healthy
    # one sends a packet a second while it speaks.
    it.add_argument(
        "--connect-s",
        type=values.seconds,
        default=5.0,
        metavar="S",
        help="wait for a connection (default: %(default)s)",
    )
    it.add_argument(
        "--first-event-s",
        type=values.seconds,
        default=120.0,
        metavar="S",
        help="wait for the first word (default: %(default)s)",
    )
    it.add_argument(
        "--between-events-s",
        type=values.seconds,
        default=60.0,
        metavar="S",
        help="wait between two events (default: %(default)s)",
    )
    it.add_argument(
        "--runs",
        metavar="DIR",
        type=Path,
        default=Path("runs"),
        help="where the records of turns and recorded conversations go (default: %(default)s)",
    )
    it.add_argument(
        "--max-sessions",
        type=values.count,
        metavar="N",
        help="live conversations at once; more wait in line (default: what the server admits, else 2)",
    )
    it.add_argument(
        "--public-realtime-url",
        type=_socket_url,
        metavar="URL",
        help="wss:// address that leads to this app's port past a gateway without WebSocket; live conversations open their socket there",
    )
    it.add_argument(
        "--control",
        action=argparse.BooleanOptionalAction,
        default=None,
        help="start and stop servers from the page's Server tab (default: only when no other machine reaches the page)",
    )
    it.add_argument(
        "--rehearsal-args", default="", help=argparse.SUPPRESS
    )  # for tests: passed on to the rehearsal engine
    return it


def options(argv: Sequence[str] | None, environ: Mapping[str, str], folder: Path) -> Options:
    """The options of one start; ``folder`` may hold an omni.yaml. Exits with a sentence when one cannot be used."""
    it = parser()
    given = layered(it, argv, environ, folder)
    server = given.server.rstrip("/").removesuffix("/v1") if given.server else None
    if server and not server.startswith(("http://", "https://")):
        it.error(f"--server {server}: begin it with http:// or https://")
    return Options(
        server=server,
        host=given.host,
        port=given.port,
        lang=given.lang,
        api_key=given.api_key_file or environ.get("OPENAI_API_KEY") or None,
        connect_s=given.connect_s,
        first_event_s=given.first_event_s,
        between_events_s=given.between_events_s,
        runs=given.runs,
        max_sessions=given.max_sessions,
        public_realtime_url=given.public_realtime_url,
        control=_switch(given.control, it),
        rehearsal_args=tuple(shlex.split(given.rehearsal_args)),
    )


def _switch(given: bool | str | None, it: argparse.ArgumentParser) -> bool | None:
    """A switch from the command line is one already; from the environment or the file it is a word."""
    if not isinstance(given, str):
        return given
    word = given.lower()
    if word not in ("1", "true", "yes", "on", "0", "false", "no", "off"):
        it.error(f"control = {given}: true or false")
    return word in ("1", "true", "yes", "on")


def main(argv: Sequence[str] | None = None) -> int:
    """Run the app until it is ended, or the command ``duplex``. Returns the exit code."""
    words = sys.argv[1:] if argv is None else argv
    if words and words[0] == "duplex":
        from ui.live.duplex_command import main as duplex

        return duplex(words[1:], os.environ)
    chosen = options(argv, os.environ, Path.cwd())
    print("Omni Showcase is starting / 正在启动 …", flush=True)
    try:
        from launch.door import claim

        language = console_language(chosen.lang, os.environ)
        try:
            door = claim(chosen.host, chosen.port)
        except LaunchError as error:
            from launch.faults import explain

            why = explain(error, language)
            print(f"{why.cause} {why.cure}", file=sys.stderr)
            return 1
        from ui.serve import serve

        serve(chosen, door, language)
    except KeyboardInterrupt:
        print(flush=True)  # the terminal has just shown ^C; the prompt begins on a line of its own
    return 0


def console_language(lang: str, environ: Mapping[str, str]) -> Language:
    """What to speak in the terminal: ``--lang``, else the locale of the shell."""
    if lang != "auto":
        return "zh" if lang == "zh" else "en"
    locale = environ.get("LC_ALL") or environ.get("LC_MESSAGES") or environ.get("LANG") or ""
    return "zh" if locale.startswith("zh") else "en"


def _socket_url(text: str) -> str:
    address = urlsplit(text)
    if address.scheme not in ("wss", "ws") or not address.hostname or address.query or address.fragment:
        raise argparse.ArgumentTypeError(f"{text}: begin it with wss:// and end it with the path, if there is one")
    return text.rstrip("/")


if __name__ == "__main__":
    code = main()
    sys.stdout.flush()
    sys.stderr.flush()
    # Everything of ours is closed by now; tearing down Gradio's modules one by one would take the interpreter seconds more.
    os._exit(code)
