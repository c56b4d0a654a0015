"""A conversation that grows, and what goes first."""

from __future__ import annotations

from launch.errors import ServerRefused
from ui.tabs import history as module
from ui.tabs.history import History
from ui.turn.parts import Audio, Image, Message, Text

PICTURE = Image(b"x" * 100, 10, 10)
SOUND = Audio(b"y" * 100, 1.0)


def asked(*parts: object) -> Message:
    return Message("user", tuple(Text(part) if isinstance(part, str) else part for part in parts))  # type: ignore[misc]


def talk(*questions: Message) -> History:
    history = History()
    for number, question in enumerate(questions):
        history = history.then(question, f"answer {number}")
    return history


def too_many(limit: int, sent: int, kind: str) -> ServerRefused:
    return ServerRefused("too-many-media", limit=limit, sent=sent, kind_en=kind)


def test_what_is_sent_is_every_question_and_answer_in_order() -> None:
    history = talk(asked(PICTURE, "what?"), asked("why?"))
    assert list(history.messages()) == [
        asked(PICTURE, "what?"),
        Message("assistant", (Text("answer 0"),)),
        asked("why?"),
        Message("assistant", (Text("answer 1"),)),
    ]


def test_the_oldest_media_go_and_their_words_stay() -> None:
    history = talk(asked("hi"), asked(PICTURE, "one"), asked(PICTURE, "two")).without_oldest_media()
    assert [exchange.question for exchange in history.exchanges] == [asked("hi"), asked("one"), asked(PICTURE, "two")]
    assert history.exchanges[1].dropped == 1


def test_a_question_of_media_alone_keeps_a_mark() -> None:
    history = talk(asked(SOUND)).without_oldest_media()
    assert history.exchanges[0].question == asked("…")


def test_nothing_to_drop_is_told_by_the_same_object() -> None:
    history = talk(asked("hi"))
    assert history.without_oldest_media() is history


def test_a_limit_of_pictures_drops_as_many_as_are_too_many() -> None:
    history = talk(*(asked(PICTURE, str(number)) for number in range(5)))
    fitting = history.fitting(too_many(limit=4, sent=6, kind="images"))  # five of ours and one of the new question
    assert [len(exchange.media) for exchange in fitting.exchanges] == [0, 0, 1, 1, 1]


def test_a_limit_of_one_kind_counts_that_kind() -> None:
    history = talk(asked(PICTURE), asked(SOUND), asked(SOUND))
    fitting = history.fitting(too_many(limit=1, sent=2, kind="sounds"))
    assert fitting.count(Audio) == 1


def test_a_limit_nothing_of_ours_counts_against_changes_nothing() -> None:
    history = talk(asked("hi"))
    assert history.fitting(too_many(limit=64, sent=96, kind="images")) is history


def test_a_prompt_that_is_too_long_drops_media_first_then_exchanges() -> None:
    error = ServerRefused("prompt-too-long", limit=100, sent=200)
    history = talk(asked(PICTURE, "one"), asked("two"))
    lighter = history.fitting(error)
    assert (lighter.count(Image), len(lighter.exchanges)) == (0, 2)
    assert [exchange.answer for exchange in lighter.fitting(error).exchanges] == ["answer 1"]


def test_it_is_bounded_in_exchanges_and_in_bytes() -> None:
    history = talk(*(asked(str(number)) for number in range(module.MOST_EXCHANGES + 3)))
    assert len(history.exchanges) == module.MOST_EXCHANGES
    assert history.exchanges[0].question == asked("3")
    big = Image(bytes(module.MOST_BYTES // 2 + 1), 1, 1)
    heavy = talk(asked(big, "one"), asked(big, "two"))
    assert [exchange.dropped for exchange in heavy.exchanges] == [1, 0]
