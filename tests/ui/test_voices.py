"""Personas, and the language of an answer."""

from __future__ import annotations

import pytest

from ui.texts import LANGUAGES, texts
from ui.turn.parts import Language
from ui.voices import AnswerLanguage, answer_language, personas, voice


@pytest.mark.parametrize(
    ("wanted", "prompt", "page", "language"),
    [
        ("auto", "你好", "en", "zh"),
        ("auto", "介绍 vLLM", "en", "zh"),
        ("auto", "Introduce vLLM", "zh", "en"),
        ("auto", "1 + 1 = ?", "zh", "zh"),
        ("auto", "", "en", "en"),
        ("en", "你好", "zh", "en"),
        ("zh", "hello", "en", "zh"),
    ],
)
def test_the_answer_is_in_the_language_of_the_question(
    wanted: AnswerLanguage, prompt: str, page: Language, language: Language
) -> None:
    assert answer_language(wanted, prompt, page) == language


@pytest.mark.parametrize("language", LANGUAGES)
def test_every_persona_speaks_both_languages_and_has_a_name(language: Language) -> None:
    for name in personas():
        who = voice(name, language)
        assert who.language == language
        assert who.before
        assert texts()(f"ask.{name}", language)
        # The system message is: before, the reference sound, after. Without a sound there is nothing to put it after.
        assert bool(who.after) == (who.reference is not None)
        if who.reference is not None:
            assert who.reference.data[:4] == b"RIFF"
            assert 3 <= who.reference.seconds <= 10


def test_an_unknown_persona_is_no_voice() -> None:
    with pytest.raises(KeyError):
        voice("nobody", "en")
