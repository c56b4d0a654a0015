"""Each rule of the lint: what it finds, on which line, and what it lets pass."""

from pathlib import Path

import pytest

from launch.errors import InputError
from launch.findings import Finding
from launch.lint.check import lint
from launch.server_python import find
from launch.versions import Installed, installed
from tests.launch.console import DEPLOY, launch, server_python

OVER_ONE = "base_config: minicpmo_4_5.yaml\n"
OVER_DUPLEX = "base_config: minicpmo_4_5_duplex.yaml\n"
CONNECTORS = "connectors:\n  connector_of_shared_memory:\n"


def check(
    text: str, tmp_path: Path, line: str = "0.26", platform: str | None = "npu", cards: list[str] | None = None
) -> list[Finding]:
    file = tmp_path / "deploy.yaml"
    file.write_text(text)
    # Every one-card file has 64 images; that finding has a test of its own.
    return [f for f in lint(file, installed(None, line), platform, cards) if f.id != "images-too-few"]


@pytest.mark.parametrize(
    ("text", "id", "line", "severity"),
    [
        (OVER_ONE + "max_sesions: 2\n", "config-key-dropped", 2, "degraded"),
        (OVER_ONE + "token2wav_n_timesteps: 3\n", "knob-ignored", 2, "degraded"),
        (OVER_ONE + "stages:\n- stage_id: 2\n  token2wav_n_timesteps: 3\n", "knob-ignored", 4, "degraded"),
        (
            OVER_ONE + "stages:\n- stage_id: 1\n  engine_extras:\n    codec_chunk_frames: 9\n",
            "knob-ignored",
            5,
            "degraded",
        ),
        (OVER_ONE + "stages:\n- stage_id: 0\n  temperature: 0.5\n", "knob-misplaced", 4, "degraded"),
        (OVER_ONE + "limit_mm_per_prompt: {image: 96}\n", "knob-misplaced", 2, "degraded"),
        (OVER_ONE + "stages:\n- stage_id: 0\n  session_mode: duplex\n", "knob-misplaced", 4, "degraded"),
        (OVER_ONE + "stages:\n- stage_id: 0\n  max_modle_len: 8\n", "config-key-dropped", 4, "degraded"),
        (OVER_ONE + "platforms:\n  npux:\n    stages: []\n", "config-key-dropped", 3, "degraded"),
        (OVER_ONE + "platforms:\n  npu:\n    connectors: {}\n", "platform-block-ignored", 4, "degraded"),
        (OVER_ONE + "stages:\n- stage_id: 3\n", "stage-unknown", 3, "degraded"),
        (OVER_ONE + "stages:\n- devices: '0'\n", "stage-unknown", 3, "fatal"),
        (OVER_ONE + "async_chunk: true\nasync_chunk: false\n", "config-key-twice", 3, "fatal"),
        (OVER_ONE + "session_mode: full\n", "config-bad-value", 2, "fatal"),
        (OVER_ONE + "stages:\n- stage_id: 0\n  max_num_seqs: four\n", "config-bad-value", 4, "fatal"),
        (OVER_ONE + "stages:\n- stage_id: 0\n  devices: [0, 1]\n", "config-bad-value", 4, "fatal"),
        (OVER_ONE + "stages:\n- stage_id: 0\n  devices: 0-3\n", "card-number", 4, "fatal"),
        (OVER_ONE + "stages:\n- stage_id: 0\n  devices: '0,0'\n  tensor_parallel_size: 2\n", "card-twice", 4, "fatal"),
        (
            OVER_ONE + "stages:\n- stage_id: 0\n  devices: '0'\n  tensor_parallel_size: 2\n",
            "cards-not-ranks",
            4,
            "fatal",
        ),
        (OVER_ONE + "stages:\n- stage_id: 0\n  devices: '0,1,2'\n", "cards-not-ranks", 4, "degraded"),
        (OVER_ONE + "stages:\n- stage_id: 1\n  gpu_memory_utilization: 0.5\n", "card-overbooked", None, "fatal"),
        (OVER_ONE + "stages:\n- stage_id: 0\n  max_num_seqs: 8\n", "one-card-sequences", 4, "degraded"),
        (OVER_DUPLEX + "duplex_session: {max_sesions: 2, max_sessions: 2}\n", "duplex-key-unknown", 2, "fatal"),
        (OVER_DUPLEX + "duplex_session: {max_sessions: 0}\n", "config-bad-value", 2, "fatal"),
        (OVER_DUPLEX + "duplex_session: {max_sessions: 4}\n", "sessions-unequal", 2, "degraded"),
        (OVER_DUPLEX + "stages:\n- stage_id: 1\n  max_num_seqs: 4\n", "sessions-unequal", None, "degraded"),
        (OVER_ONE + CONNECTORS + "    extra: {token2wav_n_timesteps: 3}\n", "block-replaced", 3, "fatal"),
        (OVER_ONE + "stages:\n- stage_id: 0\n  limit_mm_per_prompt: {image: 96}\n", "block-replaced", 4, "degraded"),
        (OVER_ONE + "stages:\n- stage_id: 0\n  max_num_batched_tokens: 4096\n", "platform-overrules", 4, "degraded"),
    ],
)
def test_what_is_wrong_is_found_where_it_stands(
    text: str, id: str, line: int | None, severity: str, tmp_path: Path
) -> None:
    found = [f for f in check(text, tmp_path) if f.id == id]
    assert found, [f.id for f in check(text, tmp_path)]
    assert found[0].tell("en").severity == severity
    if line is not None:
        assert (found[0].line, found[0].file) == (line, str(tmp_path / "deploy.yaml"))
    for tongue in ("zh", "en"):
        told = found[0].tell(tongue)
        assert told.what
        assert told.cause
        assert told.cure
        assert "{" not in told.what + told.cause
        assert "—" not in told.what, "a fact is missing"


