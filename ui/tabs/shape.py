"""The one shape of the tabs: the ask column, the stage, and which press calls which action."""

from __future__ import annotations

from collections.abc import AsyncIterator, Callable
from typing import Any

import gradio as gr
from gradio.components import Component

from ui.desk import Withdrawn
from ui.stage import build_stage
from ui.tabs import knobs
from ui.tabs.actions import Actions, Reader
from ui.tabs.cards import build_cards
from ui.tabs.knobs import Knobs
from ui.texts import Texts

ReaderOf = Callable[[gr.Request], Reader]

# None of these is an endpoint, none dims the page, none waits for another page's. A plain function travels by POST and works where the
# queue's stream does not; only ``follow`` rides on it.
_PLAIN: dict[str, Any] = {
    "queue": False,
    "show_progress": "hidden",
    "trigger_mode": "once",
    "api_visibility": "private",
}
_FOLLOW: dict[str, Any] = {
    "show_progress": "hidden",
    "trigger_mode": "multiple",  # a new question is followed while the page still lets go of the last one
    "concurrency_limit": None,
    "api_visibility": "private",
}


class Shape:
    """One tab's components, and its wiring. Build it inside the tab."""

    def __init__(self, actions: Actions, reader_of: ReaderOf, t: Texts) -> None:
        self._actions = actions
        self._reader_of = reader_of
        tab = actions.tab
        self.stage_id = f"stage-{tab.id.replace('_', '-')}"
        with gr.Row(elem_classes="omni-main"):
            with gr.Column(elem_classes="omni-ask", scale=5, min_width=0):
                self.cards = build_cards(tab.id, self.stage_id, t)
                slots = tab.slots()
                question = tab.question()
                self.asked = [question, *slots, *tab.options()]
                self.knobs = knobs.build(t)
                with gr.Row(elem_classes="omni-go"):
                    self.run = gr.Button(t("ask.run"), variant="primary", elem_classes="omni-run", scale=3, min_width=0)
                    self.stop = gr.Button(t("ask.stop"), elem_classes="omni-stop", min_width=0)
                    self.clear = gr.Button(t("ask.clear"), elem_classes="omni-clear", min_width=0)
                self.memory = tab.memory()
                # Pressed by page.js, for the button of a fault that less media cure.
                self.drop = gr.Button("", visible="hidden", elem_classes="omni-drop")
            with gr.Column(elem_classes="omni-answer", scale=8, min_width=0):
                self.stage = build_stage(t.table("en"), self.stage_id)
        self._wire()

    @property
    def values(self) -> list[Component]:
        """What the tab gathers a question from."""
        return [*self.asked, *self.memory]

    def _wire(self) -> None:
        begin = f"(...values) => {{ window.omni.begin({self.stage_id!r}); return values; }}"
        inputs = [*self.values, *self.knobs]
        everything = [self.stage, *self.values]
        run = self.run.click(self._run, inputs, self.stage, js=begin, **_PLAIN)
        press = self.cards.click(self._press, self.knobs, everything, **_PLAIN)
        drop = self.drop.click(self._drop, inputs, everything, js=begin, **_PLAIN)
        # Only a tab with a memory gives back more than its stage: what is no output is not touched, and costs nothing.
        remembering = [self.asked[0], *self.memory] if self.memory else []
        for begun in (run, press, drop):
            begun.then(self._follow, self.memory, [self.stage, *remembering], **_FOLLOW)
        self.stop.click(
            self._stop, None, None, js=f"() => {{ window.omni.stop({self.stage_id!r}); return []; }}", **_PLAIN
        )
        self.clear.click(
            self._clear, None, self.values, js=f"() => {{ window.omni.clear({self.stage_id!r}); return []; }}", **_PLAIN
        )

    def _split(self, given: tuple[Any, ...]) -> tuple[list[Any], Knobs]:
        count = len(self.values)
        return list(given[:count]), Knobs(*given[count:])

    async def _run(self, request: gr.Request, *given: Any) -> Any:
        values, turned = self._split(given)
        try:
            return await self._actions.run(self._reader_of(request), values, turned)
        except Withdrawn:
            return gr.skip()

    async def _press(self, request: gr.Request, event: gr.EventData, *given: Any) -> Any:
        try:
            values, view = await self._actions.press(self._reader_of(request), str(event.sample), Knobs(*given))
        except Withdrawn:
            return [gr.skip()] * (1 + len(self.values))
        return [view, *values]

    async def _drop(self, request: gr.Request, *given: Any) -> Any:
        values, turned = self._split(given)
        try:
            values, view = await self._actions.drop(self._reader_of(request), values, turned)
        except Withdrawn:
            return [gr.skip()] * (1 + len(self.values))
        return [view, *values]

    async def _follow(self, request: gr.Request, *memory: Any) -> AsyncIterator[Any]:
        unchanged = [gr.skip()] * (1 + len(memory)) if memory else []
        # Gradio empties the outputs of a generator that yields nothing, as after a question that was refused before it was sent.
        yield _given(gr.skip(), unchanged)
        async for view, ended in self._actions.follow(self._reader_of(request)):
            yield _given(view, self._actions.tab.after(ended, memory) or unchanged if ended else unchanged)

    async def _stop(self, request: gr.Request) -> None:
        await self._actions.stop(self._reader_of(request))

    async def _clear(self, request: gr.Request) -> Any:
        first, *rest = await self._actions.clear(self._reader_of(request))
        return _given(first, rest)


def _given(first: Any, rest: list[Any]) -> Any:
    """As Gradio wants what it is given: a list for several outputs, the value itself for one."""
    return [first, *rest] if rest else first
