"""The answer stage: a ``gr.HTML`` whose value is a small dict, drawn and voiced by the modules in ``ui/browser``."""

from __future__ import annotations

import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any, Literal, TypedDict

import gradio as gr
from starlette.responses import Response
from starlette.staticfiles import StaticFiles

from launch.errors import OmniError
from launch.faults import explain
from ui.turn.events import TurnState
from ui.turn.parts import Language
from ui.turn.turn import Turn

BROWSER = Path(__file__).resolve().parent / "browser"
BROWSER_PATH = "/omni"
HEAD = '<script type="module" src="omni/omni.js"></script>'
"""For the page's ``<head>``; relative, so that it holds behind a gateway's prefix."""

# The template is constant: Gradio leaves the element alone, and everything in it belongs to stage.js.
_TEMPLATE = '<section class="omni-stage" id="{id}-answer" data-state="empty"></section>'
# gr.HTML gives ``element``, ``props`` and ``watch``. The head may have loaded the module already; a module runs once.
_ON_LOAD = """
import(new URL('omni/omni.js', document.baseURI).href)
  .then((module) => module.default.mount(element, {id}, props, watch));
"""


class Told(TypedDict):
    """A fault or a notice in the reader's language; ``code`` in the sentences stands between backticks."""

    cause: str
    cure: str


class StageView(TypedDict):
    """What the stage shows. ``waiting_for``: a key below ``stage.wait`` of the texts (server, media, answer, voice)."""

    turn: str | None
    state: TurnState | Literal["empty"]
    speech: bool
    text: str
    figures: dict[str, float | None]
    fault: Told | None
    notices: list[Told]
    rehearsal: bool
    waiting_for: str | None


def build_stage(texts: Mapping[str, str], id: str) -> gr.HTML:
    """An empty stage. ``texts``: the page's sentences, of which those under ``stage.`` are used; ``id``: what
    ``omni.begin(id)`` names, also the component's ``elem_id``.

    Events that output to it need ``show_progress="hidden"``: the stage itself says what it waits for.
    """
    return gr.HTML(
        value=EMPTY,
        html_template=_TEMPLATE.format(id=id),
        js_on_load=_ON_LOAD.format(id=json.dumps(id)),
        apply_default_css=False,
        elem_id=id,
        elem_classes=["omni-stage-box"],
        texts={key: text for key, text in texts.items() if key.startswith("stage.")},
    )


def stage_view(turn: Turn, language: Language) -> StageView:
    """What the stage shows of ``turn`` now."""
    speech = turn.request.settings.speech
    waiting_for = None
    if turn.running:
        waiting_for = "voice" if speech and turn.text and not turn.pcm else "answer"
    return {
        "turn": turn.id,
        "state": turn.state,
        "speech": speech,
        "text": turn.text,
        "figures": turn.figures.as_dict(),
        "fault": None if turn.error is None else _told(turn.error, language),
        "notices": [_told(notice, language) for notice in turn.notices],
        "rehearsal": turn.rehearsal,
        "waiting_for": waiting_for,
    }


def fault_view(error: OmniError, language: Language) -> StageView:
    """What the stage shows when something is wrong before any turn began: a file that cannot be used, nothing asked."""
    return {**EMPTY, "state": "failed", "fault": _told(error, language)}


def waiting_view(waiting_for: str) -> StageView:
    """What the stage shows while there is no turn yet: the server starts, media are prepared."""
    return {**EMPTY, "state": "waiting", "waiting_for": waiting_for}


EMPTY: StageView = {
    "turn": None,
    "state": "empty",
    "speech": False,
    "text": "",
    "figures": {},
    "fault": None,
    "notices": [],
    "rehearsal": False,
    "waiting_for": None,
}


class BrowserFiles(StaticFiles):
    """``ui/browser`` for ``BROWSER_PATH``. Asked for again at each load (an ETag makes that cheap): a module of the
    last version among those of this one would break the page. Their type is said here: some systems' tables hold
    text/plain, which a browser does not run, and Gradio writes into the process's table, too."""

    def __init__(self) -> None:
        super().__init__(directory=BROWSER)

    def file_response(self, *args: Any, **kwargs: Any) -> Response:
        response = super().file_response(*args, **kwargs)
        response.headers["cache-control"] = "no-cache"
        if str(args[0]).endswith(".js"):
            response.headers["content-type"] = "text/javascript; charset=utf-8"
        return response


def _told(error: OmniError, language: Language) -> Told:
    why = explain(error, language)
    return {"cause": why.cause, "cure": why.cure}
