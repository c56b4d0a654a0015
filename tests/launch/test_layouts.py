"""The table of layouts, for each line of vLLM-Omni and each way it may be installed."""

import json
from pathlib import Path

import pytest

from launch.errors import InputError
from launch.layouts import NAMES, layout, table
from launch.rehearsal.__main__ import parse as rehearsal
from launch.server_python import find
from launch.versions import Installed, installed, line_named, numbers
from tests.launch.console import DEPLOY, launch, server_python


def bare(line: str) -> Installed:
    return installed(None, line)


def placed(found: Installed, name: str) -> str:
    return " ".join(",".join(map(str, stage.cards)) for stage in layout(name, found).stages)


@pytest.mark.parametrize("line", ["0.26", "0.30"])
def test_which_stage_runs_on_which_card(line: str) -> None:
    found = bare(line)
    assert [row.name for row in table(found)] == list(NAMES)
    where = {name: placed(found, name) for name in NAMES}
    assert where == {
        "1card": "0 0 0",
        "2card": "0 1 1",
        "3card": "0 1 2",
        "8card": "0,1,2,3 4 5",
        "duplex": "0 0 0",
        "duplex-2card": "0 1 1",
        "rehearsal": "",
    }
    assert {name: layout(name, found).cards for name in NAMES} == dict(zip(NAMES, (1, 2, 3, 6, 1, 2, 0), strict=True))


@pytest.mark.parametrize(("line", "sessions"), [("0.26", 2), ("0.30", 4)])
def test_turns_and_duplex_are_the_same_names_on_every_line(line: str, sessions: int) -> None:
    """From 0.30 every shipped file is duplex; the names keep their meaning."""
    modes = {row.name: (row.session_mode, row.limits.sessions) for row in table(bare(line))}
    assert modes.pop("duplex") == modes.pop("duplex-2card") == ("duplex", sessions)
    assert modes.pop("rehearsal") == ("duplex", rehearsal([]).max_sessions)  # its server's own word
    assert set(modes.values()) == {("turn", 0)}


def test_limits_are_the_servers_own() -> None:
    one = layout("1card", bare("0.26")).limits
    assert (one.images, one.audios, one.videos, one.sequences) == (64, 64, 1, 4)
    assert layout("2card", bare("0.26")).limits.images == 999  # not limited there: vLLM's own default


@pytest.mark.parametrize("line", ["0.26", "0.30"])
@pytest.mark.parametrize("editable", [False, True])
def test_the_packages_own_files_come_first(line: str, editable: bool, tmp_path: Path) -> None:
    program = server_python(tmp_path / "py", line, editable=editable)
    found = installed(find(str(program), {}))
    assert (found.line.name, found.version) == (line, f"{line}.0")
    assert found.deploy is not None
    file = layout("duplex", found).file
    assert file is not None
    assert file.parent == found.deploy
    changed = found.deploy / "minicpmo_4_5.yaml"
    changed.write_text(changed.read_text().replace("image: 64", "image: 96"))
    assert layout("1card", found).limits.images == 96


def test_the_line_is_told_by_files_not_by_a_version_that_was_pretended(tmp_path: Path) -> None:
    """The guide installs a branch of 0.26's shape as 0.25.0."""
    assert installed(find(str(server_python(tmp_path / "a", "0.26", "0.25.0+npu")), {})).line.name == "0.26"
    assert installed(find(str(server_python(tmp_path / "b", "0.30", "0.25.0")), {})).line.name == "0.30"


def test_a_layout_whose_file_the_package_lacks_says_so(tmp_path: Path) -> None:
    program = server_python(tmp_path / "py", "0.26", "0.25.0")
    found = installed(find(str(program), {}))
    assert found.deploy is not None
    (found.deploy / "minicpmo_4_5_duplex.yaml").unlink()
    rows = {row.name: row.missing for row in table(installed(find(str(program), {})))}
    assert rows["duplex"] == "minicpmo_4_5_duplex.yaml"
    assert rows["1card"] is rows["duplex-2card"] is None


def test_the_program_is_sought_by_flag_then_image_then_path(tmp_path: Path) -> None:
    image = server_python(tmp_path / "usr" / "local" / "python3.12.13", "0.30")
    other = server_python(tmp_path / "other", "0.26")
    path = {"PATH": str(other.parent)}
    for given, expected in ((str(other), other), (str(tmp_path / "other"), other), (None, image)):
        found = find(given, path, tmp_path)
        assert found is not None
        assert found.path == expected
    elsewhere = find(None, path, tmp_path / "empty")
    assert elsewhere is not None
    assert elsewhere.path == other
    assert find(None, {}, tmp_path / "empty") is None
    assert find(str(tmp_path / "nothing"), path, tmp_path) is None


def test_the_command_prints_a_row_a_layout_and_its_json(tmp_path: Path) -> None:
    program = server_python(tmp_path / "py", "0.26")
    shown = launch("layouts", "--vllm", program, root=tmp_path)
    assert shown.code == 0
    assert all(any(line.startswith(name) for line in shown.text.splitlines()) for name in NAMES)
    assert "0.26.0" in shown.text
    told = launch("layouts", "--vllm", program, "--json", root=tmp_path).json
    assert set(told) == {"version", "line", "deploy", "layouts"}
    assert (told["version"], told["line"]) == ("0.26.0", "0.26")
    assert told["layouts"][0] == {
        "name": "1card",
        "cards": 1,
        "stages": [
            {"stage": 0, "name": "thinker", "cards": [0]},
            {"stage": 1, "name": "talker", "cards": [0]},
            {"stage": 2, "name": "code2wav", "cards": [0]},
        ],
        "session_mode": "turn",
        "limits": {"images": 64, "audios": 64, "videos": 1, "sequences": 4, "sessions": 0},
        "file": f"{told['deploy']}/minicpmo_4_5.yaml",
        "missing": None,
    }
    assert launch("layouts", "--omni", "0.30.2", "--json", root=tmp_path).json["line"] == "0.30"
    assert launch("layouts", "--omni", "one", root=tmp_path).code == 2


def test_a_file_of_the_users_own_is_a_layout_too(tmp_path: Path) -> None:
    file = tmp_path / "mine.yaml"
    file.write_text("base_config: minicpmo_4_5.yaml\nstages: [{stage_id: 1, devices: '3'}]\n")
    found = bare("0.26")
    assert placed(found, str(file)) == "0 3 0"
    with pytest.raises(InputError, match="layout-unknown"):
        layout("4card", found)


def test_versions() -> None:
    assert [numbers(text) for text in ("0.26.0rc1", "0.25.0+npu", "dev")] == [(0, 26, 0), (0, 25, 0), ()]
    assert line_named("0.29").name == "0.26"
    assert json.dumps(sorted(path.name for path in DEPLOY.glob("0.*"))) == '["0.26", "0.30"]'
