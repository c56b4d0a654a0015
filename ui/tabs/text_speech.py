"""Text in, text and speech out."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from launch.errors import InputError
from ui.samples import Sample
from ui.tabs.tab import Asked, Tab
from ui.turn.parts import Language, Message, Text


class TextSpeech(Tab):
    id = "text_speech"
    parameters = ("prompt",)

    def fill(self, sample: Sample) -> list[Any]:
        return [sample.questions[0].prompt]

    def blank(self) -> list[Any]:
        return [""]

    async def gather(self, values: Sequence[Any], page: Language) -> Asked:
        prompt = (values[0] or "").strip()
        if not prompt:
            raise InputError("nothing-typed")
        return Asked((Message("user", (Text(prompt),)),), prompt)
