"""The duplex tab: a ``gr.HTML`` whose form, buttons and conversation all belong to ``ui/browser/live``.

No Gradio event carries anything of it: a conversation travels over the app's own routes (``ui/live/reception.py``).
"""

from __future__ import annotations

from collections.abc import Mapping

import gradio as gr

from launch.faults import catalogue

FAULTS = (
    "mic-insecure-origin",
    "live-no-microphone",
    "live-microphone-refused",
    "live-microphone-taken",
    "live-microphone-lost",
    "live-no-camera",
    "live-camera-refused",
    "live-camera-taken",
    "live-tab-hidden",
    "live-no-socket",
    "live-link-broken",
    "live-page-away",
    "live-session-unknown",
    "live-page-gone",
    "live-taken-over",
    "live-app-gone",
    "live-queued",
    "live-waiting",
    "live-resuming",
    "live-resumed",
    "live-fresh",
)
"""What the page itself notices, and says by key. Everything else comes from the app in words."""

_TEMPLATE = '<section class="omni-live" id="{id}" data-verbatim data-state="idle"></section>'
_ON_LOAD = (
    "import(new URL('omni/live/duplex.js', document.baseURI).href).then((module) => module.mount(element, props));"
)


def build_duplex(id: str = "duplex-live") -> gr.HTML:
    """The stage of the tab, empty until its module is there."""
    return gr.HTML(
        value=None,
        html_template=_TEMPLATE.format(id=id),
        js_on_load=_ON_LOAD,
        apply_default_css=False,
        elem_classes=["omni-live-box"],
        faults=faults(),
    )


def faults() -> dict[str, Mapping[str, Mapping[str, str]]]:
    """Cause and cure of ``FAULTS`` in both languages; ``{places}`` are left for the page to fill."""
    return {key: {"cause": catalogue()[key].cause, "cure": catalogue()[key].cure} for key in FAULTS}
