"""The app put together: client, turns, page, our own routes, and the middlewares around them."""

from __future__ import annotations

import gc
import os
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager

import gradio as gr
from fastapi import FastAPI
from starlette.types import ASGIApp

from launch.engine import RehearsalEngine
from launch.here import state_dir
from ui import pill
from ui.control import routes as control
from ui.control.switch import why_not
from ui.control.tool import Tool
from ui.desk import Desk
from ui.gateway import Gateway
from ui.guard import Guard, SessionCookies
from ui.head import head
from ui.live import reception, speech
from ui.live.neighbour import Neighbour
from ui.live.real_lounge import real_lounge
from ui.options import Options
from ui.page import build_page
from ui.stage import BROWSER_PATH, BrowserFiles
from ui.texts import texts
from ui.theme import theme
from ui.turn.client import ServerClient, Timeouts
from ui.turn.turns import Turns
from ui.unfit import tell_unfit

# One upload. A minute of 1080p from a phone is 130 MB, and the model watches 64 s.
MAX_UPLOAD = "512mb"


def build_app(options: Options, engine: RehearsalEngine | None, *, ready: Callable[[], None] = lambda: None) -> ASGIApp:
    """The ASGI app. ``engine``: the rehearsal engine to talk to when the options name no server; ``ready`` is called when it serves."""
    server = options.server or (engine.url if engine else "")
    timeouts = Timeouts(options.connect_s, options.first_event_s, options.between_events_s)
    client = ServerClient(server, api_key=options.api_key if options.server else None, timeouts=timeouts)
    turns = Turns(client, options.runs)
    neighbour = Neighbour(client.base_url, state_dir(os.environ))
    key = options.api_key if options.server else None
    lounge = real_lounge(client.base_url, key, options.runs, options.max_sessions, rehearsal=engine is not None)
    guard = Guard()
    tool = Tool(os.environ)
    t = texts()

    @asynccontextmanager
    async def lifespan(_: FastAPI) -> AsyncIterator[None]:
        # Gradio's 230,000 objects stay to the end. Looked through by every full collection, they would hold up all sound
        # for a quarter of a second each time.
        gc.collect()
        gc.freeze()
        ready()
        yield
        await lounge.close()
        await turns.close()
        await client.close()

    app = FastAPI(lifespan=lifespan, docs_url=None, redoc_url=None, openapi_url=None)
    tell_unfit(app)
    app.include_router(pill.router(client, guard, engine, tool.start_at))
    app.include_router(speech.router(turns, guard, server, key=client.needs_key))
    app.include_router(reception.router(lounge, client, guard, neighbour, options.public_realtime_url))
    app.include_router(control.router(tool, guard, why_not(options), options.server))
    app.mount(BROWSER_PATH, BrowserFiles())
    gr.mount_gradio_app(
        app,
        build_page(t, Desk(turns), client, guard, options),
        path="/",
        footer_links=[],
        run_history=False,
        ssr_mode=False,
        show_error=True,
        max_file_size=MAX_UPLOAD,
        enable_monitoring=False,
        theme=theme(),
    )
    return SessionCookies(Gateway(app, head=head(t, options.lang)), guard)
