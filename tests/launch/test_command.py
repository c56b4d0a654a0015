"""The start that `up` decides: command line, environment, overlay, and what stands against it."""

import json
import shlex
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
import yaml

from launch.command import Request
from launch.commands.up import again
from launch.environment import build
from launch.errors import InputError
from launch.layouts import NAMES
from tests.launch.console import Answer, launch, server_python

REAL = [name for name in NAMES if name != "rehearsal"]


class Box:
    """A machine with a server's Python, weights and, where asked, an NPU's toolkit."""

    def __init__(self, root: Path, line: str = "0.26", *, npu: bool = False) -> None:
        self.root = root
        self.vllm = server_python(root / "usr" / "local" / "python3.12.13", line)
        self.model = root / "weights"
        self.model.mkdir()
        if npu:
            (root / "dev").mkdir()
            (root / "dev" / "davinci0").touch()
            for folder, body in (
                (
                    "usr/local/Ascend/ascend-toolkit",
                    'export ASCEND_TOOLKIT_HOME=/cann PYTHONPATH="/cann/py:$PYTHONPATH"',
                ),
                (
                    "usr/local/Ascend/nnal/atb",
                    "export ATB_HOME_PATH=/atb LD_LIBRARY_PATH=/atb/lib:$LD_LIBRARY_PATH; [ -n '' ]",
                ),
                ("usr/local/Ascend/driver/lib64/driver", ""),
            ):
                (root / folder).mkdir(parents=True)
                (root / folder / "set_env.sh").write_text(body + "\n")

    def up(self, *argv: object, environ: dict[str, str] | None = None, layout: str = "1card") -> Answer:
        words = ("up", "--layout", layout, "--model", self.model, "--dry-run", *argv)
        return launch(*words, root=self.root, environ={"PATH": "/usr/bin:/bin", **(environ or {})})

    def plan(self, *argv: object, environ: dict[str, str] | None = None, layout: str = "1card") -> dict[str, Any]:
        return self.up("--json", *argv, environ=environ, layout=layout).json


@pytest.fixture
def box(tmp_path: Path) -> Box:
    return Box(tmp_path)


def test_the_command_line_is_the_guides(box: Box) -> None:
    plan = box.plan()
    assert plan["command"] == [
        str(box.vllm),
        "serve",
        str(box.model),
        "--omni",
        *("--served-model-name", "openbmb/MiniCPM-o-4_5"),
        "--trust-remote-code",
        *("--deploy-config", plan["deploy_file"]),
        *("--stage-init-timeout", "1200"),
        *("--init-timeout", "1800"),
        *("--host", "127.0.0.1"),
        *("--port", "8091"),
    ]
    assert plan["url"] == "http://127.0.0.1:8091"
    assert Path(plan["deploy_file"]).is_absolute()


def test_every_option_stands_where_the_server_takes_it(box: Box) -> None:
    media = box.root / "media"
    media.mkdir()
    plan = box.plan(
        *(
            "--host",
            "0.0.0.0",
            "--port",
            "9000",
            "--served-model-name",
            "me",
            "--stage-init-timeout",
            "7",
            "--init-timeout",
            "8",
        ),
        *(
            "--media-path",
            media,
            "--interleave",
            "--images",
            "96",
            "--set",
            "token2wav_n_timesteps=3",
            "--cards",
            "4,5",
        ),
        *("--", "--load-format", "auto"),
    )
    line = plan["command"]
    for option, value in {
        "--host": "0.0.0.0",
        "--port": "9000",
        "--served-model-name": "me",
        "--stage-init-timeout": "7",
        "--init-timeout": "8",
        "--allowed-local-media-path": str(media),
        "--load-format": "auto",
    }.items():
        assert line[line.index(option) + 1] == value
    assert "--interleave-mm-strings" in line  # bare: "--interleave-mm-strings false" is refused
    assert line[-2:] == ["--load-format", "auto"]
    assert plan["environment"]["ASCEND_RT_VISIBLE_DEVICES"] == "4,5"
    overlay = yaml.safe_load(plan["overlay"]["text"])
    assert overlay["stages"][0]["limit_mm_per_prompt"] == {"image": 96, "audio": 64, "video": 1}
    assert overlay["connectors"]["connector_of_shared_memory"]["extra"]["token2wav_n_timesteps"] == 3
    assert plan["url"] == "http://127.0.0.1:9000"
    assert [finding["id"] for finding in plan["findings"]] == ["open-to-network"]


@pytest.mark.parametrize("layout", REAL)
@pytest.mark.parametrize("line", ["0.26", "0.30"])
def test_every_layout_can_start(layout: str, line: str, tmp_path: Path) -> None:
    shown = Box(tmp_path, line).up(layout=layout)
    assert (shown.code, shown.errors) == (0, "")
    assert not (tmp_path / ".local").exists(), "a dry run writes nothing"


