"""The stage's value, and that both languages say everything its scripts ask for."""

from __future__ import annotations

import re

import pytest

from launch.errors import InputError, ServerSilent
from ui.stage import BROWSER, EMPTY, BrowserFiles, build_stage, fault_view, stage_view, waiting_view
from ui.texts import LANGUAGES, texts
from ui.turn.events import Failed, Finished, Speech, TextDelta
from ui.turn.parts import Message, Settings, Text
from ui.turn.request import Request
from ui.turn.turn import Turn


def turn(*, speech: bool = True) -> Turn:
    return Turn(Request((Message("user", (Text("hi"),)),), Settings(speech=speech)), "owner")


def test_what_is_waited_for_follows_what_has_come() -> None:
    asked = turn()
    seen = [stage_view(asked, "en")["waiting_for"]]
    for event in (TextDelta(0.1, "hello"), Speech(0.2, bytes(4_800)), Finished(0.3, "stop")):
        asked._take(event)
        seen.append(stage_view(asked, "en")["waiting_for"])
    assert seen == ["answer", "voice", "answer", None]
    assert stage_view(asked, "en")["state"] == "done"
    assert stage_view(turn(speech=False), "en")["speech"] is False


def test_failures_are_told_in_the_readers_language_with_a_cause_and_a_cure() -> None:
    asked = turn()
    asked._take(TextDelta(0.1, "hel"))
    asked._take(Failed(0.3, ServerSilent("timeout-first-event", seconds="120")))
    views = {language: stage_view(asked, language) for language in LANGUAGES}
    assert {view["state"] for view in views.values()} == {"cut"}
    for language, view in views.items():
        fault = view["fault"]
        assert fault is not None
        assert bool(re.search("[\u4e00-\u9fff]", fault["cause"])) is (language == "zh")
        assert fault["cure"]


def test_before_a_turn_the_page_itself_can_speak() -> None:
    refused = fault_view(InputError("nothing-typed"), "en")
    assert (refused["turn"], refused["state"]) == (None, "failed")
    assert waiting_view("server") == {**EMPTY, "state": "waiting", "waiting_for": "server"}


def test_the_component_carries_the_stages_texts_and_a_constant_template() -> None:
    stage = build_stage(texts().table("en"), "stage-x")
    config = stage.get_config()
    assert config["value"] == EMPTY
    assert "${" not in config["html_template"]
    assert "{{" not in config["html_template"]
    assert config["props"]["texts"]["stage.retry"] == "Try again"
    assert all(key.startswith("stage.") for key in config["props"]["texts"])
    assert '"stage-x"' in config["js_on_load"]


KEYS = {
    key
    for path in BROWSER.glob("*.js")
    for key in re.findall(r'"(stage\.[a-z_.]+[a-z_])"', path.read_text(encoding="utf-8"))
    if not key.startswith("stage.css")
}
BUILT = {
    "state": "empty waiting writing speaking hole paused spoken written stopped cut failed",
    "wait": "server media answer voice",
    "fig": "ttft ttft.help ttfp ttfp.help first_sound first_sound.help rtf rtf.help stall stall.help",
    "as": "curl powershell python events",
    "sound": "play pause replay",
    "lost": "session.cause session.cure gone.cause gone.cure broken.cause broken.cure",
    "insecure": "cause cure",
}
"""Keys that the scripts put together."""


@pytest.mark.parametrize("language", LANGUAGES)
def test_every_sentence_stands_there_once_and_none_is_idle(language: str) -> None:
    table = {key for key in texts().table(language) if key.startswith("stage.")}  # type: ignore[arg-type]
    wanted = KEYS - {"stage.insecure"} | {
        f"stage.{room}.{name}" for room, names in BUILT.items() for name in names.split()
    }
    assert wanted - table == set(), "asked for, but not written"
    assert table - wanted == set(), "written, but nobody asks for it"


@pytest.mark.parametrize("key", sorted(key for key in texts().table("en") if key.startswith("stage.")))
def test_both_languages_have_the_same_places(key: str) -> None:
    places = [set(re.findall(r"\{(\w+)\}", texts().table(language)[key])) for language in LANGUAGES]
    assert places[0] == places[1]


async def test_modules_are_asked_for_again_at_each_load_and_have_their_type() -> None:
    files = BrowserFiles()
    answer = await files.get_response("omni.js", {"type": "http", "method": "GET", "headers": []})
    assert answer.headers["cache-control"] == "no-cache"
    assert answer.headers["content-type"].startswith("text/javascript")
    assert "etag" in answer.headers
