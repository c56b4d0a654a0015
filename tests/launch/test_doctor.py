"""What `doctor` says of a machine's cards, for each text of npu-smi that was seen, and of CUDA cards."""

from pathlib import Path
from typing import Any

import pytest

from launch.npu import parse
from tests.launch.console import launch
from tests.launch.npu_box import TEXTS, touch, whole_machine, with_npu_smi, with_nvidia_smi
from tests.launch.running import free_port


def ids(told: dict[str, list[dict[str, str]]]) -> set[str]:
    return {row["id"] for row in told["findings"]} - {"ffmpeg-missing"}


@pytest.fixture
def whole(tmp_path: Path) -> Path:
    """A machine that lacks nothing but cards."""
    whole_machine(tmp_path)
    return tmp_path


def doctor(root: Path, environ: dict[str, str], *words: str) -> Any:
    return launch("doctor", "--port", free_port(), "--json", *words, root=root, environ=environ).json


@pytest.mark.parametrize(
    ("text", "layout", "found"),
    [
        ("910b_0.txt", "1card", {"cards-too-few"}),
        ("910b_1.txt", "1card", set()),
        ("910b_1.txt", "2card", {"cards-too-few"}),
        ("910b_1_busy.txt", "1card", {"card-busy", "cards-too-few"}),
        ("910b_2.txt", "2card", set()),
        ("910b_4.txt", "3card", set()),
        ("910b_4_alarm.txt", "1card", {"card-unhealthy"}),
        ("910b_4_warning.txt", "1card", {"card-warning"}),
        ("910b_8.txt", "8card", set()),
        ("a3_1.txt", "2card", set()),
        ("a3_1_wide_26.txt", "2card", set()),
        ("a3_1_critical.txt", "1card", {"card-unhealthy"}),
        ("a3_npu6_busy.txt", "1card", {"card-busy"}),
        ("a3_2_foreign.txt", "1card", {"card-busy"}),
        ("a3_2.txt", "3card", set()),
        ("a3_4.txt", "8card", set()),
        ("a3_8.txt", "8card", set()),
        ("msg_8005.txt", "1card", {"npu-dcmi-init-failed"}),
        ("msg_nolib.txt", "1card", {"npu-driver-lib-missing"}),
        ("msg_notfound.txt", "1card", {"npu-smi-missing"}),
    ],
)
def test_cards(text: str, layout: str, found: set[str], whole: Path) -> None:
    touch(whole / "dev/davinci0")
    told = doctor(whole, with_npu_smi(whole, text), "--layout", layout)
    assert ids(told) - {"cards-choose"} == found
    table = parse((TEXTS / text).read_text())
    assert [die["card"] for die in told["dies"]] == [die.card for die in (table.dies if table else ())]


def test_a_machine_that_is_ready_says_so(whole: Path) -> None:
    environ = with_npu_smi(whole, "910b_1.txt")
    (whole / "tools/ffmpeg").touch(mode=0o755)
    told = launch("doctor", "--port", free_port(), "--lang", "en", root=whole, environ=environ)
    assert (told.code, told.errors) == (0, "")
    assert "Nothing is missing." in told.text
    assert "910B" in told.text
    assert "driver 25.5.1" in told.text
    assert "vllm-ascend 0.19.1rc2.dev1014+g8092d3f66" in told.text


def test_how_to_look_at_an_unhealthy_card(whole: Path) -> None:
    words = ("doctor", "--port", free_port(), "--lang", "en")
    told = launch(*words, root=whole, environ=with_npu_smi(whole, "910b_4_alarm.txt"))
    assert told.code == 1
    assert "npu-smi info -t health -i 2 -c 0" in told.text


@pytest.mark.parametrize(
    ("text", "layout", "cards"),
    [
        ("910b_4_alarm.txt", "3card", "0,1,3"),  # the third is unhealthy
        ("a3_npu6_busy.txt", "1card", "1"),  # of the two dies 12 and 13 the first is in use: counted, not named
    ],
)
def test_a_start_is_told_which_cards_to_take(text: str, layout: str, cards: str, whole: Path) -> None:
    told = doctor(whole, with_npu_smi(whole, text), "--layout", layout)
    (advice,) = [row for row in told["findings"] if row["id"] == "cards-choose"]
    assert advice["cure"] == f"`python -m launch up --layout {layout} --cards {cards}`"


