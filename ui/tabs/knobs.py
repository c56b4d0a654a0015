"""The controls every tab has: speech, answer language, persona, and what stands under "more"."""

from __future__ import annotations

import math
from dataclasses import dataclass

import gradio as gr
from gradio.components import Component

from launch.errors import InputError
from ui.texts import Texts
from ui.turn.parts import Language, Settings, Voice
from ui.voices import AnswerLanguage, answer_language, personas, voice

# What a setting may be. Tokens: MiniCPM-o's context; temperature: the range of OpenAI's API, which the server takes over.
_RANGES = {"max_tokens": (1, 40960), "temperature": (0, 2), "seed": (0, 2**31 - 1)}

Number = float | str | None
"""As typed, or as a program gives it; ``None`` and the empty text: the server's own."""


@dataclass(frozen=True)
class Knobs:
    """Their values, in the order of the components."""

    speech: bool = True
    language: AnswerLanguage = "auto"
    persona: str = "assistant"
    max_tokens: Number = None
    temperature: Number = None
    seed: Number = None

    def settings(self) -> Settings:
        """Raises ``InputError`` (``setting-out-of-range``)."""
        return Settings(
            self.speech,
            _whole(_checked("max_tokens", self.max_tokens)),
            _checked("temperature", self.temperature),
            _whole(_checked("seed", self.seed)),
        )

    def voice(self, prompt: str, page: Language) -> Voice:
        """Who answers ``prompt``. ``page``: the language the page speaks."""
        return voice(self.persona, answer_language(self.language, prompt, page))


def build(t: Texts) -> list[Component]:
    """The controls, in the order of ``Knobs``."""
    default = Knobs()
    with gr.Row(elem_classes="omni-knobs"):
        speech = gr.Checkbox(
            default.speech, label=t("ask.speech"), container=False, elem_classes="omni-chip", min_width=0, scale=0
        )
        language = gr.Radio(
            [(t(f"ask.{name}"), name) for name in ("auto", "zh", "en")],
            value=default.language,
            label=t("ask.language"),
            elem_classes="omni-chips",
            min_width=0,
        )
    persona = gr.Radio(
        [(t(f"ask.{name}"), name) for name in personas()],
        value=default.persona,
        label=t("ask.persona"),
        elem_classes="omni-chips",
        min_width=0,
    )
    with gr.Accordion(t("ask.more"), open=False, elem_classes="omni-more"):
        with gr.Row():
            # Fields of text: Gradio's number makes 0 of an empty one as soon as it is drawn.
            numbers = [
                gr.Textbox(
                    "", label=t(f"ask.{name}"), placeholder=t("ask.default"), min_width=80, elem_classes="omni-number"
                )
                for name in _RANGES
            ]
        gr.Markdown(t("ask.persona_note"), elem_classes="omni-small")
    return [speech, language, persona, *numbers]


def _checked(name: str, given: Number) -> float | None:
    if given is None or str(given).strip() == "":
        return None
    low, high = _RANGES[name]
    try:
        number = float(given)
    except ValueError:
        number = math.nan  # within no range
    if not low <= number <= high:
        raise InputError("setting-out-of-range", setting=name, value=str(given).strip(), low=low, high=high)
    return number


def _whole(value: float | None) -> int | None:
    return None if value is None else round(value)
