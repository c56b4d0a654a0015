"""The few things a rehearsal can truly know, asked and answered in Chinese."""

from __future__ import annotations

import re
from collections.abc import Callable
from datetime import datetime, timedelta

from launch.rehearsal.brain import memory
from launch.rehearsal.brain.arithmetic import calculation
from launch.rehearsal.brain.describe_zh import compared, quoted, told
from launch.rehearsal.brain.focus import asked_of
from launch.rehearsal.brain.number_words import in_figures
from launch.rehearsal.brain.scene import Scene
from launch.rehearsal.brain.see import Seen

WHO = "我是排练引擎，用几个小模型来听、看、说，不是 MiniCPM-o"
CAN = "排练时我能听懂中英文、认图上的文字和颜色、看视频的变化，也能回答时间、日期、算术和之前说过的话"
WEEKDAYS = "一二三四五六日"
DAYS = {"大前天": -3, "前天": -2, "昨天": -1, "大后天": 3, "后天": 2, "明天": 1, "今天": 0}
FURTHEST_COUNT = 30  # numbers that are counted aloud: a quarter of a minute
TIME = re.compile(r"几点|(现在|当前|目前|此刻|北京).{0,3}时间|什么时间(?=了|呀|呢|[？?。！!]|$)|时间是多少")
DATE = re.compile(r"几月|几[号日]|多少号|(今天|明天|后天|昨天|前天|当前|现在).{0,3}(日期|哪天|哪一天)|什么日子|日期是")
WEEKDAY = re.compile(r"(星期|周|礼拜)几")
YEAR = re.compile(r"(今年|现在|去年|明年).{0,3}(哪|几几|什么)一?年|几几年")
YOURSELF = re.compile(r"你(是|叫)(谁|什么)|你的名字|你是(不是|哪)|介绍.{0,3}你自己|自我介绍|你是.{0,12}吗")
ABILITY = re.compile(r"你.{0,4}(能|会|可以).{0,6}(什么|啥|哪些)|有(什么|哪些)(功能|能力|本事)|怎么用")
FIRST_SAID = re.compile(r"第一(句|个问题|次).{0,6}(什么|啥|吗)?")
YOU_SAID = re.compile(r"你(刚才|刚刚|之前|前面|上一[句轮次])?.{0,3}(说|答|讲)(了|的|过)?.{0,3}(什么|啥)")
I_SAID = re.compile(r"(刚才|刚刚|之前|前面|上一[个句轮次]|上次).{0,8}(问|说|讲|聊|话)|我.{0,4}(说|问)(了|过)(什么|啥)")
REPEAT = re.compile(
    r"^.{0,4}(?:重复|跟我[读说念]|复述|念|说)(?:一[下遍句])?[：:，,\s]*[「“\"'‘](.+?)[」”\"'’]"
    r"|^.{0,4}(?:重复|跟我[读说念]|复述)(?:一[下遍句])?[：:，,\s]*(.+)"
)
COUNT = re.compile(r"(?:从\s*(\d+))?\s*数到\s*(\d+)")
GREETING = re.compile(r"^\W*(你好|您好|嗨|哈喽|早上好|晚上好|下午好|hello|hi)\W*$", re.I)
THANKS = re.compile(r"^\W*(谢谢|多谢|感谢)")
GOODBYE = re.compile(r"再见|拜拜|^\W*晚安")


def answer(scene: Scene, question: str, now: datetime, brief: bool) -> str | None:
    """The answer to a question that a rule knows, a sentence without its full stop; else None."""
    rules: tuple[Callable[[], str | None], ...] = (
        lambda: _repeated(question),
        lambda: _counted(question),
        lambda: _calculated(scene, question),
        lambda: _looked(scene, question, brief),
        lambda: _said(scene, question, brief),
        lambda: _clock(question, now),
        lambda: WHO if YOURSELF.search(question) else None,
        lambda: CAN if ABILITY.search(question) else None,
        lambda: _recalled(scene, question),
        lambda: _manners(question),
    )
    return next((told for rule in rules if (told := rule())), None)


def _repeated(question: str) -> str | None:
    match = REPEAT.search(question)
    return next(filter(None, match.groups())).strip("。.！!") if match else None


def _counted(question: str) -> str | None:
    if not (match := COUNT.search(in_figures(question))):
        return None
    first, last = int(match[1] or 1), int(match[2])
    step = 1 if last >= first else -1
    numbers = list(range(first, last + step, step))
    return (
        "、".join(map(str, numbers))
        if len(numbers) <= FURTHEST_COUNT
        else f"{len(numbers)}个数太多了，我只数{FURTHEST_COUNT}个以内的"
    )


def _calculated(scene: Scene, question: str) -> str | None:
    if not (found := calculation(question, memory.answered_before(scene))):
        return None
    return found.equation if found.result is not None else f"{found.written} 没有结果，除数不能是零"


def _looked(scene: Scene, question: str, brief: bool) -> str | None:
    things, asked = asked_of(scene, question)
    if asked is None:
        return None
    pictures = [thing for thing in things if isinstance(thing, Seen)]
    if asked.kind == "change":
        return compared(pictures[-2], pictures[-1]) if len(pictures) >= 2 else told(things[-1], asked, brief)
    if len(things) == 1:
        return told(things[0], asked, brief)
    return "；".join(f"第{number}个：{told(thing, asked, brief)}" for number, thing in enumerate(things, 1))


def _said(scene: Scene, question: str, brief: bool) -> str | None:
    before = memory.said_before(scene)
    if YOU_SAID.search(question) and (last := memory.answered_before(scene)):
        return f"我刚才说的是{quoted(last, brief)}"
    if I_SAID.search(question) or FIRST_SAID.search(question):
        if not before:
            return "这是我们的第一句话，之前还没有说过什么"
        which, words = ("第一句", before[0]) if FIRST_SAID.search(question) else ("刚才", before[-1])
        return f"你{which}说的是{quoted(words, brief)}"
    return None


def _recalled(scene: Scene, question: str) -> str | None:
    words = memory.recalled(scene, question)
    return f"你之前说过{quoted(words)}" if words else None


def _clock(question: str, now: datetime) -> str | None:
    if TIME.search(question):
        return f"现在是{now:%H:%M}"
    word = next((day for day in DAYS if day in question), "今天")
    if DATE.search(question) or WEEKDAY.search(question):
        day = now + timedelta(days=DAYS[word])
        return f"{word}是{day.year}年{day.month}月{day.day}日，星期{WEEKDAYS[day.weekday()]}"
    if YEAR.search(question):
        year = now.year + ("明年" in question) - ("去年" in question)
        return f"{'明年' if year > now.year else '去年' if year < now.year else '今年'}是{year}年"
    return None


def _manners(question: str) -> str | None:
    if GREETING.search(question):
        return "你好！请说句话、发张图，或者问我几点了"
    if THANKS.search(question):
        return "不客气"
    return "再见" if GOODBYE.search(question) else None
