"""What was said before in this conversation, and which of it a question is after."""

from __future__ import annotations

import re

from launch.rehearsal.brain.clauses import HAN
from launch.rehearsal.brain.scene import Scene

ASKS = re.compile(
    r"[?？]|吗|什么|谁|哪|几[个点号月]|多少|怎么|为什么|如何"
    r"|^\W*(请|帮|给我|告诉|教我|让我|替我|为我|写|画|翻译|介绍|解释|总结|讲|说|列|推荐|生成|分析|用)"
    r"|\b(what|who|where|when|why|how|which)\b|^\W*(can|could|do|does|did|is|are|please|tell)\b",
    re.I,
)
ABOUT_ME = re.compile(r"我|\b(my|i|me|i'm)\b", re.I)
TOLD_BY_ME = re.compile(r"我|^\W*(and |but |well,? )?(my|i|i['’]\w+|we|our)\b|\b(call|named) me\b", re.I)
# Words that two sentences may share without being about the same thing.
COMMON = frozenset(
    [
        "the",
        "a",
        "an",
        "is",
        "are",
        "was",
        "were",
        "be",
        "to",
        "of",
        "in",
        "on",
        "at",
        "and",
        "or",
        "do",
        "does",
        "did",
        "you",
        "your",
        "my",
        "me",
        "i",
        "it",
        "that",
        "this",
        "what",
        "who",
        "where",
        "when",
        "why",
        "how",
        "which",
        "please",
        "tell",
        "remember",
        "can",
        "could",
        "know",
        "said",
        "say",
        "name's",
        "s",
    ]
) | {"请你", "告诉", "诉我", "什么", "我的", "你记", "记得", "得我", "知道", "道我", "你还", "还记", "请记", "记住"}


def is_question(words: str) -> bool:
    return ASKS.search(words.strip()) is not None


def is_about_me(words: str) -> bool:
    """Whether it is something the user tells about themselves."""
    return TOLD_BY_ME.search(words) is not None and not is_question(words)


def said_before(scene: Scene) -> list[str]:
    """What the user typed or said in earlier turns, oldest first."""
    return [words for turn in scene.earlier if turn.role == "user" for words in turn.questions]


def answered_before(scene: Scene) -> str:
    """The last answer, or nothing."""
    return next((turn.typed for turn in reversed(scene.earlier) if turn.role == "assistant"), "")


def recalled(scene: Scene, question: str) -> str | None:
    """The user's earlier statement about themselves that shares most with a question about them; later ones win."""
    if not (ABOUT_ME.search(question) and is_question(question)):
        return None
    asked = _content(question)
    statements = [
        sentence.strip()
        for words in said_before(scene)
        for sentence in re.split(r"(?<=[。.！!？?\n])\s*", words)
        if is_about_me(sentence)
    ]
    shared = [(len(asked & _content(sentence)), index) for index, sentence in enumerate(statements)]
    most, index = max(shared, default=(0, 0))
    return statements[index] if most else None


def _content(text: str) -> set[str]:
    """Words, and pairs of neighbouring Chinese characters, without those that say nothing."""
    words = {word.rstrip("s") for word in re.findall(r"[a-z]+", text.lower().replace("'s", ""))}
    words |= {"colour" if word == "color" else word for word in words}
    pairs = {text[at : at + 2] for at in range(len(text) - 1) if re.fullmatch(f"[{HAN}]{{2}}", text[at : at + 2])}
    return (words | pairs) - COMMON
