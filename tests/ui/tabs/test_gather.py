"""What stands in a tab becomes messages, or a sentence about what is missing."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from launch.errors import InputError, MediaError, ServerRefused
from ui.samples import FOLDER, of_tab, samples
from ui.tabs.audio import AudioTab
from ui.tabs.image import ImageTab
from ui.tabs.knobs import Knobs
from ui.tabs.multi_turn import MultiTurn, Talk
from ui.tabs.tab import Tab
from ui.tabs.text_speech import TextSpeech
from ui.tabs.video import INTERLEAVED, ORIGINAL, VideoTab
from ui.texts import texts
from ui.turn.events import TextDelta
from ui.turn.parts import Audio, Image, Message, Settings, Text, Video
from ui.turn.request import Request
from ui.turn.turn import Turn

TABS = (TextSpeech, ImageTab, AudioTab, VideoTab, MultiTurn)
CAT, BEEPS, LIGHT = (str(FOLDER / name) for name in ("cat.jpg", "beeps.flac", "traffic-light.mp4"))


def kinds(message: Message) -> list[type]:
    return [type(part) for part in message.parts]


@pytest.mark.parametrize(
    ("tab", "values", "key"),
    [
        (TextSpeech, [""], "nothing-typed"),
        (TextSpeech, ["  \n"], "nothing-typed"),
        (TextSpeech, [None], "nothing-typed"),
        (ImageTab, ["what?", None], "no-image"),
        (AudioTab, ["what?", None], "no-audio"),
        (VideoTab, ["what?", None, INTERLEAVED], "no-video"),
        (MultiTurn, [{"text": " ", "files": []}, Talk(), ""], "nothing-typed"),
        (MultiTurn, [None, Talk(), ""], "nothing-typed"),
    ],
)
async def test_what_is_missing_is_said_before_anything_is_sent(tab: type[Tab], values: list[Any], key: str) -> None:
    with pytest.raises(InputError) as missing:
        await tab(texts()).gather(values, "en")
    assert missing.value.key == key


async def test_words_are_sent_without_the_space_around_them() -> None:
    asked = await TextSpeech(texts()).gather(["  hello \n"], "en")
    assert asked.messages == (Message("user", (Text("hello"),)),)


async def test_a_picture_comes_before_its_question() -> None:
    asked = await ImageTab(texts()).gather(["what?", CAT], "en")
    assert kinds(asked.messages[0]) == [Image, Text]
    assert asked.prompt == "what?"


@pytest.mark.parametrize(("page", "word"), [("zh", "图片"), ("en", "picture")])
async def test_a_picture_without_a_question_is_described_in_the_pages_language(page: Any, word: str) -> None:
    asked = await ImageTab(texts()).gather(["", CAT], page)
    assert word in asked.prompt
    assert asked.messages[0].parts[-1] == Text(asked.prompt)


async def test_a_recording_may_ask_by_itself() -> None:
    asked = await AudioTab(texts()).gather(["", BEEPS], "en")
    assert set(kinds(asked.messages[0])) == {Audio}
    assert asked.prompt == ""


async def test_a_video_goes_as_frames_with_their_sound_or_as_it_is() -> None:
    tab = VideoTab(texts())
    frames = (await tab.gather(["what?", LIGHT, INTERLEAVED], "en")).messages[0]
    assert kinds(frames)[:4] == [Image, Audio, Image, Audio]
    whole = (await tab.gather(["what?", LIGHT, ORIGINAL], "en")).messages[0]
    assert kinds(whole) == [Video, Text]


async def test_a_file_that_cannot_be_read_is_told_by_its_content(tmp_path: Path) -> None:
    fake = tmp_path / "fake.jpg"
    fake.write_bytes(b"")
    for tab, values in ((ImageTab, ["", str(fake)]), (MultiTurn, [{"text": "?", "files": [str(fake)]}, Talk(), ""])):
        with pytest.raises(MediaError):
            await tab(texts()).gather(values, "en")


async def test_a_conversation_sends_what_was_said_before() -> None:
    tab = MultiTurn(texts())
    talk = Talk(Talk().history.then(Message("user", (Text("first"),)), "answer"))
    asked = await tab.gather([{"text": "second", "files": [CAT, BEEPS]}, talk, ""], "en")
    assert [message.role for message in asked.messages] == ["user", "assistant", "user"]
    assert kinds(asked.messages[-1]) == [Image, Audio, Text]


async def test_media_alone_are_answered_in_the_language_of_the_talk() -> None:
    talk = Talk(Talk().history.then(Message("user", (Text("你好"),)), "你好！"))
    asked = await MultiTurn(texts()).gather([{"text": "", "files": [CAT]}, talk, ""], "en")
    assert asked.prompt == "你好"


def answered(text: str, question: Message) -> Turn:
    turn = Turn(Request((question,), Settings()), "me")
    if text:
        turn._take(TextDelta(0.1, text))
    return turn


def test_an_answer_joins_the_conversation_and_the_samples_next_question_is_ready() -> None:
    tab = MultiTurn(texts())
    sample = samples()["remember-me"]
    message, talk, _ = tab.fill(sample)
    assert message["text"] == sample.questions[0].prompt
    question = Message("user", (Text(message["text"]),))
    following, talk, shown = tab.after(answered("你好，小林！", question), [talk, ""])
    assert following["text"] == sample.questions[1].prompt
    assert talk.history.exchanges[0].answer == "你好，小林！"
    assert "小林" in shown


def test_a_question_without_an_answer_stays_for_another_try() -> None:
    assert MultiTurn(texts()).after(answered("", Message("user", (Text("hi"),))), [Talk(), ""]) == []


def test_what_people_and_models_wrote_is_shown_as_text() -> None:
    tab = MultiTurn(texts())
    nasty = "<img src=x onerror=alert(1)>"
    _, _, shown = tab.after(answered(nasty, Message("user", (Text(nasty),))), [Talk(), ""])
    assert "<img" not in shown
    assert shown.count("&lt;img src=x") == 2


def test_after_a_limit_the_oldest_media_go_first_and_then_those_of_the_question() -> None:
    tab = MultiTurn(texts())
    picture = Image(b"x", 1, 1)
    turn = answered("", Message("user", (picture, Text("hi"))))
    turn.error = ServerRefused("too-many-media", limit=1, sent=2, kind_en="images")
    talk = Talk(Talk().history.then(Message("user", (picture,)), "answer"))
    message = {"text": "hi", "files": [CAT]}
    first = tab.lighter(turn, [message, talk, ""])
    assert first is not None
    assert (first[0], first[1].history.count(Image)) == (message, 0)
    second = tab.lighter(turn, first)
    assert second is not None
    assert second[0] == {"text": "hi", "files": []}
    assert tab.lighter(turn, second) is None


@pytest.mark.parametrize("tab", TABS)
async def test_every_sample_asks_something(tab: type[Tab]) -> None:
    """Each has at least four, in both languages, and what a press puts into the tab can be asked."""
    cards = of_tab(tab.id)
    assert len(cards) >= 4
    assert {card.language for card in cards} == {"zh", "en"}
    it = tab(texts())
    asked = await it.gather(it.fill(cards[0]), cards[0].language)
    assert asked.messages[-1].role == "user"


@pytest.mark.parametrize("tab", TABS)
async def test_an_empty_tab_has_as_many_values_as_a_full_one(tab: type[Tab]) -> None:
    it = tab(texts())
    assert len(it.blank()) == len(it.fill(of_tab(tab.id)[0]))
    with pytest.raises(InputError):
        await it.gather(it.blank(), "en")


@pytest.mark.parametrize(
    ("knobs", "setting"),
    [
        (Knobs(max_tokens=0), "max_tokens"),
        (Knobs(max_tokens=1e9), "max_tokens"),
        (Knobs(temperature=-0.1), "temperature"),
        (Knobs(seed=-1), "seed"),
        (Knobs(max_tokens="many"), "max_tokens"),
        (Knobs(temperature="nan"), "temperature"),
    ],
)
def test_a_setting_out_of_range_is_told(knobs: Knobs, setting: str) -> None:
    with pytest.raises(InputError) as told:
        knobs.settings()
    assert told.value.facts["setting"] == setting


@pytest.mark.parametrize("empty", [None, "", "  "])
def test_settings_left_empty_are_the_servers_own(empty: str | None) -> None:
    settings = Knobs(max_tokens=empty, temperature=empty, seed=empty).settings()
    assert (settings.speech, settings.max_tokens, settings.temperature, settings.seed) == (True, None, None, None)


def test_settings_may_be_typed_or_given_as_numbers() -> None:
    assert Knobs(max_tokens="64", temperature=" 0.7", seed=3.0).settings() == Settings(True, 64, 0.7, 3)
