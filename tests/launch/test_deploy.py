"""What `--set` writes: each value where the server reads it, through the real loader's merge rules."""

from pathlib import Path
from typing import Any

import pytest
import yaml

from launch.deploy import Overlay, build, write
from launch.deploy_file import DeployFile, connector, open_file, resolve, stages
from launch.errors import InputError
from launch.knobs import KNOBS, setting
from launch.layouts import NAMES
from launch.lint.check import lint, lint_overlay
from launch.versions import installed
from launch.yaml_lines import parse_document
from tests.launch.console import launch

LINES = ["0.26", "0.30"]
REAL = [name for name in NAMES if name != "rehearsal"]


def overlay(layout: str, line: str, *sets: str, images: int | None = None) -> Overlay:
    here = installed(None, line)
    return build(layout, here, [setting(text, here.line) for text in sets], images)


def merged(written: Overlay, line: str) -> dict[str, Any]:
    """What the server will run with."""
    here = installed(None, line)
    base = open_file(written.base, (here.line.folder,))
    return resolve(DeployFile(parse_document(written.text, Path("o.yaml")), base), here.line)


@pytest.mark.parametrize("line", LINES)
@pytest.mark.parametrize("layout", REAL)
def test_every_layout_is_clean_for_its_loader(layout: str, line: str) -> None:
    """As written by `up`, and as the file lies in deploy/; 64 images are enough for all but Video-MME."""
    here = installed(None, line)
    written = overlay(layout, line, images=96)
    assert [f.id for f in lint_overlay(written, here, "npu") if f.severity != "harmless"] == []
    found = lint(here.line.folder / f"{layout}.yaml", here, "npu")
    assert {f.id for f in found if f.severity != "harmless"} <= {"images-too-few"}
    assert yaml.safe_load(written.text)["base_config"].startswith("/")


@pytest.mark.parametrize("layout", REAL)
def test_every_layout_has_an_npu_section_where_it_compiles(layout: str) -> None:
    for line in LINES:
        run = stages(merged(overlay(layout, line), line), "npu")
        for number in (0, 1):
            assert run[number]["compilation_config"] == {"cudagraph_mode": "PIECEWISE"}
            assert run[number]["max_num_batched_tokens"] == 8192
            assert run[number]["enforce_eager"] is False


@pytest.mark.parametrize("line", LINES)
def test_the_vocoders_steps_go_into_a_whole_connector_block(line: str) -> None:
    written = overlay("2card", line, "token2wav_n_timesteps=3")
    block = yaml.safe_load(written.text)["connectors"]["connector_of_shared_memory"]
    assert block["name"] == "SharedMemoryConnector"
    assert block["extra"]["token2wav_n_timesteps"] == 3
    assert block["extra"]["codec_chunk_frames"] == 25  # the rest of the base's block stays: 0.26 would lose it
    assert connector(merged(written, line))[1]["extra"]["token2wav_n_timesteps"] == 3
    assert written.changes[0].path == "connectors.connector_of_shared_memory.extra.token2wav_n_timesteps"
    assert (written.changes[0].before, written.changes[0].after) == (None, 3)


@pytest.mark.parametrize(
    ("text", "stage", "path", "value"),
    [
        ("temperature=0.7", 0, ("default_sampling_params", "temperature"), 0.7),
        ("repetition_penalty=1.05", 0, ("default_sampling_params", "repetition_penalty"), 1.05),
        ("talker.min_tokens=10", 1, ("default_sampling_params", "min_tokens"), 10),
        ("image=96", 0, ("limit_mm_per_prompt", "image"), 96),
        ("0.gpu_memory_utilization=0.5", 0, ("gpu_memory_utilization",), 0.5),
        ("vocoder.enforce_eager=false", 2, ("enforce_eager",), False),
        ("max_model_len=8192", 0, ("max_model_len",), 8192),
        ("interleave_mm_strings=true", 0, ("interleave_mm_strings",), True),
        ("1.devices=0", 1, ("devices",), "0"),
        ("0.block_size=128", 0, ("block_size",), 128),
        ("stages.0.limit_mm_per_prompt.audio=96", 0, ("limit_mm_per_prompt", "audio"), 96),
    ],
)
@pytest.mark.parametrize("line", LINES)
def test_a_stages_knob_reaches_its_stage(
    text: str, stage: int, path: tuple[str, ...], value: object, line: str
) -> None:
    before = stages(merged(overlay("1card", line), line), "npu")
    after = stages(merged(overlay("1card", line, text), line), "npu")
    node: Any = after[stage]
    for key in path:
        node = node[key]
    assert node == value
    lost = {key: before[number][key] for number in before for key in before[number] if key not in after[number]}
    assert not lost
    if len(path) == 2:
        inner = before[stage].get(path[0], {})
        assert all(after[stage][path[0]][key] == inner[key] for key in inner if key != path[1])


def test_a_value_that_a_platform_overrules_is_written_there_too() -> None:
    for text in ("max_num_batched_tokens=4096", "0.compilation_config=null"):
        name, _, value = text.partition("=")
        key = name.split(".")[-1]
        run = stages(merged(overlay("3card", "0.26", text), "0.26"), "npu")
        assert run[0][key] == yaml.safe_load(value)
        assert run[1][key] != yaml.safe_load(value)


