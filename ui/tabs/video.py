"""A video and a question about it, sent as frames with their sound or as the file it is."""

from __future__ import annotations

import asyncio
import html
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import gradio as gr
from gradio.components import Component

from launch.errors import InputError
from ui.media import video
from ui.samples import Sample
from ui.tabs.slots import SLOT_PX, shown_as_it_is, untouched
from ui.tabs.tab import Asked, Tab, ask_about
from ui.turn.parts import Language

# Frames and sound first: it is what the model was trained to watch (guide §7.8), and every server takes it.
INTERLEAVED, ORIGINAL = "interleaved", "original"


class VideoTab(Tab):
    id = "video"
    parameters = ("prompt", "video", "way")
    slots_above = True

    def slots(self) -> list[Component]:
        slot = gr.Video(
            sources=["upload", "webcam"],
            include_audio=True,
            label=self.t("video.slot"),
            height=SLOT_PX,
            buttons=[],
            elem_classes="omni-slot",
        )
        return [untouched(shown_as_it_is(slot))]

    def options(self) -> list[Component]:
        ways = [(self.t(f"video.{way}"), way) for way in (INTERLEAVED, ORIGINAL)]
        way = gr.Radio(ways, value=INTERLEAVED, label=self.t("video.way"), elem_classes="omni-chips", min_width=0)
        notes = "".join(
            f'<p data-way="{name}">{html.escape(self.t(f"video.{name}_note"))}</p>' for name in (INTERLEAVED, ORIGINAL)
        )
        gr.HTML(notes, elem_classes="omni-small", apply_default_css=False)  # page.css shows the one of the chosen way
        return [way]

    def fill(self, sample: Sample) -> list[Any]:
        question = sample.questions[0]
        return [question.prompt, str(question.files[0]), INTERLEAVED]

    def blank(self) -> list[Any]:
        return ["", None, INTERLEAVED]

    async def gather(self, values: Sequence[Any], page: Language) -> Asked:
        prompt, path, way = values
        if path is None:
            raise InputError("no-video")
        prepare = video.original if way == ORIGINAL else video.interleaved
        return ask_about(
            await asyncio.to_thread(prepare, Path(path)), (prompt or "").strip() or self.t("video.question", page)
        )
