"""The page as Gradio serves it: what its front end will do by itself, and what it may reach."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

import gradio as gr
import httpx
import pytest

from ui.building import build_app
from ui.options import Options
from ui.page import TABS

OPTIONS = Options(
    server="http://127.0.0.1:9",  # nobody listens there: the page must be up without its server
    host="127.0.0.1",
    port=0,
    lang="auto",
    api_key=None,
    connect_s=1,
    first_event_s=1,
    between_events_s=1,
    runs=Path("runs"),
)


@pytest.fixture(scope="module")
def app() -> Any:
    return build_app(OPTIONS, None)


@pytest.fixture
async def browser(app: Any) -> Any:
    transport = httpx.ASGITransport(app)
    async with httpx.AsyncClient(transport=transport, base_url="http://127.0.0.1:7862") as it:
        yield it


@pytest.fixture
async def config(browser: httpx.AsyncClient) -> dict[str, Any]:
    return (await browser.get("/config")).json()


async def test_no_load_event_rides_the_queue(config: dict[str, Any]) -> None:
    """A queued load event on a page whose stream is broken reloads the page for ever."""
    loads = [one for one in config["dependencies"] if [event for _, event in one["targets"]] == ["load"]]
    assert [one for one in loads if one["queue"] is not False] == []


async def test_only_following_and_the_endpoints_ride_the_queue(config: dict[str, Any]) -> None:
    queued = [one for one in config["dependencies"] if one["queue"] is not False]
    for one in queued:
        follows = one["trigger_after"] is not None
        leaves = [event for _, event in one["targets"]] == ["unload"]
        assert follows or leaves or one["api_name"] in {kind.id for kind in TABS}, one


async def test_nothing_but_the_five_endpoints_is_public(config: dict[str, Any]) -> None:
    public = [one["api_name"] for one in config["dependencies"] if one["api_visibility"] != "private"]
    assert sorted(public) == sorted(kind.id for kind in TABS)


async def test_no_output_dims_and_none_waits_for_another_page(config: dict[str, Any]) -> None:
    for one in config["dependencies"]:
        if [event for _, event in one["targets"]] != ["unload"]:
            assert one["show_progress"] == "hidden", one


async def test_the_page_names_no_other_host(browser: httpx.AsyncClient) -> None:
    for path in ("/", "/config", "/theme.css", "/omni/page.css"):
        text = (await browser.get(path)).text
        named = set(re.findall(r"https?://([\w.:-]+)", text)) - {"127.0.0.1:7862", "127.0.0.1:8091"}
        assert named <= {"www.w3.org"}, path  # name spaces of SVG


async def test_our_head_comes_before_the_bundle(browser: httpx.AsyncClient) -> None:
    page = (await browser.get("/")).text
    assert page.index('id="omni-texts"') < page.index("gradio_config") < page.index('src="./assets/index-')
    assert page.index("omni/page.css") < page.index("gradio_config")


async def test_the_page_is_packed_for_whoever_can_unpack_it(browser: httpx.AsyncClient) -> None:
    packed = await browser.get("/", headers={"accept-encoding": "gzip"})
    plain = await browser.get("/", headers={"accept-encoding": "identity"})
    assert packed.headers["content-encoding"] == "gzip"
    assert "content-encoding" not in plain.headers
    assert int(packed.headers["content-length"]) < len(plain.content) / 2
    assert "omni-texts" in packed.text
    assert "omni-texts" in plain.text


async def test_every_page_brings_a_session_and_the_pill_wants_it(browser: httpx.AsyncClient) -> None:
    assert (await browser.get("/server")).status_code == 403
    await browser.get("/")
    pill = (await browser.get("/server")).json()
    assert pill["state"] == "gone"
    assert pill["fault"]["zh"]["cure"]
    assert pill["fault"]["en"]["cure"]


async def test_states_are_constants(app: Any) -> None:
    """A callable state would add a queued load event."""
    blocks = _blocks(app)
    states = [block for block in blocks.blocks.values() if isinstance(block, gr.State)]
    assert states
    assert not [state for state in states if callable(state.value)]
    assert not [block for block in blocks.blocks.values() if getattr(block, "load_event_to_attach", None)]


def _blocks(app: Any) -> gr.Blocks:
    inner = app
    while not hasattr(inner, "routes"):
        inner = getattr(inner, "app", None) or inner._app
    return next(route.app.blocks for route in inner.routes if hasattr(getattr(route, "app", None), "blocks"))
