"""A recording that asks, or a recording and a question about it."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import gradio as gr
from gradio.components import Component

from launch.errors import InputError
from ui.media import audio
from ui.samples import Sample
from ui.tabs.slots import untouched
from ui.tabs.tab import Asked, Tab, ask_about
from ui.turn.parts import Language


class AudioTab(Tab):
    id = "audio"
    parameters = ("prompt", "audio")
    slots_above = True

    def slots(self) -> list[Component]:
        return [
            untouched(
                gr.Audio(
                    type="filepath",  # a numpy value would be rescaled on the way
                    sources=["upload", "microphone"],
                    label=self.t("audio.slot"),
                    editable=False,
                    buttons=[],
                    elem_classes="omni-slot",
                )
            )
        ]

    def fill(self, sample: Sample) -> list[Any]:
        question = sample.questions[0]
        return [question.prompt, str(question.files[0])]

    def blank(self) -> list[Any]:
        return ["", None]

    async def gather(self, values: Sequence[Any], page: Language) -> Asked:
        prompt, path = values
        if path is None:
            raise InputError("no-audio")
        return ask_about(await asyncio.to_thread(audio.prepare, Path(path)), (prompt or "").strip())
