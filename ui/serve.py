"""The app's process: one port for page, API and sockets, from the first import to the last task."""

from __future__ import annotations

import os
import signal
import socket

from launch.engine import RehearsalEngine
from launch.errors import OmniError
from launch.faults import explain
from ui.options import Options
from ui.texts import texts
from ui.turn.parts import Language


def serve(options: Options, door: socket.socket, language: Language) -> None:
    """Serve the page on ``door`` until the process is told to end (raises ``KeyboardInterrupt`` then).

    ``language``: of the terminal.
    """
    say = texts()
    host, port = door.getsockname()[:2]
    engine = None

    def died(error: OmniError) -> None:
        why = explain(error, language)
        print(why.cause, why.cure, flush=True)

    if options.server is None:
        print(say("console.rehearsal", language), flush=True)
        engine = RehearsalEngine(options.rehearsal_args, say=died)
        engine.start()  # it loads its models while we load Gradio
    try:
        if options.server is not None:
            print(say("console.server", language, url=options.server), flush=True)
        if not host.startswith("127.") and host != "::1":
            print(say("console.wide", language, host=host, port=port), flush=True)
        signal.signal(signal.SIGTERM, signal.default_int_handler)  # ends like Ctrl-C: with everything closed

        # Gradio would send figures home. It reads this when it is imported, which takes seconds.
        os.environ.setdefault("GRADIO_ANALYTICS_ENABLED", "False")
        from ui.building import build_app
        from ui.web import Web

        url = f"http://{_shown(host)}:{port}"
        app = build_app(options, engine, ready=lambda: print(say("console.open", language, url=url), flush=True))
        Web(app).run(sockets=[door])
    finally:
        door.close()
        if engine is not None:
            engine.stop()


def _shown(host: str) -> str:
    """The host as a browser on this machine writes it."""
    host = {"0.0.0.0": "127.0.0.1", "::": "::1"}.get(host, host)
    return f"[{host}]" if ":" in host else host
