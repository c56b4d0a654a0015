"""The yardstick: Gradio's own streaming audio over the same server and the same client. `python -m tests.bench.builtin_page SERVER_URL`."""

from __future__ import annotations

import sys
from collections.abc import AsyncIterator

import gradio as gr
import numpy as np
from fastapi import FastAPI

from tests.browser.stub import serve
from ui.turn.client import ServerClient
from ui.turn.events import SAMPLE_RATE, Failed, Speech
from ui.turn.parts import Message, Settings, Text
from ui.turn.request import Request


def page(server: str) -> FastAPI:
    async def run(prompt: str) -> AsyncIterator[tuple[int, np.ndarray]]:
        request = Request((Message("user", (Text(prompt),)),), Settings(speech=True))
        async for event in client.stream(request):
            if isinstance(event, Failed):
                raise event.error
            if isinstance(event, Speech):
                yield SAMPLE_RATE, np.frombuffer(event.pcm, "<i2")

    client = ServerClient(server)
    with gr.Blocks() as blocks:
        prompt = gr.Textbox(elem_id="prompt")
        button = gr.Button("Run", elem_id="run")
        audio = gr.Audio(streaming=True, autoplay=True)
        button.click(run, prompt, audio)
    return gr.mount_gradio_app(FastAPI(), blocks, "/", ssr_mode=False, footer_links=[])


if __name__ == "__main__":
    serve(page(sys.argv[1]))
