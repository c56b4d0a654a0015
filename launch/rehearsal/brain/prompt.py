"""The messages for a language model: who it is, what is known of this turn, and the conversation in words."""

from __future__ import annotations

from collections.abc import Sequence

from launch.rehearsal.brain import describe_en, describe_zh
from launch.rehearsal.brain.focus import Focus
from launch.rehearsal.brain.hear import Language
from launch.rehearsal.brain.scene import Scene, Turn

BUDGET = 1400  # characters of conversation, the latest first: with role and answer they fit a context of 2048 tokens
LONGEST = 600  # characters of one turn; the rest of a pasted document is left out
ROLES = {
    "en": "You are a helpful assistant. Answer in {length}.",  # measured: a longer role confuses a model of 135M
    "zh": "你是一个有用的助手。请用中文{length}回答。",
}
LENGTHS = {"en": ("one short sentence", "a few sentences"), "zh": ("用一句短话", "用几句话")}  # spoken, written
KNOWN = {"en": "You know this: ", "zh": "你已经知道："}


def messages(
    scene: Scene, language: Language, known: Sequence[str], *, brief: bool, persona: bool
) -> list[dict[str, str]]:
    """``known``: sentences that are true of this turn. ``persona``: whether the model is able to play the system message."""
    role = ROLES[language].format(length=LENGTHS[language][0 if brief else 1])
    if persona and scene.persona:
        role += "\n" + scene.persona[:LONGEST]
    if known:
        role += "\n" + KNOWN[language] + " ".join(known)
    turns: list[dict[str, str]] = []
    left = BUDGET
    for turn in reversed(scene.turns):
        words = _words(turn, language)
        left -= len(words)
        if turns and left < 0:
            break
        if words:
            turns.insert(0, {"role": turn.role, "content": words})
    return [{"role": "system", "content": role}, *turns]


def _words(turn: Turn, language: Language) -> str:
    told = describe_zh.told if language == "zh" else describe_en.told
    shown = [f"({told(thing, Focus('all'), True)})" for thing in turn.shown]
    return "\n".join([*shown, *turn.questions])[:LONGEST]
