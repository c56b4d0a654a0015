"""The docker commands of the guide, for the cards that are there."""

import shlex
from pathlib import Path

import pytest

from tests.launch.console import launch
from tests.launch.npu_box import with_npu_smi


def devices(command: str) -> list[str]:
    words = shlex.split(command)
    return [words[at + 1] for at, word in enumerate(words) if word == "--device"]


def test_four_a3_cards_are_the_guides_command(tmp_path: Path) -> None:
    told = launch("container", "--cards", "4", "--a3", "--json", root=tmp_path)
    assert told.code == 0
    assert told.json["pull"] == "docker pull quay.nju.edu.cn/ascend/vllm-omni:v0.25.0-a3"
    words = shlex.split(told.json["run"])
    assert words[:6] == ["docker", "run", "--rm", "--name", "vllm-omni-a3", "--shm-size=4g"]
    assert devices(told.json["run"]) == [
        *(f"/dev/davinci{card}" for card in range(4)),
        *("/dev/davinci_manager", "/dev/devmm_svm", "/dev/hisi_hdc"),
    ]
    mounts = [words[at + 1] for at, word in enumerate(words) if word == "-v"]
    assert "/usr/local/Ascend/driver/lib64/:/usr/local/Ascend/driver/lib64/" in mounts
    assert "/usr/local/bin/npu-smi:/usr/local/bin/npu-smi" in mounts
    assert mounts[-1] == "$HOME/.cache:/root/.cache"
    assert words[-5:] == ["-p", "8091:8091", "-it", told.json["image"], "bash"]
    assert "\n" not in told.json["run"]


@pytest.mark.parametrize(
    ("text", "cards", "image"),
    [
        ("910b_1.txt", [0], "v0.25.0"),
        ("910b_8.txt", [0, 1, 2, 3], "v0.25.0"),
        ("a3_npu6_busy.txt", [12, 13], "v0.25.0-a3"),
        ("msg_8005.txt", [0, 1, 2, 3], "v0.25.0-a3"),
    ],
)
def test_the_cards_and_the_image_follow_npu_smi(text: str, cards: list[int], image: str, tmp_path: Path) -> None:
    told = launch("container", "--json", root=tmp_path, environ=with_npu_smi(tmp_path, text)).json
    assert told["cards"] == cards
    assert told["image"].endswith(":" + image)


def test_named_cards_ports_and_a_newer_drivers_tool(tmp_path: Path) -> None:
    (tmp_path / "usr/local/sbin").mkdir(parents=True)
    (tmp_path / "usr/local/sbin/npu-smi").touch()
    told = launch("container", "--a2", "--cards", "4,5", "--port", "8091", "--port", "7862", "--json", root=tmp_path)
    assert devices(told.json["run"])[:2] == ["/dev/davinci4", "/dev/davinci5"]
    assert "-p 8091:8091 -p 7862:7862" in told.json["run"]
    assert "-v /usr/local/sbin/npu-smi:/usr/local/sbin/npu-smi" in told.json["run"]


def test_the_other_generations_image_is_a_finding(tmp_path: Path) -> None:
    told = launch("container", "--a2", "--json", root=tmp_path, environ=with_npu_smi(tmp_path, "a3_2.txt"))
    assert (told.code, [row["id"] for row in told.json["findings"]]) == (1, ["generation-other"])
    assert launch("container", "--a2", "--a3", root=tmp_path).code == 2
    assert launch("container", "--cards", "0", root=tmp_path).code == 2


@pytest.mark.parametrize(
    ("file", "content", "inside"),
    [
        (".dockerenv", "", True),
        ("run/.containerenv", "", True),
        ("proc/1/cgroup", "12:memory:/docker/3f1c9a0b7d52e4c1\n", True),
        ("proc/1/cgroup", "0::/\n", False),
        ("proc/1/mountinfo", "620 519 0:52 / / rw,relatime master:1 - overlay overlay rw\n", True),
        ("proc/1/mountinfo", "29 1 8:2 / / rw,relatime shared:1 - ext4 /dev/sda2 rw\n", False),
        (
            "proc/1/mountinfo",
            "29 1 8:2 / / rw - ext4 /dev/sda2 rw\n30 29 0:4 / /var/lib/docker/x rw - overlay overlay rw\n",
            False,
        ),
    ],
)
def test_inside_a_container_it_says_that_docker_cannot_run(
    file: str, content: str, inside: bool, tmp_path: Path
) -> None:
    (tmp_path / file).parent.mkdir(parents=True, exist_ok=True)
    (tmp_path / file).write_text(content)
    shown = launch("container", "--lang", "en", root=tmp_path)
    assert shown.code == int(inside)
    assert ("already inside a container" in shown.text) is inside
    assert (f"/{file}" in shown.text) is inside
