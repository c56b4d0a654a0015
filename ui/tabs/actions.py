"""What a press does: the actions of one tab over the same turn, as plain functions and one generator.

Gradio only calls them (``shape.py``).
"""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Callable, Sequence
from dataclasses import dataclass, replace
from typing import Any

from launch.errors import InputError, OmniError
from ui.desk import Desk
from ui.samples import samples
from ui.stage import fault_view, stage_view
from ui.tabs.knobs import Knobs
from ui.tabs.tab import Tab
from ui.texts import LANGUAGES, Texts
from ui.turn.parts import Language
from ui.turn.request import Request
from ui.turn.turn import Turn

# A page is told at most so often: text-only answers change at every token, and 15 times a second is as smooth as reading.
_PACE_S = 0.066
_PATIENCE_S = 30.0  # a bound only, so that a lost wake-up could not hang a page
# Failures that less media cure.
_TOO_MUCH = ("too-many-media", "prompt-too-long", "body-too-large")
DROP = "drop-oldest-media"

View = dict[str, Any]


@dataclass(frozen=True)
class Reader:
    """Who presses. ``page``: this open page; ``owner``: the person, as the guard knows them; ``language``: what the page speaks."""

    page: str
    owner: str
    language: Language


class Actions:
    """The actions of ``tab``. Failures become a view of the stage; ``Withdrawn`` is for the caller, who shows nothing then."""

    def __init__(self, tab: Tab, desk: Desk, texts: Texts) -> None:
        self.tab = tab
        self._desk = desk
        self._t = texts

    async def ask(self, reader: Reader, values: Sequence[Any], knobs: Knobs) -> Turn:
        """Gather, prepare, start. Raises ``OmniError`` and ``Withdrawn``."""
        notices: list[OmniError] = []

        async def prepare() -> Request:
            settings = knobs.settings()
            asked = await self.tab.gather(values, reader.language)
            notices.extend(asked.notices)
            return Request(asked.messages, settings, knobs.voice(asked.prompt, reader.language))

        turn = await self._desk.ask(reader.page, reader.owner, self.tab.id, prepare())
        for notice in notices:
            turn.notice(notice)
        return turn

    async def run(self, reader: Reader, values: Sequence[Any], knobs: Knobs) -> View:
        """Run was pressed: the stage as it is then."""
        try:
            return self.view(await self.ask(reader, values, knobs), reader)
        except OmniError as error:
            return self.failure(error, reader)

    async def press(self, reader: Reader, sample_id: str, knobs: Knobs) -> tuple[list[Any], View]:
        """A sample was pressed: the values that now stand in the tab, and the stage. Raises ``KeyError`` for a card nobody drew."""
        sample = samples()[sample_id]
        values = self.tab.fill(sample)
        try:
            for question in sample.questions:
                question.check()
        except OmniError as error:
            await self._desk.clear(reader.page)
            return self.tab.blank(), self.failure(error, reader)
        return values, await self.run(reader, values, replace(knobs, language=sample.language))

    async def drop(self, reader: Reader, values: Sequence[Any], knobs: Knobs) -> tuple[list[Any], View]:
        """The server named a limit: ask again with less media. When nothing can go, the values and the failure stay."""
        turn = self._desk.turn(reader.page)
        if turn is None or turn.error is None:
            return list(values), self.failure(InputError("nothing-typed"), reader)
        lighter = self.tab.lighter(turn, values)
        if lighter is None:
            return list(values), self.failure(turn.error, reader, again=False)
        return lighter, await self.run(reader, lighter, knobs)

    async def follow(self, reader: Reader) -> AsyncIterator[tuple[View, Turn | None]]:
        """The stage after each change of what the page asked last; with the turn, once it has ended. Ends early when the page asks anew."""
        turn = self._desk.turn(reader.page)
        while turn is not None and self._desk.turn(reader.page) is turn:
            version, running = turn.version, turn.running
            yield self.view(turn, reader), None if running else turn
            if not running:
                return
            await asyncio.sleep(_PACE_S)
            await turn.changed(version, _PATIENCE_S)

    def snapshot(self, reader: Reader) -> View | None:
        """The stage now, for pages that cannot follow: a plain answer to a plain question."""
        turn = self._desk.turn(reader.page)
        return None if turn is None else self.view(turn, reader)

    async def stop(self, reader: Reader) -> None:
        await self._desk.stop(reader.page)

    async def clear(self, reader: Reader) -> list[Any]:
        """End and forget the question. The values of an empty tab."""
        await self._desk.clear(reader.page)
        return self.tab.blank()

    async def leave(self, reader: Reader) -> None:
        """The page has gone."""
        await self._desk.leave(reader.page)

    def view(self, turn: Turn, reader: Reader) -> View:
        """The stage's value for ``turn``."""
        return self._told(lambda language: stage_view(turn, language), turn.error, reader)

    def failure(self, error: OmniError, reader: Reader, *, again: bool = True) -> View:
        """The stage's value when no turn began. ``again``: less media may still be tried."""
        return self._told(lambda language: fault_view(error, language), error if again else None, reader)

    def _told(self, view_in: Callable[[Language], Any], error: OmniError | None, reader: Reader) -> View:
        """The view in the reader's language. Its sentences stand there in the other one too, for the switch (``page.js``).

        A failure that less media cure gets a button for it.
        """
        views: dict[Language, View] = {language: dict(view_in(language)) for language in LANGUAGES}
        for language, view in views.items():
            if self.tab.drops_media and error is not None and error.key in _TOO_MUCH:
                view["fault"] |= {"actions": [{"id": DROP, "label": self._t("multi_turn.drop", language)}]}
        told = {language: {"fault": view["fault"], "notices": view["notices"]} for language, view in views.items()}
        return {**views[reader.language], "told": told}
