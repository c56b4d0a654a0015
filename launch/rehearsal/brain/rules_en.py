"""The few things a rehearsal can truly know, asked and answered in English."""

from __future__ import annotations

import re
from collections.abc import Callable
from datetime import datetime, timedelta

from launch.rehearsal.brain import memory
from launch.rehearsal.brain.arithmetic import calculation
from launch.rehearsal.brain.describe_en import compared, quoted, told
from launch.rehearsal.brain.focus import asked_of
from launch.rehearsal.brain.number_words import in_figures
from launch.rehearsal.brain.rules_zh import FURTHEST_COUNT
from launch.rehearsal.brain.scene import Scene
from launch.rehearsal.brain.see import Seen

WHO = "I am the rehearsal engine, a few small models that hear, see and speak; I am not MiniCPM-o"
CAN = (
    "I can hear English and Chinese, read the words and colours of a picture, follow a clip, do sums and tell the time"
)
DAYS = {"the day after tomorrow": 2, "the day before yesterday": -2, "tomorrow": 1, "yesterday": -1, "today": 0}
TIME = re.compile(
    r"\bwhat time is it\b|\btime is it\b|\bthe (current )?time( now| please| right now)?\W*$|\bcurrent time\b", re.I
)
DATE = re.compile(
    r"\b(what|which) (is )?(the )?(day|date|weekday)\b|\b(today|tomorrow|yesterday)(’s|'s)? date\b|\bthe date\b"
    r"|\bwhat(’s|'s) (today|the day|tomorrow)\b|\bday of the week\b|\bwhat month\b",
    re.I,
)
YEAR = re.compile(r"\b(what|which) year\b", re.I)
YOURSELF = re.compile(
    r"\bwho are you\b|\byour name\b|\bwhat are you\b|\bare you (a|an|the|mini|gpt|chat)|\byourself\b", re.I
)
ABILITY = re.compile(
    r"\bwhat (can|could) you (do|help)|\bwhat are you able\b|\byour (abilities|capabilities|skills)\b", re.I
)
YOU_SAID = re.compile(
    r"\bwhat (did|have) you (just )?(say|said|answer|answered|tell|told)\b|\byour (last|previous) (answer|reply)", re.I
)
I_SAID = re.compile(
    r"\bwhat (did|have|was) (i|my) (just )?(say|said|ask|asked|tell|told|first|last|previous)"
    r"|\bmy (last|previous|first) (question|message|sentence)\b|\bwhat i (just )?(said|asked|told)\b",
    re.I,
)
FIRST_SAID = re.compile(r"\bfirst\b", re.I)
REPEAT = re.compile(
    r"^\W*(?:please )?(?:repeat|say)(?: after me)?(?: this)?\s*[:,]?\s*[\"“'‘](.+?)[\"”'’]"
    r"|^\W*(?:please )?repeat(?: after me)?\s*[:,]\s*(.+)",
    re.I,
)
COUNT = re.compile(r"\bcount(?: from (\d+))? (?:up |down )?to (\d+)", re.I)
GREETING = re.compile(r"^\W*(hello|hi|hey|good (morning|afternoon|evening))\b[^?]{0,12}$", re.I)
THANKS = re.compile(r"^\W*(thanks|thank you)\b", re.I)
GOODBYE = re.compile(r"\b(good ?bye|see you|good night)\b", re.I)


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
    return next(filter(None, match.groups())).strip(".!") if match else None


def _counted(question: str) -> str | None:
    if not (match := COUNT.search(in_figures(question))):
        return None
    first, last = int(match[1] or 1), int(match[2])
    step = 1 if last >= first else -1
    numbers = list(range(first, last + step, step))
    if len(numbers) > FURTHEST_COUNT:
        return f"{len(numbers)} numbers are too many; I count {FURTHEST_COUNT} at most"
    return ", ".join(map(str, numbers))


def _calculated(scene: Scene, question: str) -> str | None:
    if not (found := calculation(question, memory.answered_before(scene))):
        return None
    return found.equation if found.result is not None else f"{found.written} has no result: nothing divides by zero"


def _looked(scene: Scene, question: str, brief: bool) -> str | None:
    things, asked = asked_of(scene, question)
    if asked is None:
        return None
    pictures = [thing for thing in things if isinstance(thing, Seen)]
    if asked.kind == "change":
        return compared(pictures[-2], pictures[-1]) if len(pictures) >= 2 else told(things[-1], asked, brief)
    if len(things) == 1:
        return told(things[0], asked, brief)
    return "; ".join(f"number {number}: {told(thing, asked, brief)}" for number, thing in enumerate(things, 1))


def _said(scene: Scene, question: str, brief: bool) -> str | None:
    before = memory.said_before(scene)
    if YOU_SAID.search(question) and (last := memory.answered_before(scene)):
        return f"I said {quoted(last, brief)}"
    if I_SAID.search(question):
        if not before:
            return "This is our first exchange, so nothing was said before"
        first = FIRST_SAID.search(question) is not None
        return f"{'First you' if first else 'You'} said {quoted(before[0] if first else before[-1], brief)}"
    return None


def _recalled(scene: Scene, question: str) -> str | None:
    words = memory.recalled(scene, question)
    return f"You told me {quoted(words)}" if words else None


def _clock(question: str, now: datetime) -> str | None:
    if TIME.search(question):
        return f"It is {now.hour % 12 or 12}:{now:%M %p}"
    if DATE.search(question):
        word = next((day for day in DAYS if day in question.lower()), "today")
        day = now + timedelta(days=DAYS[word])
        return f"{word.capitalize()} {'was' if DAYS[word] < 0 else 'is'} {day:%A}, {day:%B} {day.day}, {day.year}"
    return f"It is {now.year}" if YEAR.search(question) else None


def _manners(question: str) -> str | None:
    if GREETING.search(question):
        return "Hello! Say something, show me a picture, or ask me what time it is"
    if THANKS.search(question):
        return "You are welcome"
    return "Goodbye" if GOODBYE.search(question) else None