@pytest.mark.parametrize("text", ["max_sessions=1", "max_num_seqs=1"])
def test_sessions_and_sequences_stay_equal(text: str) -> None:
    for layout in ("duplex", "duplex-2card"):
        for line in LINES:
            whole = merged(overlay(layout, line, text), line)
            assert whole["duplex_session"]["max_sessions"] == 1
            assert {stage["max_num_seqs"] for stage in stages(whole, "npu").values()} == {1}
    turn = merged(overlay("1card", "0.26", text), "0.26")
    assert "duplex_session" not in turn


def test_a_duplex_key_keeps_its_block() -> None:
    whole = merged(overlay("duplex", "0.26", "idle_ttl_s=60"), "0.26")["duplex_session"]
    assert (whole["idle_ttl_s"], whole["max_sessions"], whole["disconnect_grace_s"]) == (60, 2, 30)


def test_images_keep_the_other_limits() -> None:
    run = stages(merged(overlay("1card", "0.26", images=96), "0.26"), "npu")
    assert run[0]["limit_mm_per_prompt"] == {"image": 96, "audio": 64, "video": 1}


@pytest.mark.parametrize("knob", sorted(KNOBS))
@pytest.mark.parametrize("line", LINES)
def test_no_known_knob_is_dropped_by_the_loader(knob: str, line: str) -> None:
    entry = KNOBS[knob]
    here = installed(None, line)
    if entry.place == "connector" and knob not in here.line.extra:
        with pytest.raises(InputError, match="set-unknown"):
            setting(f"{knob}=1", here.line)
        return
    value = {"true/false": "true", "text": "turn" if knob == "session_mode" else "0", "any": "[2]"}.get(entry.kind, "4")
    named = f"0.{knob}" if entry.stage is None and entry.place in ("stage", "sampling") else knob
    if knob in ("warmup_frames", "server_vad_model_path") and line == "0.26":
        return  # 0.30's; 0.26 is told by the lint below
    found = lint_overlay(overlay("duplex-2card", line, f"{named}={value}"), here, "npu")
    ignored = {"config-key-dropped", "knob-ignored", "knob-misplaced", "duplex-key-unknown", "config-bad-value"}
    assert not [f for f in found if f.id in ignored]


@pytest.mark.parametrize(
    ("text", "id"),
    [
        ("connector_get_sleep_s=0.001", "knob-dead"),
        ("token2wav_n_timestep=3", "set-unknown"),
        ("enable_cfm_graph=true", "set-unknown"),
        ("gpu_memory_utilization=0.9", "set-stage-needed"),
        ("token2wav_n_timesteps=two", "set-wrong-kind"),
        ("token2wav_n_timesteps=true", "set-wrong-kind"),
        ("token2wav_n_timesteps=2", "set-too-small"),
        ("token2wav_n_timesteps", "set-unreadable"),
        ("=3", "set-unreadable"),
        ("temperature={", "set-unreadable"),
    ],
)
def test_a_setting_that_cannot_work_is_refused_in_words(text: str, id: str) -> None:
    with pytest.raises(InputError) as refused:
        setting(text, installed(None, "0.26").line)
    assert refused.value.key == id


def test_writing_is_whole_and_named_after_its_content(tmp_path: Path) -> None:
    one, other = overlay("1card", "0.26"), overlay("1card", "0.26", "temperature=0.5")
    first, second = write(one, tmp_path / "deploy"), write(other, tmp_path / "deploy")
    assert first != second
    assert write(one, tmp_path / "deploy") == first
    assert first.read_text() == one.text
    assert sorted(tmp_path.joinpath("deploy").iterdir()) == sorted([first, second])
    assert (tmp_path / "deploy").stat().st_mode & 0o077 == 0


def test_set_prints_an_overlay_that_can_be_redirected(tmp_path: Path) -> None:
    shown = launch("set", "duplex", "token2wav_n_timesteps=3", "max_sessions=1", root=tmp_path)
    assert (shown.code, shown.errors) == (0, "")
    assert yaml.safe_load(shown.text)["duplex_session"]["max_sessions"] == 1
    told = launch("set", "duplex", "token2wav_n_timesteps=3", "--json", root=tmp_path).json
    assert set(told) == {"base", "file", "text", "changes", "findings"}
    kept = launch("set", "1card", "temperature=0.5", "--to", tmp_path / "x.yaml", root=tmp_path)
    assert kept.code == 0
    assert launch("lint", tmp_path / "x.yaml", "--json", root=tmp_path).json["findings"][0]["id"] == "images-too-few"


def test_set_alone_lists_every_knob_and_its_place(tmp_path: Path) -> None:
    told = launch("set", "--json", root=tmp_path).json
    places = {knob["name"]: knob["where"] for knob in told["knobs"]}
    assert places["token2wav_n_timesteps"] == "connectors.<name>.extra.token2wav_n_timesteps"
    assert places["image"] == "stages[0].limit_mm_per_prompt.image"
    assert told["dead"] == ["connector_get_max_wait", "connector_get_max_wait_first_chunk", "connector_get_sleep_s"]
    assert launch("set", "token2wav_n_timesteps=3", root=tmp_path).code == 2
