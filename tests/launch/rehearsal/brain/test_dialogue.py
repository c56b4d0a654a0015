"""The rules of the dialogue: what they know follows from the input, and changes with it."""

from datetime import datetime

import pytest
from PIL import Image

from launch.rehearsal.brain import think_en, think_zh
from launch.rehearsal.brain.hear import Heard
from launch.rehearsal.brain.read_text import Reading
from launch.rehearsal.brain.scene import Scene, Sensed, Turn
from launch.rehearsal.brain.see import look
from launch.rehearsal.brain.watch import Watched

MONDAY = datetime(2026, 11, 30, 14, 5)
NEW_YEAR = datetime(2027, 1, 1, 9, 30)


def scene(*said: str, sensed: tuple[Sensed, ...] = (), persona: str = "") -> Scene:
    """A conversation in turns, the user's first; ``sensed`` belongs to the last."""
    turns = [Turn("assistant" if index % 2 else "user", words) for index, words in enumerate(said)]
    return Scene(persona, (*turns[:-1], Turn("user", said[-1], sensed)))


def answer(at: datetime, told: Scene) -> str:
    thinker = think_zh if told.language == "zh" else think_en
    known = thinker.known(told, at, True)
    open_words = think_zh.without_model(told, True) if known.is_open and told.language == "zh" else []
    return thinker.joined([thinker.opening(told), *known.sentences, *open_words])


def picture(colour: str) -> Sensed:
    return look(Image.new("RGB", (64, 48), colour))


def speech(words: str, language: str = "zh") -> Heard:
    return Heard(words, "zh" if language == "zh" else "en", 3.0, 2.0 if words else 0.0, 0.1)


def clip(*colours: str, words: tuple[str, ...] = (), heard: Heard | None = None) -> Watched:
    frames = tuple(look(Image.new("RGB", (64, 48), colour)) for colour in colours)
    return Watched(float(len(colours)), (64, 48), frames, Reading(words), heard)


@pytest.mark.parametrize(
    ("question", "at", "expected"),
    [
        ("今天几号？", MONDAY, "今天是2026年11月30日，星期一"),
        ("今天几号？", NEW_YEAR, "今天是2027年1月1日，星期五"),
        ("明天星期几", MONDAY, "明天是2026年12月1日，星期二"),
        ("现在几点了", NEW_YEAR, "现在是09:30"),
        ("去年是哪一年", MONDAY, "去年是2025年"),
        ("3加5等于几", MONDAY, "3 + 5 = 8"),
        ("3加6等于几", MONDAY, "3 + 6 = 9"),
        ("从一数到六", MONDAY, "1、2、3、4、5、6"),
        ("请重复：今天天气真好", MONDAY, "今天天气真好"),
        ("What's the date today?", MONDAY, "Today is Monday, November 30, 2026"),
        ("What was the date yesterday?", NEW_YEAR, "Yesterday was Thursday, December 31, 2026"),
        ("What time is it?", MONDAY, "It is 2:05 PM"),
        ("What is 12 times 8?", MONDAY, "12 × 8 = 96"),
        ("Count to four", MONDAY, "1, 2, 3, 4"),
        ('Say "good day"', MONDAY, "good day"),
    ],
)
def test_what_can_be_known_is_answered(question: str, at: datetime, expected: str) -> None:
    assert expected in answer(at, scene(question))


@pytest.mark.parametrize(
    "question", ["你是谁？", "你是 MiniCPM-o 吗？", "Who are you?", "Are you MiniCPM-o?", "你好", "hello"]
)
def test_it_says_that_it_rehearses_before_anything_else(question: str) -> None:
    told = answer(MONDAY, scene(question))
    assert told.startswith(("这里是排练。", "This is a rehearsal."))
    assert "MiniCPM-o" not in told.replace("不是 MiniCPM-o", "").replace("not MiniCPM-o", "")


def test_an_open_question_is_restated_in_chinese_and_left_open_in_english() -> None:
    assert "「写一首关于春天的诗」" in answer(MONDAY, scene("写一首关于春天的诗"))
    assert "「写一首关于冬天的诗」" in answer(MONDAY, scene("写一首关于冬天的诗"))
    for question in ("Why is the sky blue?", "Give me one tip for public speaking.", "Write a poem."):
        assert think_en.known(scene(question), MONDAY, True).is_open