def test_a_partial_connector_block_is_lost_on_026_and_merged_from_030(tmp_path: Path) -> None:
    text = OVER_ONE + CONNECTORS + "    name: SharedMemoryConnector\n    extra:\n      token2wav_n_timesteps: 3\n"
    lost = [f for f in check(text, tmp_path) if f.id == "block-replaced"]
    assert "codec_chunk_frames: 25" in str(lost[0].facts["lost"])
    assert check(text, tmp_path, "0.30") == []


def test_a_dead_knob_weighs_only_when_somebody_tuned_it(tmp_path: Path) -> None:
    extra = "{connector_get_sleep_s: %s, codec_chunk_frames: 25, codec_left_context_frames: 3}"
    whole = f"{OVER_ONE}{CONNECTORS}    name: SharedMemoryConnector\n    extra: {extra}\n"
    assert [(f.id, f.tell("en").severity) for f in check(whole % 0.01, tmp_path)] == [("knob-dead", "harmless")]
    assert [(f.id, f.tell("en").severity) for f in check(whole % 0.001, tmp_path)] == [("knob-dead", "degraded")]


def test_only_a_platform_that_runs_here_overrules(tmp_path: Path) -> None:
    text = OVER_ONE + "stages:\n- stage_id: 0\n  max_num_batched_tokens: 4096\n"
    assert [f.id for f in check(text, tmp_path, platform="cuda")] == []
    answered = text + "platforms:\n  npu:\n    stages:\n    - stage_id: 0\n      max_num_batched_tokens: 4096\n"
    assert check(answered, tmp_path) == []


def test_cards_are_counted_inside_the_visible_ones(tmp_path: Path) -> None:
    text = "base_config: minicpmo_4_5_3gpu.yaml\n"
    assert [f.id for f in check(text, tmp_path, platform="cuda", cards=["4", "5", "6"])] == []
    beyond = check(text, tmp_path, platform="cuda", cards=["4", "5"])
    assert [(f.id, f.facts["card"], f.facts["visible"]) for f in beyond] == [("card-beyond", "2", 2)]


def test_upstreams_three_and_eight_card_files_lack_an_npu_section(tmp_path: Path) -> None:
    assert [f.id for f in check("base_config: minicpmo_4_5_3gpu.yaml\n", tmp_path)] == ["npu-section-missing"]
    assert check("base_config: minicpmo_4_5_3gpu.yaml\n", tmp_path, platform="cuda") == []
    assert check("base_config: minicpmo_4_5_3gpu.yaml\n", tmp_path, "0.30") == []
    assert check("base_config: minicpmo_4_5_8x4090.yaml\n", tmp_path) == []  # eager: nothing is compiled


def test_026s_stop_id_silences_030(tmp_path: Path) -> None:
    text = OVER_ONE + "stages:\n- stage_id: 1\n  default_sampling_params: {stop_token_ids: [1]}\n"
    assert check(text, tmp_path) == []
    assert [(f.id, f.line) for f in check(text, tmp_path, "0.30")] == [("talker-stop-id", 4)]


def test_images_below_video_mme(tmp_path: Path) -> None:
    file = tmp_path / "deploy.yaml"
    for text, few in ((OVER_ONE, True), ("base_config: minicpmo_4_5_2gpu.yaml\n", False)):
        file.write_text(text)
        assert ("images-too-few" in {f.id for f in lint(file, installed(None, "0.26"), "npu")}) is few
    file.write_text(OVER_ONE + "stages:\n- stage_id: 0\n  limit_mm_per_prompt: {image: 96, audio: 96, video: 1}\n")
    assert lint(file, installed(None, "0.26"), "npu") == []


