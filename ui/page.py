"""The page: head, rehearsal banner, one tab a modality."""

from __future__ import annotations

import html

import gradio as gr

from ui.api import Endpoints
from ui.desk import Desk
from ui.guard import Guard
from ui.options import Options
from ui.reader import language_of
from ui.tabs.actions import Actions, Reader
from ui.tabs.audio import AudioTab
from ui.tabs.duplex import build_duplex
from ui.tabs.image import ImageTab
from ui.tabs.multi_turn import MultiTurn
from ui.tabs.server import build_server
from ui.tabs.shape import Shape
from ui.tabs.text_speech import TextSpeech
from ui.tabs.video import VideoTab
from ui.texts import Texts
from ui.turn.client import ServerClient

TABS = (TextSpeech, ImageTab, AudioTab, VideoTab, MultiTurn)
# Uploads and other temporary files: looked at every ten minutes, deleted after an hour: nobody talks about one picture so long.
_DELETE_CACHE = (600, 3600)


def build_page(t: Texts, desk: Desk, client: ServerClient, guard: Guard, options: Options) -> gr.Blocks:
    """The Gradio app. No load event rides the queue, and no state is callable: a page must open where the queue's stream is broken."""

    def reader_of(request: gr.Request) -> Reader:
        page = str(request.session_hash)
        cookies = dict(request.cookies)
        language = language_of(cookies, request.headers.get("accept-language", ""), options.lang)
        # A program that calls an endpoint has no session of ours; its page stands for it.
        return Reader(page, guard.owner_of(cookies) or f"api-{page}", language)

    async def leave(request: gr.Request) -> None:
        await desk.leave(str(request.session_hash))

    with gr.Blocks(title=t("page.title"), analytics_enabled=False, delete_cache=_DELETE_CACHE, fill_width=True) as page:
        gr.HTML(_header(t), elem_id="omni-head", apply_default_css=False)
        gr.HTML(_banners(t), elem_id="omni-banners", apply_default_css=False)
        endpoints = Endpoints(client, reader_of, t)
        with gr.Tabs(elem_id="omni-tabs"):
            for kind in TABS:
                actions = Actions(kind(t), desk, t)
                with gr.Tab(t(f"page.tab.{kind.id}"), id=kind.id):
                    shape = Shape(actions, reader_of, t)
                    endpoints.add(actions, shape)
            with gr.Tab(t("page.tab.duplex"), id="duplex"):
                build_duplex()
            with gr.Tab(t("page.tab.server"), id="server"):
                build_server()
        page.unload(leave)
    return page


def _header(t: Texts) -> str:
    words = {
        key: html.escape(t(key), quote=True) for key in ("page.title", "page.language", "pill.asking", "pill.help")
    }
    return (
        f'<header class="omni-header"><h1>{words["page.title"]}</h1>'
        f'<span class="omni-pill" id="omni-pill" data-state="asking" role="status" title="{words["pill.help"]}">'
        f'<span class="omni-dot"></span><b>{words["pill.asking"]}</b><span data-verbatim></span></span>'
        f'<span class="omni-lang" role="group" aria-label="{words["page.language"]}">'
        '<button type="button" data-language="zh" lang="zh">中</button> / '
        '<button type="button" data-language="en" lang="en">EN</button></span></header>'
    )


def _banners(t: Texts) -> str:
    name, what = html.escape(t("rehearsal.name")), html.escape(t("rehearsal.what"))
    return (
        f'<p class="omni-note" id="omni-rehearsal" hidden><b>{name}</b> <span>{what}</span> '
        "<code data-verbatim>python app.py --server http://127.0.0.1:8091</code></p>"
        '<p class="omni-note omni-fault" id="omni-server-card" role="alert" data-verbatim hidden></p>'
    )
