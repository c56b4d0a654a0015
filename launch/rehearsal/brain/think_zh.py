"""A Chinese answer by the rules of a dialogue: say that it is a rehearsal, what was heard and seen, and what can be known."""

from __future__ import annotations

from collections.abc import Iterable
from datetime import datetime

from launch.rehearsal.brain import rules_zh
from launch.rehearsal.brain.describe_zh import quoted, told
from launch.rehearsal.brain.focus import Focus, focus
from launch.rehearsal.brain.homophones import as_meant
from launch.rehearsal.brain.known import Known
from launch.rehearsal.brain.memory import is_about_me
from launch.rehearsal.brain.scene import Scene

FIRST_WORDS, LATER_WORDS = "这里是排练。", "排练中。"
NEEDS_A_MODEL = "这要等真正的模型来答"
OFFER = "我现在会说时间、算术，和看到、听到的"


def opening(scene: Scene) -> str:
    """What every answer starts with, so that nobody takes it for the real model's."""
    return FIRST_WORDS if scene.is_first else LATER_WORDS


def known(scene: Scene, now: datetime, brief: bool) -> Known:
    """What was heard, what a rule answers, else what was shown. ``brief``: it will be read aloud."""
    last = scene.last
    heard = ["我听到你说" + "".join(quoted(words, brief) for words in last.spoken)] if last.spoken else []
    asked = focus(last.typed)
    if last.spoken and asked is not None and asked.kind == "speech":
        return Known(tuple(heard), answered=True, is_open=False)
    questions = [last.typed.strip(), *map(as_meant, last.spoken)]
    answers = [found for words in questions if words and (found := rules_zh.answer(scene, words, now, brief))]
    if answers:
        return Known((*heard, *dict.fromkeys(answers)), answered=True, is_open=False)
    if last.shown or (last.sensed and not last.spoken):
        report = [told(thing, Focus("all"), brief) for thing in last.shown or last.sensed]
        if len(report) > 1:
            report = [f"第{number}个，{sentence}" for number, sentence in enumerate(report, 1)]
        words = "".join(last.questions)
        return Known((*heard, *report), answered=False, is_open=bool(words) and focus(words) is None)
    if not last.questions:
        return Known(("我没有收到问题，请打一句话、说一句话，或者发一张图",), answered=True, is_open=False)
    if is_about_me(last.typed):
        return Known((f"我记下了：{quoted(last.typed, brief)}",), answered=True, is_open=False)
    return Known(tuple(heard), answered=False, is_open=True)


def without_model(scene: Scene, brief: bool) -> list[str]:
    """What is said of an open question when no model is there that speaks Chinese: the question again, and why not."""
    typed = scene.last.typed.strip()
    restated = f"你问的是{quoted(typed, brief)}，{NEEDS_A_MODEL}" if typed else NEEDS_A_MODEL
    return [restated, OFFER] if scene.is_first and not scene.last.sensed else [restated]


def joined(sentences: Iterable[str]) -> str:
    """Sentences with their full stops, one after the other."""
    return "".join(sentence if sentence.endswith(("。", "！", "？")) else sentence + "。" for sentence in sentences)
