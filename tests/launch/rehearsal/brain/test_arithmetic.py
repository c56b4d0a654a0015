import random

import pytest

from launch.rehearsal.brain.arithmetic import calculation
from launch.rehearsal.brain.homophones import as_meant


def equation(text: str, before: str = "") -> str | None:
    found = calculation(text, before)
    return found.equation if found else None


@pytest.mark.parametrize(
    ("question", "answer"),
    [
        ("请问三加五等于几？", "3 + 5 = 8"),
        ("一百减去三十七是多少？", "100 - 37 = 63"),
        ("1除以3等于多少", "1 ÷ 3 ≈ 0.3333"),
        ("2的10次方是多少", "2^10 = 1024"),
        ("200的15%是多少", "200 × 15 ÷ 100 = 30"),
        ("How much is seventeen plus twenty five?", "17 + 25 = 42"),
        ("What is 3.5 * (2 + 4)?", "3.5 × (2 + 4) = 21"),
        ("three hundred and twenty one times two?", "321 × 2 = 642"),
        ("5/0=?", "5 ÷ 0"),
        ("(1+2)*3", "(1 + 2) × 3 = 9"),
    ],
)
def test_arithmetic_is_found_and_exact(question: str, answer: str) -> None:
    assert equation(question) == answer


@pytest.mark.parametrize(
    "text",
    [
        "今天是2026-11-30吗？",
        "请用3到5句话介绍",
        "3-5句话",
        "What happened in 1990-2000?",
        "What is 5?",
        "9**9**9=?",
        "一下子就好了吗？",
    ],
)
def test_what_is_no_question_of_arithmetic_is_left_alone(text: str) -> None:
    assert equation(text) is None


def test_any_numbers_do() -> None:
    chance = random.Random(7)
    for _ in range(50):
        one, other = chance.randint(0, 9999), chance.randint(1, 999)
        assert equation(f"{one} 乘以 {other} 等于多少？") == f"{one} × {other} = {one * other}"
        assert equation(f"What is {one} minus {other}?") == f"{one} - {other} = {one - other}"


def test_it_goes_on_from_the_last_result() -> None:
    assert equation("再加五", "排练中。12 × 7 = 84。") == "84 + 5 = 89"
    assert equation("then minus 3", "12 × 7 = 84.") == "84 - 3 = 81"
    assert equation("再加五") is None


@pytest.mark.parametrize(
    ("heard", "meant"),
    [
        ("请问三家五等于几", "请问三加五等于几"),
        ("十二成以七等于多少", "十二乘以七等于多少"),
        ("家里有三个人", "家里有三个人"),
    ],
)
def test_a_mishearing_of_the_same_sound_is_mended(heard: str, meant: str) -> None:
    assert as_meant(heard) == meant
