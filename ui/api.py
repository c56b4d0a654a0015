"""The endpoints for programs: one a tab, by name, each a whole turn in one call."""

from __future__ import annotations

import asyncio
import inspect
import secrets
import time
from collections.abc import Callable, Mapping
from dataclasses import asdict, replace
from typing import Any

import gradio as gr

from launch.errors import OmniError, ServerError
from launch.faults import explain
from ui.tabs.actions import Actions, Reader
from ui.tabs.knobs import Knobs
from ui.tabs.shape import Shape
from ui.tabs.slots import spoken_answer
from ui.texts import Texts
from ui.turn.client import ServerClient
from ui.turn.turn import Turn

# How long a call waits for a server that is starting: the rehearsal engine needs seconds, a warm vLLM-Omni 3 to 5 minutes.
READY_S = 300.0
_ASK_AGAIN_S = 0.5
_PATIENCE_S = 30.0  # a bound only, so that a lost wake-up could not hang a call


class Endpoints:
    """Adds ``/text_speech``, ``/image``, … to the page: prompt first, then the medium, then everything else with a default, speech on.

    Each waits for the server, asks, and returns the text, the WAV (none when nothing was spoken) and the figures. What goes wrong is
    raised with the catalogue's sentence.
    """

    def __init__(self, client: ServerClient, reader_of: Callable[[gr.Request], Reader], t: Texts) -> None:
        self._client = client
        self._reader_of = reader_of
        self._t = t

    def add(self, actions: Actions, shape: Shape) -> None:
        """The endpoint of one tab. Its inputs are the tab's own components where they fit; its outputs are never drawn."""
        tab = actions.tab
        asked, memory = tab.endpoint(shape.asked)
        outputs = [
            gr.Textbox(visible=False, label="text"),
            spoken_answer(),
            gr.JSON(visible=False, label="figures"),
        ]

        async def call(request: gr.Request, *given: Any) -> Any:
            count = len(asked) + len(memory)
            values = tab.from_endpoint(given[:count])
            turn = await self._whole(actions, self._reader_of(request), values, Knobs(*given[count:]))
            kept = tab.after(turn, given[len(asked) : count])[1 : 1 + len(memory)] or [gr.skip()] * len(memory)
            return [turn.text, turn.wav() if turn.pcm else None, turn.figures.as_dict(), *kept]

        needed = {"request": _NEEDED} | {name: _NEEDED for name in tab.parameters if name not in tab.optional}
        optional = dict.fromkeys(tab.optional) | {f"memory{i}": None for i in range(len(memory))}
        _name(call, tab.id, needed | optional | asdict(Knobs()))
        gr.Button(visible=False).click(
            call,
            [*asked, *memory, *shape.knobs],
            [*outputs, *memory],
            api_name=tab.id,
            api_description=self._t(f"api.{tab.id}"),
            concurrency_limit=None,
            show_progress="hidden",
        )

    async def _whole(self, actions: Actions, caller: Reader, values: list[Any], turned: Knobs) -> Turn:
        """Wait for the server, ask, wait for the end. Raises ``gr.Error`` with the catalogue's sentence."""
        # Calls of one program may overlap, so each is a page, and a person, of its own.
        call = f"api-{secrets.token_hex(8)}"
        reader = replace(caller, page=call, owner=call)
        try:
            await self._ready()
            turn = await actions.ask(reader, values, turned)
            while turn.running:
                await turn.changed(turn.version, _PATIENCE_S)
            if turn.error is not None:
                raise turn.error
            return turn
        except OmniError as error:
            told = explain(error, caller.language)
            raise gr.Error(f"{told.cause} {told.cure}", print_exception=False) from error
        finally:
            await actions.leave(reader)

    async def _ready(self) -> None:
        """Raises ``ServerError`` (``server-not-ready-yet``)."""
        until = time.monotonic() + READY_S
        while (state := (await self._client.state()).state) not in ("ready", "busy"):
            if time.monotonic() > until:
                raise ServerError("server-not-ready-yet", seconds=int(READY_S), state=state)
            await asyncio.sleep(_ASK_AGAIN_S)


_NEEDED = inspect.Parameter.empty


def _name(function: Callable[..., Any], name: str, parameters: Mapping[str, Any]) -> None:
    """Tell Gradio, which reads signatures, how the endpoint and its parameters are called, and what they default to."""
    function.__name__ = name
    kind = inspect.Parameter.POSITIONAL_OR_KEYWORD
    signature = inspect.Signature(
        [inspect.Parameter(one, kind, default=default) for one, default in parameters.items()]
    )
    function.__signature__ = signature  # type: ignore[attr-defined]
