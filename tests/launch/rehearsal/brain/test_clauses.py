import pytest

from launch.rehearsal.brain.clauses import BREATH, FIRST_BREATH, clauses, clean, runs, size


def test_the_first_breath_is_short_and_none_is_long() -> None:
    text = "这里是排练。你问的是今天几号，今天是2026年11月30日。" + "没有标点的长句子" * 12
    said = list(clauses(text))
    assert size(said[0].text) <= FIRST_BREATH
    assert max(size(clause.text) for clause in said) <= BREATH + 1
    assert "".join(clause.text for clause in said) == text


def test_a_pause_follows_its_mark() -> None:
    first, second = clauses("This is a rehearsal of a demo, of a kind that nobody would take for the real thing.")
    assert 0 < first.pause < second.pause


@pytest.mark.parametrize("text", ["It is 3.5 at 12:30.", "see a/b.c", "1,234 items"])
def test_marks_inside_numbers_and_names_cut_nothing(text: str) -> None:
    assert [clause.text for clause in clauses(text)] == [text]


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("vLLM 是推理引擎", [("en", "vLLM"), ("zh", " 是推理引擎")]),
        ("用 GPT-4 评测", [("zh", "用 "), ("en", "GPT-4"), ("zh", " 评测")]),
        ("跑了5 km。", [("zh", "跑了5 km。")]),
        ("64 fps 的视频", [("zh", "64 "), ("en", "fps"), ("zh", " 的视频")]),
        ("A和B", [("en", "A"), ("zh", "和"), ("en", "B")]),
        ("42", [("zh", "42")]),
        ("Hello 2 you", [("en", "Hello 2 you")]),
    ],
)
def test_each_voice_gets_its_script(text: str, expected: list[tuple[str, str]]) -> None:
    assert list(runs(text, chinese=True)) == expected


def test_markup_and_pictures_are_not_read() -> None:
    assert clean("**粗体** `code` 🙂20°C") == "粗体 code 20°C"
    assert list(clauses("…… 🙂 !")) == []
