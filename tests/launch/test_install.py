"""`install` and `weights`: the guide's steps, what is skipped, and that they run in the server's Python only."""

import json
import shlex
from pathlib import Path

import pytest

from tests.launch.console import Answer, launch, server_python


def distribution(home: Path, name: str, version: str = "1.0") -> None:
    info = home / "lib/python3.12/site-packages" / f"{name.replace('-', '_')}-{version}.dist-info"
    info.mkdir(parents=True)
    (info / "METADATA").write_text(f"Metadata-Version: 2.4\nName: {name}\nVersion: {version}\n")


def todo(answer: Answer) -> list[str]:
    return [step["name"] for step in answer.json["steps"] if not step["done"]]


def recording(program: Path, code: int = 0) -> Path:
    """The server's Python, and its pip's neighbours, only write down how they were called."""
    notes = program.parent / "calls"
    (program.parent / "python3").unlink()
    script = f'#!/bin/sh\necho "${{0##*/}} $* [$SETUPTOOLS_SCM_PRETEND_VERSION]" >> "{notes}"\nexit {code}\n'
    for name in ("python3", "git", "modelscope"):
        (program.parent / name).write_text(script)
        (program.parent / name).chmod(0o755)
    return notes


def model(folder: Path, shard_bytes: int = (1 << 20) + 1) -> None:
    (folder / "assets/token2wav").mkdir(parents=True)
    (folder / "config.json").write_text("{}")
    names = [f"model-0000{number}-of-00002.safetensors" for number in (1, 2)]
    (folder / "model.safetensors.index.json").write_text(json.dumps({"weight_map": {"a": names[0], "b": names[1]}}))
    for name in names:
        (folder / name).write_bytes(b"\0" * shard_bytes)
    for name in ("flow.pt", "hift.pt"):
        (folder / "assets/token2wav" / name).write_bytes(b"\0" * ((1 << 20) + 1))
    (folder / "assets/HT_ref_audio.wav").write_bytes(b"RIFF")


def test_the_guides_steps_in_order_where_nothing_is_installed(tmp_path: Path) -> None:
    told = launch("install", "--into", "/workspace/vllm-omni", "--json", root=tmp_path)
    python = "/usr/local/python3.12.13/bin/python3"
    assert told.code == 0
    assert [step["line"] for step in told.json["steps"]] == [
        f"{python} -m pip install stepaudio2-minicpmo",
        f"{python} -m pip install step-audio2 s3tokenizer --no-deps",
        "git clone https://github.com/vllm-project/vllm-omni.git -b minicpm-challenge /workspace/vllm-omni",
        f"SETUPTOOLS_SCM_PRETEND_VERSION=0.25.0 {python} -m pip install -e /workspace/vllm-omni",
    ]
    assert todo(told) == ["token2wav", "vocoder", "clone", "omni"]


def test_mirrors_and_a_branch(tmp_path: Path) -> None:
    mirror = ("--git", "ghproxy", "--pip-index", "https://pypi.example.com/simple", "--branch", "team/fast")
    lines = [step["line"] for step in launch("install", *mirror, "--json", root=tmp_path).json["steps"]]
    assert lines[0].endswith("-i https://pypi.example.com/simple")
    assert lines[2].startswith(
        "git clone https://ghproxy.net/https://github.com/vllm-project/vllm-omni.git -b team/fast"
    )


@pytest.mark.parametrize(
    ("words", "id"),
    [
        (["--branch=--upload-pack=sh"], "branch-unreadable"),
        (["--branch=a b"], "branch-unreadable"),
        (["--pip-index=pypi"], "index-unreadable"),
        (["--git=elsewhere"], "command-line"),
        (["--yes"], "vllm-not-found"),
    ],
)
def test_what_cannot_be_done(words: list[str], id: str, tmp_path: Path) -> None:
    told = launch("install", *words, "--json", root=tmp_path)
    assert (told.code, told.json["error"]["id"]) == (2, id)


def test_what_is_there_is_skipped(tmp_path: Path) -> None:
    program = server_python(tmp_path / "server", editable=True)
    for name in ("stepaudio2-minicpmo", "step-audio2"):
        distribution(tmp_path / "server", name)
    checkout = tmp_path / "server/checkout"
    words = ("install", "--vllm", program, "--into", checkout, "--json")
    assert todo(launch(*words, root=tmp_path)) == ["vocoder", "clone"]  # s3tokenizer, and no project file yet
    distribution(tmp_path / "server", "s3tokenizer")
    (checkout / "pyproject.toml").touch()
    assert todo(launch(*words, root=tmp_path)) == []
    assert todo(launch("install", "--vllm", program, "--json", root=tmp_path)) == ["clone", "omni"]  # another folder


