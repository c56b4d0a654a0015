"""What a tab is: the inputs of one modality, and how they become messages. Everything else is the same for all (``shape.py``)."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, ClassVar

import gradio as gr
from gradio.components import Component

from launch.errors import MediaError, OmniError
from ui.media.prepared import Prepared
from ui.samples import Sample
from ui.texts import Texts
from ui.turn.parts import Language, Message, Text
from ui.turn.turn import Turn


@dataclass(frozen=True)
class Asked:
    """A question, gathered. ``prompt``: the words that decide the language of the answer; ``notices``: what became of the media."""

    messages: tuple[Message, ...]
    prompt: str
    notices: tuple[OmniError, ...] = ()


class Tab(ABC):
    """One modality. Its *values* are those of question, slots, options and memory, in this order."""

    id: ClassVar[str]
    """Names its texts, its samples, its API endpoint and its records."""
    parameters: ClassVar[tuple[str, ...]]
    """What the endpoint calls the values of question, slots and options."""
    optional: ClassVar[tuple[str, ...]] = ()
    """Those of them that a caller may leave out."""
    slots_above: ClassVar[bool] = False
    """Whether something is seen or heard above the question, which is then short."""
    drops_media: ClassVar[bool] = False
    """Whether ``lighter`` can make a refused question smaller."""

    def __init__(self, texts: Texts) -> None:
        self.t = texts

    def question(self) -> Component:
        """Where the question is typed."""
        return gr.Textbox(
            label=self.t("ask.prompt"),
            show_label=False,
            placeholder=self.t(f"{self.id}.prompt_placeholder"),
            lines=2 if self.slots_above else 3,
            max_lines=8,
            elem_classes="omni-question",
        )

    def slots(self) -> list[Component]:
        """The inputs above the question: what is seen or heard."""
        return []

    def options(self) -> list[Component]:
        """The inputs below the question: how it is sent."""
        return []

    def memory(self) -> list[Component]:
        """What the tab keeps between questions, and how it shows it."""
        return []

    @abstractmethod
    def fill(self, sample: Sample) -> list[Any]:
        """Values with which ``sample`` stands in the tab."""

    @abstractmethod
    def blank(self) -> list[Any]:
        """Values of a tab nobody has used yet."""

    @abstractmethod
    async def gather(self, values: Sequence[Any], page: Language) -> Asked:
        """The question that ``values`` ask. Raises ``InputError`` and ``MediaError``. ``page``: the reader's language."""

    def endpoint(self, asked: list[Component]) -> tuple[list[Component], list[Component]]:
        """The endpoint's own inputs for question, slots and options, and the memory it keeps for its caller."""
        return asked, []

    def from_endpoint(self, given: Sequence[Any]) -> list[Any]:
        """The tab's values from those of ``endpoint``."""
        return list(given)

    def after(self, turn: Turn, memory: Sequence[Any]) -> list[Any]:
        """Values of the question and of the memory once ``turn`` has ended; empty: all stays as it is."""
        return []

    def lighter(self, turn: Turn, values: Sequence[Any]) -> list[Any] | None:
        """Values that ask the same of less media, after the server named a limit; ``None`` when nothing can go."""
        return None


def ask_about(medium: Prepared, prompt: str) -> Asked:
    """One user message: the medium, then the words, if any."""
    words = (Text(prompt),) if prompt else ()
    return Asked((Message("user", (*medium.parts, *words)),), prompt, told([medium]))


def told(media: Sequence[Prepared]) -> tuple[OmniError, ...]:
    """What the reader should know about their uploads."""
    return tuple(MediaError(notice.key, **notice.facts) for medium in media for notice in medium.notices)
