"""An English answer: what was heard and seen and can be known by rules; the rest is left to a language model."""

from __future__ import annotations

from collections.abc import Iterable
from datetime import datetime

from launch.rehearsal.brain import rules_en
from launch.rehearsal.brain.describe_en import quoted, told
from launch.rehearsal.brain.focus import Focus, focus
from launch.rehearsal.brain.known import Known
from launch.rehearsal.brain.memory import is_about_me
from launch.rehearsal.brain.scene import Scene

FIRST_WORDS, LATER_WORDS = "This is a rehearsal.", "Rehearsal."


def opening(scene: Scene) -> str:
    """What every answer starts with, so that nobody takes it for the real model's."""
    return FIRST_WORDS if scene.is_first else LATER_WORDS


def known(scene: Scene, now: datetime, brief: bool) -> Known:
    """What was heard, what a rule answers, else what was shown. ``brief``: it will be read aloud."""
    last = scene.last
    heard = [f"You said {', '.join(quoted(words, brief) for words in last.spoken)}"] if last.spoken else []
    asked = focus(last.typed)
    if last.spoken and asked is not None and asked.kind == "speech":
        return Known(tuple(heard), answered=True, is_open=False)
    answers = [found for words in last.questions if (found := rules_en.answer(scene, words, now, brief))]
    if answers:
        return Known((*heard, *dict.fromkeys(answers)), answered=True, is_open=False)
    if last.shown or (last.sensed and not last.spoken):
        report = [told(thing, Focus("all"), brief) for thing in last.shown or last.sensed]
        if len(report) > 1:
            report = [f"Number {number}: {sentence}" for number, sentence in enumerate(report, 1)]
        words = " ".join(last.questions)
        return Known((*heard, *report), answered=False, is_open=bool(words) and focus(words) is None)
    if not last.questions:
        nothing = "I received no question: type or say something, or send a picture"
        return Known((nothing,), answered=True, is_open=False)
    if is_about_me(last.typed):
        noted = f"I will remember that you said {quoted(last.typed, brief)}"
        return Known((noted,), answered=True, is_open=False)
    return Known(tuple(heard), answered=False, is_open=True)


def joined(sentences: Iterable[str]) -> str:
    """Sentences with their full stops, one after the other."""
    return " ".join(sentence if sentence.endswith((".", "!", "?")) else sentence + "." for sentence in sentences)
