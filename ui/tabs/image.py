"""A picture and a question about it."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import gradio as gr
from gradio.components import Component

from launch.errors import InputError
from ui.media import image
from ui.samples import Sample
from ui.tabs.slots import SLOT_PX, untouched
from ui.tabs.tab import Asked, Tab, ask_about
from ui.turn.parts import Language


class ImageTab(Tab):
    id = "image"
    parameters = ("prompt", "image")
    slots_above = True

    def slots(self) -> list[Component]:
        return [
            untouched(
                gr.Image(
                    type="filepath",
                    sources=["upload", "clipboard", "webcam"],
                    label=self.t("image.slot"),
                    height=SLOT_PX,
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
            raise InputError("no-image")
        prepared = await asyncio.to_thread(image.prepare, Path(path))
        return ask_about(prepared, (prompt or "").strip() or self.t("image.question", page))