@pytest.mark.parametrize("name", ["小明", "阿芳"])
def test_what_was_said_before_is_remembered(name: str) -> None:
    talk = (f"我叫{name}，今年18岁。", "好的。", "1加1等于几", "1 + 1 = 2。")
    assert name in answer(MONDAY, scene(*talk, "我叫什么名字？"))
    assert "「1加1等于几」" in answer(MONDAY, scene(*talk, "刚才我问了什么？"))
    assert name in answer(MONDAY, scene(*talk, "我第一句说了什么？"))
    assert "2 + 7 = 9" in answer(MONDAY, scene(*talk, "再加7"))
    assert "My favorite color is green" in answer(
        MONDAY, scene("My favorite color is green.", "Noted.", "What is my favourite colour?")
    )
    assert "第一句话" in answer(MONDAY, scene("刚才我说了什么"))


@pytest.mark.parametrize(("colour", "zh", "en"), [("blue", "蓝色", "blue"), ("green", "绿色", "green")])
def test_a_picture_is_told_as_it_is(colour: str, zh: str, en: str) -> None:
    seen = (picture(colour),)
    assert f"以{zh}为主" in answer(MONDAY, scene("图里有什么？", sensed=seen))
    assert f"mostly {en}" in answer(MONDAY, scene("What do you see?", sensed=seen))
    restated = answer(MONDAY, scene("图里的猫是什么品种", sensed=seen))
    assert "「图里的猫是什么品种」" in restated
    assert zh in restated
    later = Scene("", (Turn("user", "看图", seen), Turn("assistant", "好"), Turn("user", "刚才那张图是什么颜色？")))
    assert zh in answer(MONDAY, later)


def test_what_was_heard_is_quoted_and_answered() -> None:
    assert answer(MONDAY, scene("", sensed=(speech("请问三家五等于几"),))) == (
        "这里是排练。我听到你说「请问三家五等于几」。3 + 5 = 8。"
    )
    assert "17 + 25 = 42" in answer(MONDAY, scene("", sensed=(speech("How much is 17 plus 25?", "en"),)))
    only = answer(MONDAY, scene("录音里说了什么", sensed=(speech("北京有多大"),)))
    assert only == "这里是排练。我听到你说「北京有多大」。"
    assert "没有人说话" in answer(MONDAY, scene("", sensed=(speech(""),)))


def test_what_time_was_agreed_is_no_question_for_the_clock() -> None:
    told = answer(MONDAY, scene("这段留言约的是什么时间、在哪里见？", sensed=(speech("下午三点在门口见"),)))
    assert "下午三点在门口见" in told
    assert "14:05" not in told


def test_a_clip_is_told_second_by_second() -> None:
    watched = clip("red", "red", "blue", "blue", "green", words=("EXIT 7",), heard=speech("大家好"))
    told = answer(MONDAY, scene("视频里发生了什么？", sensed=(watched,)))
    assert "先以红色为主，第2秒起是蓝色，第4秒起是绿色" in told
    assert "「EXIT 7」" in told
    assert "「大家好」" in told
    assert watched.changes == (2, 4)
    assert "第3秒的画面以蓝色为主" in answer(MONDAY, scene("第三秒是什么颜色？", sensed=(watched,)))
    still = answer(MONDAY, scene("What happens in the clip?", sensed=(clip("red", "red"),)))
    assert "mostly red throughout with little change" in still


@pytest.mark.parametrize(
    ("told", "language"),
    [
        (scene("hello"), "en"),
        (scene("hello", persona="你是一个友好的助手。"), "zh"),
        (scene("你好", persona="You are a friendly assistant."), "zh"),
        (scene("", sensed=(speech("hi", "en"),)), "en"),
        (scene("", sensed=(speech("你好"),), persona="You are friendly."), "zh"),
        (scene("", sensed=(picture("red"),), persona="You are friendly."), "en"),
        (scene(""), "zh"),
    ],
)
def test_it_answers_in_the_language_of_the_words(told: Scene, language: str) -> None:
    assert told.language == language
