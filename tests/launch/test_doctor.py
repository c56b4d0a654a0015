"""What `doctor` says of a machine, for each text of npu-smi that was seen."""

import socket
from pathlib import Path

import pytest

from launch.npu import parse
from tests.launch.console import launch, server_python
from tests.launch.npu_box import TEXTS, with_npu_smi
from tests.launch.running import free_port
from tests.launch.test_install import distribution, model


def ids(told: dict[str, list[dict[str, str]]]) -> set[str]:
    return {row["id"] for row in told["findings"]}


@pytest.fixture
def whole(tmp_path: Path) -> Path:
    """A machine that lacks nothing but cards."""
    for file in (
        *("dev/davinci0", "dev/davinci_manager", "dev/devmm_svm", "dev/hisi_hdc"),
        *("usr/local/Ascend/driver/version.info", "usr/local/Ascend/ascend-toolkit/set_env.sh"),
    ):
        (tmp_path / file).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / file).touch()
    server_python(tmp_path / "usr/local/python3.12.13")
    for name in ("stepaudio2-minicpmo", "step-audio2"):
        distribution(tmp_path / "usr/local/python3.12.13", name)
    model(tmp_path / "workspace/MiniCPM-o-4_5")
    return tmp_path


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
    words = ("doctor", "--layout", layout, "--port", free_port(), "--json")
    told = launch(*words, root=whole, environ=with_npu_smi(whole, text)).json
    assert ids(told) - {"ffmpeg-missing", "cards-choose"} == found
    table = parse((TEXTS / text).read_text())
    assert [die["card"] for die in told["dies"]] == [die.card for die in (table.dies if table else ())]


def test_an_empty_machine_and_a_taken_port(tmp_path: Path) -> None:
    with socket.create_server(("127.0.0.1", 0)) as held:
        port = held.getsockname()[1]
        told = launch("doctor", "--port", port, "--json", root=tmp_path, environ={"http_proxy": "http://proxy:1"})
    assert told.code == 1
    assert ids(told.json) >= {"cards-none", "vllm-not-found", "model-absent", "port-taken", "proxy-env-loopback"}


def test_packages_that_do_not_belong_together(whole: Path) -> None:
    home = whole / "usr/local/python3.12.13"
    for name, version in (("onnxruntime", "1"), ("onnxruntime-cann", "1"), ("torch", "2.10.0"), ("torch-npu", "2.9.0")):
        distribution(home, name, version)
    (whole / "workspace/MiniCPM-o-4_5/assets/HT_ref_audio.wav").unlink()
    (whole / "dev/hisi_hdc").unlink()
    words = ("doctor", "--port", free_port(), "--json")
    told = launch(*words, root=whole, environ=with_npu_smi(whole, "910b_1.txt")).json
    expected = {"onnxruntime-twice", "torch-apart", "model-incomplete", "device-nodes-missing"}
    assert ids(told) - {"ffmpeg-missing"} == expected


def test_a_machine_that_is_ready_says_so(whole: Path) -> None:
    (whole / "tools").mkdir()
    (whole / "tools/ffmpeg").touch(mode=0o755)
    told = launch(
        "doctor", "--port", free_port(), "--lang", "en", root=whole, environ=with_npu_smi(whole, "910b_1.txt")
    )
    assert (told.code, told.errors) == (0, "")
    assert "Nothing is missing." in told.text
    assert "910B" in told.text


def test_a_start_is_told_to_leave_out_the_card_in_use(whole: Path) -> None:
    words = ("doctor", "--port", free_port(), "--lang", "en")
    told = launch(*words, root=whole, environ=with_npu_smi(whole, "910b_4_alarm.txt"))
    assert told.code == 1
    assert "npu-smi info -t health -i 2 -c 0" in told.text


def test_only_visible_cards_count(whole: Path) -> None:
    shown = {**with_npu_smi(whole, "910b_4.txt"), "ASCEND_RT_VISIBLE_DEVICES": "3"}
    words = ("doctor", "--layout", "2card", "--port", free_port(), "--json")
    assert "cards-too-few" in ids(launch(*words, root=whole, environ=shown).json)