def test_what_the_server_must_have_in_its_environment(box: Box) -> None:
    changes = box.plan(environ={"no_proxy": "example.org"})["environment"]
    assert changes["VLLM_WORKER_MULTIPROC_METHOD"] == "spawn"
    assert changes["VLLM_LOGGING_COLOR"] == "0"
    assert changes["VLLM_ENGINE_READY_TIMEOUT_S"] == "1200"
    assert changes["HF_HUB_OFFLINE"] == "1"
    assert changes["no_proxy"] == "$no_proxy,127.0.0.1,localhost,::1"
    assert changes["NO_PROXY"] == "127.0.0.1,localhost,::1"
    assert changes["PATH"] == f"{box.vllm.parent}:$PATH"
    assert "ASCEND_RT_VISIBLE_DEVICES" not in changes


def test_the_toolkits_scripts_are_sourced_once_and_shown(tmp_path: Path) -> None:
    box = Box(tmp_path, npu=True)
    ascend = tmp_path / "usr/local/Ascend"
    plan = box.plan(environ={"PYTHONPATH": "/mine"})
    assert plan["sourced"] == [str(ascend / "ascend-toolkit/set_env.sh"), str(ascend / "nnal/atb/set_env.sh")]
    assert plan["shell"].startswith(
        f"source {ascend}/ascend-toolkit/set_env.sh && source {ascend}/nnal/atb/set_env.sh && env "
    )
    already = box.plan(environ={"ASCEND_TOOLKIT_HOME": "/cann", "ATB_HOME_PATH": "/atb"})
    assert already["sourced"] == []


def test_path_lists_are_appended_to_and_never_replaced(tmp_path: Path) -> None:
    Box(tmp_path, npu=True)
    environ = {"PATH": "/usr/bin:/bin", "PYTHONPATH": "/mine", "LD_LIBRARY_PATH": "/lib1"}
    made = build(environ, {}, ["PYTHONPATH=/more", "X=1"], program=Path("/opt/py/bin/vllm"), root=tmp_path)
    assert made.full["PYTHONPATH"] == "/cann/py:/mine:/more"
    assert made.full["LD_LIBRARY_PATH"] == f"/atb/lib:/lib1:{tmp_path}/usr/local/Ascend/driver/lib64/driver"
    assert made.full["PATH"] == "/opt/py/bin:/usr/bin:/bin"
    assert made.full["ASCEND_TOOLKIT_HOME"] == "/cann"
    assert made.changes["PYTHONPATH"] == "$PYTHONPATH:/more"
    assert made.full["X"] == "1"
    again = build(made.full, {}, ["PYTHONPATH=/more"], program=Path("/opt/py/bin/vllm"), root=tmp_path)
    assert again.full == made.full


@pytest.mark.parametrize("word", ["X", "=1", "1X=2", "A B=3"])
def test_a_variable_that_is_none(word: str) -> None:
    with pytest.raises(InputError, match="env-unreadable"):
        build({}, {}, [word])


def test_secrets_are_nowhere(box: Box) -> None:
    (box.root / "key").write_text("sk-hidden\n")
    argv = ("--api-key-file", box.root / "key", "--env", "HF_TOKEN=hf-hidden", "--env", "MY_SECRET=also-hidden")
    for shown in (box.up(*argv), box.up(*argv, "--json")):
        assert "hidden" not in shown.text + shown.errors
    plan = box.plan(*argv)
    assert plan["environment"]["VLLM_API_KEY"] == "***"
    assert "--api-key" not in plan["command"]  # `ps` shows a command line to everybody
    assert f'VLLM_API_KEY="$(cat {box.root}/key)"' in plan["shell"]
    assert "also-hidden" not in again(Request(layout="1card", env=("MY_SECRET=also-hidden",)))


def test_the_line_to_copy_is_what_would_run(box: Box) -> None:
    plan = box.plan("--set", "token2wav_n_timesteps=3")
    assert "\n" not in plan["shell"]
    words = shlex.split(plan["shell"])
    assert words[words.index(str(box.vllm)) :] == plan["command"]
    shell = plan["shell"].replace(str(box.vllm), "printenv VLLM_LOGGING_COLOR; true", 1)
    done = subprocess.run(
        ["bash", "-c", shell], capture_output=True, text=True, check=True, env={"PATH": "/usr/bin:/bin"}
    )
    assert done.stdout.strip() == "0"


def test_a_start_that_cannot_work_is_stopped_with_reasons(box: Box) -> None:
    shown = box.up("--cards", "4", layout="2card")
    assert shown.code == 1
    assert {f["id"] for f in box.plan("--cards", "4", layout="2card")["findings"]} == {"card-beyond"}
    assert box.plan("--cards", "4", layout="2card")["blocked"] is True
    assert box.plan("--cards", "4,5", layout="2card")["blocked"] is False
    assert box.plan(environ={"ASCEND_RT_VISIBLE_DEVICES": "4"}, layout="2card")["blocked"] is False  # no NPU here
    refused = box.plan("--", "--data-parallel-size", "2")
    assert [f["id"] for f in refused["findings"]] == ["omni-args-prohibited"]
    assert [f["id"] for f in box.plan("--", "--gpu-memory-utilization=0.9")["findings"]] == ["flag-hits-every-stage"]