def test_no_advice_where_the_first_cards_are_free(whole: Path) -> None:
    assert "cards-choose" not in ids(doctor(whole, with_npu_smi(whole, "910b_4_alarm.txt"), "--layout", "2card"))


def test_only_visible_cards_count(whole: Path) -> None:
    shown = {**with_npu_smi(whole, "910b_4.txt"), "ASCEND_RT_VISIBLE_DEVICES": "3"}
    assert "cards-too-few" in ids(doctor(whole, shown, "--layout", "2card"))
    inside = {**with_npu_smi(whole, "a3_npu6_busy.txt"), "ASCEND_RT_VISIBLE_DEVICES": "1"}
    assert ids(doctor(whole, inside)) == set()


def test_a_card_without_its_node(whole: Path) -> None:
    environ = with_npu_smi(whole, "910b_4.txt")
    (whole / "dev/davinci2").unlink()
    assert ids(doctor(whole, environ, "--layout", "3card")) == set()  # three are enough
    (whole / "dev/davinci3").unlink()
    told = doctor(whole, environ, "--layout", "3card")
    assert ids(told) == {"device-nodes-missing", "cards-too-few"}
    (missing,) = [row for row in told["findings"] if row["id"] == "device-nodes-missing"]
    assert "/dev/davinci2, /dev/davinci3" in missing["what"]


@pytest.mark.parametrize("node", ["davinci_manager", "devmm_svm", "hisi_hdc"])
def test_a_control_node_that_is_missing(node: str, whole: Path) -> None:
    environ = with_npu_smi(whole, "910b_1.txt")
    (whole / "dev" / node).unlink()
    (missing,) = [row for row in doctor(whole, environ)["findings"] if row["id"] == "device-nodes-missing"]
    assert f"/dev/{node}" in missing["what"]


def test_fewer_nodes_than_cards_where_npu_smi_says_nothing(whole: Path) -> None:
    touch(whole / "dev/davinci0")
    told = doctor(whole, with_npu_smi(whole, "msg_8005.txt"), "--layout", "2card")
    assert ids(told) == {"npu-dcmi-init-failed", "device-nodes-missing"}


GPUS = "0, GPU-a, NVIDIA GeForce RTX 4090, 12, 24564, 570.86\n1, GPU-b, NVIDIA GeForce RTX 4090, 12, 24564, 570.86"


@pytest.mark.parametrize(
    ("cards", "holders", "layout", "found"),
    [
        (GPUS, "", "2card", set()),
        (GPUS, "", "3card", {"cards-too-few"}),
        (GPUS, "GPU-a, 812, python3, 9000", "1card", {"card-busy", "cards-choose"}),
        (GPUS, "GPU-a, 812, python3, [N/A]", "2card", {"card-busy", "cards-too-few"}),
        ("", "", "1card", {"cards-too-few"}),
    ],
)
def test_cuda_cards(cards: str, holders: str, layout: str, found: set[str], whole: Path) -> None:
    told = doctor(whole, with_nvidia_smi(whole, cards, holders), "--layout", layout)
    assert ids(told) == found
    assert told["platform"] == "cuda"
    assert [card["card"] for card in told["gpus"]] == ([0, 1] if cards else [])
    assert told["versions"].get("driver") == ("570.86" if cards else None)


def test_nvidia_smi_that_fails(whole: Path) -> None:
    assert ids(doctor(whole, with_nvidia_smi(whole, "", code=9))) == {"nvidia-smi-silent"}


def test_cuda_cards_are_shown(whole: Path) -> None:
    environ = with_nvidia_smi(whole, GPUS, "GPU-b, 812, python3, 9000")
    told = launch("doctor", "--port", free_port(), "--lang", "en", root=whole, environ=environ)
    assert "RTX 4090" in told.text
    assert "python3 812" in told.text
