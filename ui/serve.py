"""The app's process: one port for page, API and sockets, from the first import to the last task."""

from __future__ import annotations

import os
import socket

from launch.engine import RehearsalEngine
from launch.errors import OmniError
from launch.faults import explain
from ui.options import Options
from ui.texts import texts
from ui.turn.parts import Language

# What Gradio would send home or fetch; set before it is imported.
os.environ.setdefault("GRADIO_ANALYTICS_ENABLED", "False")

_GRACE_S = 1  # Ctrl-C promises an end within 2 s: open streams get one of them


def serve(options: Options, door: socket.socket, language: Language) -> None:
    """Serve the page on ``door`` until the process is told to end. ``language``: of the terminal."""
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

        import uvicorn

        from ui.building import build_app

        shown = "127.0.0.1" if host in ("0.0.0.0", "::") else host
        url = f"http://[{shown}]:{port}" if ":" in shown else f"http://{shown}:{port}"
        app = build_app(options, engine, ready=lambda: print(say("console.open", language, url=url), flush=True))
        config = uvicorn.Config(app, log_level="warning", timeout_graceful_shutdown=_GRACE_S, server_header=False)
        uvicorn.Server(config).run(sockets=[door])
    finally:
        door.close()
        if engine is not None:
            engine.stop()
