"""The table of npu-smi as it was seen on 910B and 910C boxes (tests/data/npu)."""

from pathlib import Path

import pytest

from launch.npu import Die, Holder, NpuTable, parse

SAMPLES = Path(__file__).resolve().parent.parent / "data" / "npu"


def table(name: str) -> NpuTable:
    read = parse((SAMPLES / f"{name}.txt").read_text())
    assert read is not None
    return read


@pytest.mark.parametrize(
    ("name", "series", "cards"),
    [
        ("910b_0", "A2", []),
        ("910b_1", "A2", [0]),
        ("910b_2", "A2", [0, 1]),
        ("910b_4", "A2", [0, 1, 2, 3]),
        ("910b_8", "A2", list(range(8))),
        ("a3_1", "A3", [0, 1]),
        ("a3_1_wide_26", "A3", [0, 1]),
        ("a3_2", "A3", [0, 1, 2, 3]),
        ("a3_4", "A3", list(range(8))),
        ("a3_8", "A3", list(range(16))),
        ("a3_npu6_busy", "A3", [12, 13]),
    ],
)
def test_each_die_is_a_card_by_the_number_of_its_device_node(name: str, series: str, cards: list[int]) -> None:
    read = table(name)
    assert read.series == series
    assert [die.card for die in read.dies] == cards
    assert {die.hbm_total_mb for die in read.dies} <= {65536}


def test_a_busy_die_names_its_holders() -> None:
    first, second = table("a3_npu6_busy").dies
    assert first == Die(
        npu=6,
        chip=0,
        card=12,
        name="Ascend910",
        health="OK",
        bus_id="0000:85:00.0",
        aicore_pct=0,
        hbm_used_mb=46579,
        hbm_total_mb=65536,
        holders=(
            Holder(8779, "VLLMStageEngi", 9606),
            Holder(9215, "VLLMStageEngi", 7822),
            Holder(7620, "VLLMStageEngi", 26218),
        ),
    )
    assert first.busy
    assert not second.busy
    assert not second.holders


def test_idle_memory_of_the_driver_is_not_business() -> None:
    assert not any(die.busy for name in ("910b_1", "a3_8") for die in table(name).dies)
    assert [die.card for die in table("a3_2_foreign").dies if die.busy] == [0]


@pytest.mark.parametrize(
    ("name", "healths"),
    [
        ("910b_4_warning", ["OK", "Warning", "OK", "OK"]),
        ("a3_1_critical", ["OK", "Critical"]),
    ],
)
def test_health_is_told_die_by_die(name: str, healths: list[str]) -> None:
    assert [die.health for die in table(name).dies] == healths


def test_warning_is_usable_alarm_and_critical_are_not() -> None:
    assert all(die.usable for die in table("910b_4_warning").dies)
    assert [die.usable for die in table("a3_1_critical").dies] == [True, False]
    assert not all(die.usable for die in table("910b_4_alarm").dies)


@pytest.mark.parametrize("name", ["msg_8005", "msg_nolib", "msg_notfound", "version.info"])
def test_a_message_is_no_table(name: str) -> None:
    assert parse((SAMPLES / f"{name}.txt").read_text()) is None
