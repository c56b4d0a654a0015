"""The frame: languages, exit codes, JSON, help, lower layers of options, and that nothing heavy is loaded."""

import ast
import string
import subprocess
import sys
from pathlib import Path

import pytest

from launch.cli import COMMANDS
from launch.faults import catalogue
from launch.texts import language, texts
from tests.launch.console import launch

ROOT = Path(__file__).resolve().parents[2]
BUILT = [name for name, module in COMMANDS.items() if (ROOT / "launch" / "commands" / f"{module}.py").is_file()]


def fields(sentence: str) -> set[str]:
    return {name for _, name, _, _ in string.Formatter().parse(sentence) if name}


def test_both_languages_say_the_same_things() -> None:
    zh, en = texts("zh"), texts("en")
    assert set(zh) == set(en)
    assert {key: fields(zh[key]) for key in zh} == {key: fields(en[key]) for key in en}


def test_every_sentence_a_command_names_is_there() -> None:
    missing = []
    for path in (ROOT / "launch").glob("**/*.py"):
        if "rehearsal" in path.parts:
            continue
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
            named = (
                isinstance(node, ast.Call)
                and isinstance(node.func, ast.Attribute)
                and node.func.attr in ("say", "text")
            )
            if named and node.args and isinstance(node.args[0], ast.Constant) and "." in str(node.args[0].value):
                key = str(node.args[0].value)
                missing += [] if key in texts("en") else [f"{path.name}: {key}"]
    assert not missing


def test_every_fault_that_is_raised_or_found_is_in_the_catalogue() -> None:
    makers = {"InputError", "LaunchError", "Finding", "at", "finding"}
    missing = []
    for path in (ROOT / "launch").glob("**/*.py"):
        if "rehearsal" in path.parts:
            continue
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
            if not isinstance(node, ast.Call) or not node.args or not isinstance(node.args[0], ast.Constant):
                continue
            maker = node.func.id if isinstance(node.func, ast.Name) else getattr(node.func, "attr", "")
            if maker in makers and node.args[0].value not in catalogue():
                missing.append(f"{path.name}: {node.args[0].value}")
    assert not missing


def test_the_catalogue_says_cause_and_cure_in_both_languages_with_the_same_facts() -> None:
    for fault in catalogue().values():
        for sentences in (fault.cause, fault.cure, *([fault.what] if fault.what else [])):
            assert set(sentences) == {"zh", "en"}
            assert all(sentences.values())
        if fault.what:  # a finding: its sentences are filled in
            assert fields(fault.what["zh"]) == fields(fault.what["en"])
            assert all(fields(text) is not None for text in (*fault.cause.values(), *fault.cure.values()))


@pytest.mark.parametrize("name", BUILT)
@pytest.mark.parametrize("tongue", ["zh", "en"])
def test_each_command_explains_each_of_its_options(name: str, tongue: str, tmp_path: Path) -> None:
    page = launch(name, "--help", "--lang", tongue, root=tmp_path)
    assert page.code == 0
    assert page.text.startswith(f"python -m launch {name}")
    assert texts(tongue)[f"help.{name}.about"] in page.text
    described = launch(name, "--help", "--lang", tongue, "--json", root=tmp_path).json
    assert all(described["options"].values())


def test_the_overview_names_every_command(tmp_path: Path) -> None:
    shown = launch("--help", root=tmp_path)
    assert shown.code == 0
    assert all(name in shown.text for name in COMMANDS)
    assert launch(root=tmp_path).code == 2


@pytest.mark.parametrize(
    ("argv", "words"),
    [
        (["layout"], "layouts"),
        (["layouts", "--fool"], "--fool"),
        (["up", "--port", "high", "--layout", "1card"], "--port"),
        (["lint"], "FILE"),
        (["--lang", "fr", "layouts"], "fr"),
    ],
)
@pytest.mark.parametrize("tongue", ["zh", "en"])
def test_a_command_line_that_is_not_understood(argv: list[str], words: str, tongue: str, tmp_path: Path) -> None:
    told = launch(*argv, root=tmp_path, environ={"OMNI_LANG": tongue})
    assert (told.code, told.text) == (2, "")
    assert words in told.errors
    assert "python -m launch" in told.errors
    assert "Error" not in told.errors
    as_json = launch(*argv, "--json", root=tmp_path, environ={"OMNI_LANG": tongue})
    assert as_json.json["error"]["id"] == "command-line"
    assert as_json.errors == ""


@pytest.mark.parametrize(
    ("environ", "flag", "expected"),
    [
        ({"LANG": "zh_CN.UTF-8"}, None, "zh"),
        ({"LANG": "zh_CN.UTF-8", "LC_ALL": "C"}, None, "en"),
        ({"LANG": "C"}, "zh", "zh"),
        ({"OMNI_LANG": "zh", "LC_ALL": "en_US.UTF-8"}, None, "zh"),
        ({}, None, "en"),
    ],
)
def test_the_language_is_the_flags_then_ours_then_the_shells(
    environ: dict[str, str], flag: str | None, expected: str
) -> None:
    assert language(environ, flag) == expected


def test_options_come_from_the_environment_and_omni_yaml_below_the_flags(tmp_path: Path) -> None:
    (tmp_path / "omni.yaml").write_text("lang: zh\nup:\n  layout: 2card\n  model: org/name\n  port: 9000\n")
    plan = launch("up", "--dry-run", "--json", root=tmp_path).json
    assert (plan["layout"]["name"], plan["url"]) == ("2card", "http://127.0.0.1:9000")
    plan = launch("up", "--dry-run", "--json", root=tmp_path, environ={"OMNI_UP_PORT": "9001"}).json
    assert plan["url"] == "http://127.0.0.1:9001"
    plan = launch("up", "--dry-run", "--json", "--port", "9002", root=tmp_path, environ={"OMNI_UP_PORT": "9001"}).json
    assert plan["url"] == "http://127.0.0.1:9002"
    (tmp_path / "omni.yaml").write_text("up: [\n")
    broken = launch("up", "--dry-run", "--json", root=tmp_path)
    assert (broken.code, broken.json["error"]["id"]) == (2, "config-not-yaml")


def test_a_reader_that_goes_away_is_no_failure() -> None:
    line = [sys.executable, "-m", "launch", "--help"]
    with subprocess.Popen(line, stdout=subprocess.PIPE, stderr=subprocess.PIPE, cwd=ROOT) as running:
        assert running.stdout is not None
        running.stdout.close()
        assert running.stderr is not None
        assert running.stderr.read() == b""


def test_a_light_command_loads_nothing_heavy() -> None:
    """``status`` must answer in about the time that typer alone takes to load."""
    code = (
        "import io, sys; from launch.cli import main; main(['layouts'], {}, io.StringIO());"
        "heavy = {'gradio', 'httpx', 'rich', 'numpy', 'pydantic', 'openai', 'asyncio', 'torch', 'typer'};"
        "print(sorted(heavy & set(sys.modules)))"
    )
    done = subprocess.run([sys.executable, "-c", code], cwd=ROOT, capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "[]"