def test_the_line_that_goes_on_holds_what_was_typed(tmp_path: Path) -> None:
    program = server_python(tmp_path / "server")
    mirror = ("--branch", "team/fast", "--git", "ghproxy", "--pip-index", "https://pypi.example.com/simple")
    words = (*mirror, "--into", str(tmp_path / "a folder"), "--vllm", str(program))
    told = launch("install", *words, "--lang", "en", root=tmp_path)
    assert shlex.join(["python", "-m", "launch", "install", *words, "--yes"]) in told.text
    plain = launch("install", "--lang", "en", root=tmp_path)
    assert "`python -m launch install --yes`" in plain.text
    weights = launch("weights", "--source", "huggingface", "--into", "/data/m", "--lang", "en", root=tmp_path)
    assert "`python -m launch weights --into /data/m --source huggingface --yes`" in weights.text


def test_yes_runs_what_is_left_in_the_servers_python(tmp_path: Path) -> None:
    program = server_python(tmp_path / "server")
    distribution(tmp_path / "server", "stepaudio2-minicpmo")
    calls = recording(program)
    words = ("--vllm", program, "--into", tmp_path / "src", "--yes")
    told = launch("install", *words, "--json", root=tmp_path, environ={"PATH": str(program.parent)})
    assert told.code == 0, told.text
    assert [step["ran"] for step in told.json["steps"]] == [False, True, True, True]
    assert calls.read_text().splitlines() == [
        "python3 -m pip install step-audio2 s3tokenizer --no-deps []",
        f"git clone https://github.com/vllm-project/vllm-omni.git -b minicpm-challenge {tmp_path / 'src'} []",
        f"python3 -m pip install -e {tmp_path / 'src'} [0.25.0]",
    ]


def test_the_first_step_that_fails_is_the_last(tmp_path: Path) -> None:
    program = server_python(tmp_path / "server")
    calls = recording(program, code=3)
    told = launch("install", "--vllm", program, "--yes", "--lang", "en", root=tmp_path)
    assert told.code == 1
    assert "exit 3" in told.errors
    assert len(calls.read_text().splitlines()) == 1


def test_weights_come_from_the_hub_that_was_chosen(tmp_path: Path) -> None:
    told = launch("weights", "--into", "/data/m", "--json", root=tmp_path).json
    tools = "/usr/local/python3.12.13/bin"
    assert [step["line"] for step in told["steps"]] == [
        f"{tools}/python3 -m pip install modelscope",
        f"{tools}/modelscope download --model OpenBMB/MiniCPM-o-4_5 --local_dir /data/m",
    ]
    other = launch("weights", "--into", "/data/m", "--source", "huggingface", "--json", root=tmp_path).json
    assert other["steps"][1]["line"] == f"{tools}/hf download openbmb/MiniCPM-o-4_5 --local-dir /data/m"


def test_whole_weights_are_not_fetched_again_and_pointers_are(tmp_path: Path) -> None:
    shared = tmp_path / "workspace/shared_assets/models/OpenBMB/MiniCPM-o-4_5"
    model(shared)
    told = launch("weights", "--json", root=tmp_path)
    assert (told.json["folder"], todo(told)) == (str(shared), [])
    model(tmp_path / "pointers", shard_bytes=135)
    assert "download" in todo(launch("weights", "--into", tmp_path / "pointers", "--json", root=tmp_path))
    (shared / "assets/HT_ref_audio.wav").unlink()
    told = launch("weights", "--json", root=tmp_path)
    assert told.json["folder"] == str(tmp_path / "workspace/MiniCPM-o-4_5")
    assert "download" in todo(told)


def test_yes_fetches_the_weights(tmp_path: Path) -> None:
    program = server_python(tmp_path / "server")
    calls = recording(program)
    told = launch("weights", "--vllm", program, "--into", tmp_path / "m", "--yes", root=tmp_path)
    assert told.code == 0, told.errors
    assert [line.split()[0] for line in calls.read_text().splitlines()] == ["python3", "modelscope"]