def test_cards_that_the_shell_shows_count_on_a_machine_that_has_them(tmp_path: Path) -> None:
    box = Box(tmp_path, npu=True)
    plan = box.plan(environ={"ASCEND_RT_VISIBLE_DEVICES": "4"}, layout="2card")
    assert (plan["blocked"], plan["cards"]) == (True, ["4"])


def test_launch_blocking_stops_030(tmp_path: Path) -> None:
    box = Box(tmp_path, "0.30")
    assert [f["id"] for f in box.plan(environ={"ASCEND_LAUNCH_BLOCKING": "1"})["findings"]] == [
        "launch-blocking-vs-graph"
    ]


@pytest.mark.parametrize(
    ("argv", "id"),
    [
        (["--", "1card"], "extra-not-a-flag"),
        (["--", "--port", "9"], "extra-is-ours"),
        (["--", "--api-key", "k"], "extra-is-ours"),
        (["--media-path", "/nowhere"], "media-path-missing"),
        (["--api-key-file", "/nowhere"], "file-not-found"),
        (["--set", "nonsense=1"], "set-unknown"),
        (["--cards", "0-3"], "cards-unreadable"),
        (["--cards", "1,1"], "cards-unreadable"),
        (["--port", "70000"], "command-line"),
        (["--images", "0"], "command-line"),
    ],
)
def test_what_cannot_be_understood_exits_with_2(argv: list[str], id: str, box: Box) -> None:
    assert box.plan(*argv)["error"]["id"] == id
    assert box.up(*argv).code == 2


def test_what_only_this_machine_lacks_does_not_stop_a_dry_run(tmp_path: Path) -> None:
    words = ("up", "--layout", "1card", "--model", "/workspace/MiniCPM-o-4_5", "--json")
    dry = launch(*words, "--dry-run", root=tmp_path)
    assert dry.code == 0
    assert {f["id"]: f["severity"] for f in dry.json["findings"]} == {
        "vllm-not-found": "degraded",
        "model-not-here": "degraded",
    }
    real = launch(*words, root=tmp_path)
    assert real.code == 1
    assert {f["severity"] for f in real.json["findings"]} == {"fatal"}


def test_the_weights_may_be_the_boxes_own_or_a_hub_name(box: Box) -> None:
    shared = box.root / "workspace/shared_assets/models/OpenBMB/MiniCPM-o-4_5"
    words = ("up", "--layout", "1card", "--dry-run", "--json")
    assert launch(*words, root=box.root).json["error"]["id"] == "model-needed"
    shared.mkdir(parents=True)
    assert (
        launch(*words, root=box.root)
        .json["command"][2]
        .endswith("/workspace/shared_assets/models/OpenBMB/MiniCPM-o-4_5")
    )
    named = launch(*words, "--model", "openbmb/MiniCPM-o-4_5", root=box.root).json
    assert named["command"][2] == "openbmb/MiniCPM-o-4_5"
    assert not named["blocked"]
    offline = launch(*words, "--model", "openbmb/MiniCPM-o-4_5", "--env", "HF_HUB_OFFLINE=1", root=box.root).json
    assert ([row["id"] for row in offline["findings"]], offline["blocked"]) == (["hub-id-offline"], True)
    assert "HF_HUB_OFFLINE" in offline["findings"][0]["what"]
    assert "HF_HUB_OFFLINE" not in named["environment"]
    assert named["findings"] == []


def test_video_mme_is_only_spoken_of_to_those_who_run_it(box: Box) -> None:
    assert box.plan()["findings"] == []
    assert [f["id"] for f in box.plan("--media-path", box.root)["findings"]] == ["images-too-few"]
    assert box.plan("--media-path", box.root, "--images", "96")["findings"] == []


def test_the_rehearsal_engine_runs_in_our_own_python(tmp_path: Path) -> None:
    plan = launch("up", "--layout", "rehearsal", "--port", "8123", "--dry-run", "--json", root=tmp_path).json
    assert plan["command"] == [sys.executable, "-m", "launch.rehearsal", "--host", "127.0.0.1", "--port", "8123"]
    assert (plan["overlay"], plan["deploy_file"], plan["findings"]) == (None, None, [])
    assert plan["layout"]["cards"] == 0


def test_the_documented_shape(box: Box) -> None:
    assert set(box.plan()) == {
        *("layout", "version", "line", "url", "deploy_file", "overlay", "command", "environment", "sourced", "shell"),
        *("cards", "findings", "blocked"),
    }
    assert set(box.plan("--set", "temperature=0.5")["overlay"]["changes"][0]) == {"path", "before", "after"}
    assert json.loads(json.dumps(box.plan()))


def test_the_same_start_as_one_line() -> None:
    request = Request(
        layout="my file.yaml", model="/m", port=9000, sets=("a=1",), interleave=True, extra=("--load-format", "auto")
    )
    assert again(request) == (
        "python -m launch up --layout 'my file.yaml' --model /m --port 9000 --set a=1 --interleave -- --load-format auto"
    )
