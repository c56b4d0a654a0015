"""A page with nothing but stages on it: `python -m tests.browser.dev_page SERVER_URL` prints its address.

Two tabs, each with a prompt, Run, Stop and Clear, wired to the stage as a real tab is.
"""

from __future__ import annotations

import sys
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from typing import Any

import gradio as gr
from fastapi import FastAPI

from launch.errors import InputError
from tests.browser.gateway import Gateway
from tests.browser.stub import serve
from ui.guard import Guard, SessionCookies
from ui.live.speech import router
from ui.stage import BROWSER_PATH, EMPTY, HEAD, BrowserFiles, build_stage, fault_view, stage_view
from ui.texts import texts
from ui.turn.client import ServerClient
from ui.turn.parts import Message, Settings, Text
from ui.turn.request import Request
from ui.turn.turns import Turns

STAGES = ("one", "two")


class Page:
    def __init__(self, server: str) -> None:
        self.guard = Guard()
        self.client = ServerClient(server)
        self.turns = Turns(self.client, None)

    def app(self) -> Any:
        app = FastAPI(lifespan=self.lifespan)
        app.include_router(router(self.turns, self.guard, self.client.base_url))
        app.mount(BROWSER_PATH, BrowserFiles())
        gr.mount_gradio_app(app, self.blocks(), "/", ssr_mode=False, footer_links=[], head=HEAD)
        return Gateway(SessionCookies(app, self.guard))

    @asynccontextmanager
    async def lifespan(self, app: FastAPI) -> AsyncIterator[None]:
        yield
        await self.turns.close()
        await self.client.close()

    def blocks(self) -> gr.Blocks:
        with gr.Blocks(title="Stages") as blocks:
            for id in STAGES:
                with gr.Tab(id), gr.Row():
                    with gr.Column(scale=5):
                        prompt = gr.Textbox(label="prompt", elem_id=f"{id}-prompt", lines=4)
                        speech = gr.Checkbox(True, label="speech", elem_id=f"{id}-speech")
                        run = gr.Button("Run", variant="primary", elem_id=f"{id}-run", elem_classes="omni-run")
                        stop = gr.Button("Stop", elem_id=f"{id}-stop", elem_classes="omni-stop")
                        clear = gr.Button("Clear", elem_id=f"{id}-clear")
                    with gr.Column(scale=8):
                        stage = build_stage(texts().table("en"), id)
                hook = "(...inputs) => {{ omni.{what}('{id}'); return inputs; }}"
                going = run.click(
                    self.runner(id),
                    [prompt, speech],
                    stage,
                    js=hook.format(what="begin", id=id),
                    show_progress="hidden",
                    concurrency_limit=None,
                )
                stop.click(None, js=hook.format(what="stop", id=id))
                clear.click(lambda: EMPTY, None, stage, js=hook.format(what="clear", id=id), cancels=going, queue=False)
        return blocks

    def runner(self, id: str) -> Callable[..., AsyncIterator[Any]]:
        async def run(prompt: str, speech: bool, request: gr.Request) -> AsyncIterator[Any]:
            owner = self.guard.owner_of(request.cookies)
            assert owner is not None, "the page came without a session"
            if not prompt:
                yield fault_view(InputError("nothing-typed"), "en")
                return
            asked = Request((Message("user", (Text(prompt),)),), Settings(speech=speech))
            turn = self.turns.start(asked, owner, id)
            while turn.running:
                version = turn.version
                yield stage_view(turn, "en")
                await turn.changed(version, 1)
            yield stage_view(turn, "en")

        return run


if __name__ == "__main__":
    serve(Page(sys.argv[1]).app())
