"""The server tab: a ``gr.HTML`` that belongs to ``ui/browser/server``; everything in it comes from ``ui/control/routes.py``."""

from __future__ import annotations

import gradio as gr

_TEMPLATE = '<section class="omni-server" id="{id}" data-verbatim></section>'
_ON_LOAD = "import(new URL('omni/server/server.js', document.baseURI).href).then((module) => module.mount(element));"


def build_server(id: str = "server-room") -> gr.HTML:
    """The room of the tab, empty until its module is there."""
    return gr.HTML(
        value=None,
        html_template=_TEMPLATE.format(id=id),
        js_on_load=_ON_LOAD,
        apply_default_css=False,
        elem_classes=["omni-server-box"],
    )
