"""A conversation: words and media of every turn are sent again with the next question."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

import gradio as gr
from gradio.components import Component

from launch.errors import InputError
from ui.media import audio, image, video
from ui.media.prepared import Prepared
from ui.media.signature import signature
from ui.samples import Question, Sample
from ui.tabs.history import History
from ui.tabs.history_view import view
from ui.tabs.slots import without_example
from ui.tabs.tab import Asked, Tab, told
from ui.turn.parts import Language, Message, Part, Text
from ui.turn.turn import Turn

_NOTHING: dict[str, Any] = {"text": "", "files": []}
_PREPARE = {"image": image.prepare, "audio": audio.prepare, "video": video.interleaved}


@dataclass(frozen=True)
class Talk:
    """The conversation so far, and the questions of a sample that are still to come."""

    history: History = field(default_factory=History)
    script: tuple[Question, ...] = ()


class MultiTurn(Tab):
    id = "multi_turn"
    parameters = ("prompt", "files")
    optional = ("files",)
    drops_media = True

    def question(self) -> Component:
        box = gr.MultimodalTextbox(
            label=self.t("multi_turn.slot"),
            show_label=False,
            placeholder=self.t("multi_turn.prompt_placeholder"),
            file_types=["image", "audio", "video"],
            file_count="multiple",
            sources=["upload", "microphone"],
            submit_btn=False,
            lines=3,
            max_lines=8,
            elem_classes="omni-question",
        )
        return without_example(box)

    def memory(self) -> list[Component]:
        return [gr.State(Talk()), gr.HTML(view(History(), self.t), elem_classes="omni-talk", apply_default_css=False)]

    def fill(self, sample: Sample) -> list[Any]:
        """A sample is a conversation of its own: it begins anew, with its first question."""
        return [_message(sample.questions[0]), *self._kept(Talk(History(), sample.questions[1:]))]

    def blank(self) -> list[Any]:
        return [_NOTHING, *self._kept(Talk())]

    def endpoint(self, asked: list[Component]) -> tuple[list[Component], list[Component]]:
        """Words and files apart: the first parameter of every endpoint is the prompt."""
        files = without_example(gr.File(file_count="multiple", visible=False, label=self.t("multi_turn.slot")))
        return [gr.Textbox("", visible=False, label=self.t("ask.prompt")), files], [gr.State(Talk())]

    def from_endpoint(self, given: Sequence[Any]) -> list[Any]:
        prompt, files, talk = given
        return [{"text": prompt, "files": files or []}, talk, None]

    async def gather(self, values: Sequence[Any], page: Language) -> Asked:
        message, talk = values[0] or _NOTHING, values[1]
        words = (message.get("text") or "").strip()
        files = [Path(path) for path in message.get("files") or ()]
        if not words and not files:
            raise InputError("nothing-typed")
        media = [await asyncio.to_thread(_prepared, path) for path in files]
        parts: list[Part] = [part for medium in media for part in medium.parts]
        if words:
            parts.append(Text(words))
        question = Message("user", tuple(parts))
        return Asked((*talk.history.messages(), question), words or _last_words(talk.history), told(media))

    def after(self, turn: Turn, memory: Sequence[Any]) -> list[Any]:
        """An answer, even half of one, makes the question part of the conversation; without one everything stays for another try."""
        talk: Talk = memory[0]
        if not turn.text:
            return []
        history = talk.history.then(turn.request.messages[-1], turn.text)
        following = _message(talk.script[0]) if talk.script else _NOTHING
        return [following, *self._kept(Talk(history, talk.script[1:]))]

    def lighter(self, turn: Turn, values: Sequence[Any]) -> list[Any] | None:
        message, talk = values[0] or _NOTHING, values[1]
        if turn.error is None:
            return None
        history = talk.history.fitting(turn.error)
        if history is not talk.history:
            return [message, *self._kept(replace(talk, history=history))]
        files = message.get("files") or []
        return [message | {"files": files[1:]}, *self._kept(talk)] if files else None

    def _kept(self, talk: Talk) -> list[Any]:
        return [talk, view(talk.history, self.t)]


def _message(question: Question) -> dict[str, Any]:
    return {"text": question.prompt, "files": [str(path) for path in question.files]}


def _prepared(path: Path) -> Prepared:
    """The file, by what its first bytes say it is; an unknown one gets the picture's sentence. Raises ``MediaError``."""
    return _PREPARE[signature(path).kind or "image"](path)


def _last_words(history: History) -> str:
    """What decides the language when a turn is media only: the question before it."""
    return next(
        (
            part.text
            for exchange in reversed(history.exchanges)
            for part in exchange.question.parts
            if isinstance(part, Text)
        ),
        "",
    )