@pytest.mark.parametrize("value", ["${oc.env:MODEL_DEVICES,0}", "'0'", "0", "cpu", "null"])
def test_values_the_loader_takes(value: str, tmp_path: Path) -> None:
    assert check(OVER_ONE + f"stages:\n- stage_id: 2\n  devices: {value}\n", tmp_path) == []


@pytest.mark.parametrize(
    "key", ["kv_cache_memory_bytes: 1000", "hf_overrides: {}", "additional_config: {a: 1}", "env: {A: b}"]
)
def test_engine_arguments_pass(key: str, tmp_path: Path) -> None:
    assert check(OVER_ONE + f"stages:\n- stage_id: 2\n  {key}\n", tmp_path) == []


def test_the_installed_packages_own_keys_decide(tmp_path: Path) -> None:
    """A branch ahead of its release knows keys that the release's list does not."""
    program = server_python(tmp_path / "py", "0.26")
    sites = program.parents[1] / "lib" / "python3.12" / "site-packages"
    config = sites / "vllm_omni" / "config"
    config.mkdir()
    (config / "stage_config.py").write_text(
        "class StageDeployConfig:\n    stage_id: int\n    devices: str\n    brand_new: int = 1\n"
        "class DuplexSessionRuntimeConfig:\n    max_sessions: int = 1\n    bytes: int = 8 * 1024\n"
        "class DeployConfig:\n    stages: list\n    pipeline: str\n"
    )
    for folder in ("vllm/engine", "vllm_omni/engine"):
        (sites / folder).mkdir(parents=True)
    (sites / "vllm" / "engine" / "arg_utils.py").write_text("class EngineArgs:\n    seed: int = 0\n")
    (sites / "vllm_omni" / "engine" / "arg_utils.py").write_text(
        "class OmniEngineArgs(EngineArgs):\n    omni: bool = False\n"
    )
    file = tmp_path / "mine.yaml"
    file.write_text("base_config: minicpmo_4_5.yaml\nstages:\n- stage_id: 0\n  brand_new: 3\n  newer_still: 4\n")
    found: Installed = installed(find(str(program), {}))
    dropped = [f.facts["key"] for f in lint(file, found, "npu") if f.id == "config-key-dropped"]
    assert dropped == ["newer_still"]


@pytest.mark.parametrize(
    ("text", "id"),
    [
        ("a: [", "config-not-yaml"),
        ("- a", "config-not-yaml"),
        ("base_config: nowhere.yaml\n", "file-not-found"),
        ("", None),
    ],
)
def test_a_file_that_is_none(text: str, id: str | None, tmp_path: Path) -> None:
    file = tmp_path / "deploy.yaml"
    file.write_text(text)
    if id is None:
        assert lint(file, installed(None, "0.26")) == []
        return
    with pytest.raises(InputError) as refused:
        lint(file, installed(None, "0.26"))
    assert refused.value.key == id


def test_bases_that_go_in_a_circle(tmp_path: Path) -> None:
    (tmp_path / "a.yaml").write_text("base_config: b.yaml\n")
    (tmp_path / "b.yaml").write_text("base_config: a.yaml\n")
    with pytest.raises(InputError, match="config-not-yaml"):
        lint(tmp_path / "a.yaml", installed(None, "0.26"))


def test_the_command_and_its_json(tmp_path: Path) -> None:
    file = tmp_path / "deploy.yaml"
    file.write_text(OVER_ONE + "stages:\n- stage_id: 2\n  token2wav_n_timesteps: 3\n")
    shown = launch("lint", file, "--lang", "zh", root=tmp_path)
    assert shown.code == 1
    assert f"{file}:4" in shown.text
    assert "connectors.<name>.extra.token2wav_n_timesteps" in shown.text
    told = launch("lint", file, "--json", "--omni", "0.26", root=tmp_path).json
    assert set(told) == {"file", "version", "line", "findings"}
    first = told["findings"][0]
    assert set(first) == {"id", "severity", "what", "cause", "cure", "file", "line"}
    assert (first["id"], first["line"], first["severity"]) == ("knob-ignored", 4, "degraded")
    clean = DEPLOY / "0.26" / "2card.yaml"
    assert launch("lint", clean, root=tmp_path).code == 0
    assert launch("lint", tmp_path / "none.yaml", "--json", root=tmp_path).json["error"]["id"] == "file-not-found"
    assert launch("lint", clean, "--cards", "0", root=tmp_path).code == 1
    assert launch("lint", clean, "--cards", "0-3", root=tmp_path).code == 2
