"""`make real`, with OMNI_VLLM naming a real server's `vllm`: its own loader and parser against what `launch up` decides.

Nothing is served: each test runs the server's Python once, over every layout.
"""

from __future__ import annotations

import io
import json
import os
import subprocess
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from launch import deploy
from launch.command import Request, plan
from launch.deploy_file import DeployFile, open_file, resolve, stages
from launch.here import Here
from launch.knobs import setting
from launch.layouts import NAMES
from launch.loader_keys import from_package, of_line
from launch.output import Output
from launch.server_python import find
from launch.versions import Installed, installed
from launch.yaml_lines import parse_document

LAYOUTS = [name for name in NAMES if name != "rehearsal"]
SETS = (
    *("token2wav_n_timesteps=3", "temperature=0.3", "talker.min_tokens=7", "max_num_batched_tokens=4096"),
    *("max_num_seqs=2", "vocoder.gpu_memory_utilization=0.2", "0.limit_mm_per_prompt.audio=96", "0.block_size=128"),
)
QUIET = {"VLLM_LOGGING_LEVEL": "ERROR", "VLLM_NO_USAGE_STATS": "1", "HF_HUB_OFFLINE": "1"}

LOADER = """
import dataclasses, json, sys
from vllm_omni.config.stage_config import _apply_platform_overrides, load_deploy_config, merge_pipeline_deploy
from vllm_omni.model_executor.models.minicpmo_4_5.pipeline import MINICPMO_4_5_PIPELINE
told = {}
for path in sys.argv[1:]:
    for platform in ("npu", "cuda"):
        config = _apply_platform_overrides(load_deploy_config(path), platform)
        told[path + " " + platform] = {
            "mode": config.session_mode,
            "sessions": config.duplex_session.max_sessions,
            "connectors": config.connectors,
            "stages": {s.stage_id: dataclasses.asdict(s) for s in config.stages},
        }
    merge_pipeline_deploy(MINICPMO_4_5_PIPELINE, load_deploy_config(path))
print("\\n@" + json.dumps(told))
"""
PARSER = """
import argparse, json, sys
from vllm.utils.argparse_utils import FlexibleArgumentParser
from vllm_omni.entrypoints.cli.serve import cmd_init
from vllm_omni.utils.tracking_parser import TrackingArgumentParser
parser = TrackingArgumentParser()
sub = parser.add_subparsers(required=True, dest="subparser")
commands = {command.name: command for command in cmd_init()}
for command in commands.values():
    command.subparser_init(sub).set_defaults(dispatch_function=command.cmd)
told = []
for line in json.loads(sys.argv[1]):
    sys.argv = ["vllm", *line]
    args = parser.parse_args(line)
    commands[args.subparser].validate(args)
    told.append([args.model_tag, args.omni, args.deploy_config, args.port, args.init_timeout, args.interleave_mm_strings])
print("\\n@" + json.dumps(told))
"""


@pytest.fixture(scope="module")
def server() -> Installed:
    program = find(os.environ.get("OMNI_VLLM"), {}) if os.environ.get("OMNI_VLLM") else None
    if program is None:
        pytest.skip("set OMNI_VLLM to a real server's vllm program")
    return installed(program)


def ask(server: Installed, script: str, *argv: str) -> Any:
    """Run ``script`` in the server's Python; its last line that begins with @ is its JSON answer."""
    assert server.program is not None
    line = [str(server.program.python), "-c", script, *argv]
    done = subprocess.run(line, capture_output=True, text=True, env={**os.environ, **QUIET}, timeout=600, check=False)
    assert done.returncode == 0, done.stderr[-3000:]
    return json.loads(done.stdout.rpartition("\n@")[2])


def overlays(server: Installed) -> list[deploy.Overlay]:
    changed = [setting(text, server.line) for text in SETS]
    return [deploy.build(name, server, sets, 96) for name in LAYOUTS for sets in ((), changed)]


def test_the_real_loader_reads_every_overlay_as_we_do(
    server: Installed, tmp_path: Path, say: Callable[[str], None]
) -> None:
    written = {str(deploy.write(each, tmp_path)): each for each in overlays(server)}
    told = ask(server, LOADER, *written)
    compared = 0
    for name, real in told.items():
        path, _, platform = name.rpartition(" ")
        document = parse_document(written[path].text, Path(path))
        ours = resolve(DeployFile(document, open_file(written[path].base)), server.line)
        assert ours.get("session_mode", "turn") == real["mode"]
        assert (ours.get("duplex_session") or {}).get("max_sessions", 1) == real["sessions"]
        assert ours["connectors"] == real["connectors"]
        for number, stage in stages(ours, platform).items():
            seen = real["stages"][str(number)]
            seen = {**seen, **seen["engine_extras"]}
            for key, value in stage.items():
                assert seen.get(key) == value, f"{path} {platform} stage {number} {key}"
                compared += 1
    say(f"vllm-omni {server.version}: {len(written)} overlays, {compared} values read as we say")


def test_the_real_parser_takes_every_start(server: Installed, tmp_path: Path, say: Callable[[str], None]) -> None:
    here = Here(Output("en", True, io.StringIO(), io.StringIO()), {"HOME": str(tmp_path)}, tmp_path)
    assert server.program is not None
    lines = []
    for name in LAYOUTS:
        request = Request(
            layout=name,
            model=str(tmp_path),
            vllm=str(server.program.path),
            media_path=str(tmp_path),
            interleave=True,
            images=96,
            extra=("--load-format", "auto"),
        )
        lines.append(list(plan(request, here).command[1:]))
    told = ask(server, PARSER, json.dumps(lines))
    assert len(told) == len(LAYOUTS)
    for line, (model, omni, file, port, seconds, interleave) in zip(lines, told, strict=True):
        assert [model, omni, port, seconds, interleave] == [str(tmp_path), True, 8091, 1800, True]
        assert file == line[line.index("--deploy-config") + 1]
    say(f"vllm-omni {server.version}: {len(told)} argument lists parsed and validated")


def test_the_lists_of_known_keys_are_the_packages(server: Installed, say: Callable[[str], None]) -> None:
    assert server.program is not None
    real = from_package(server.program)
    assert real is not None
    ours = of_line(server.line.name)
    assert (real.top, real.stage, real.platform, dict(real.duplex)) == (
        ours.top,
        ours.stage,
        ours.platform,
        dict(ours.duplex),
    )
    say(f"vllm-omni {server.version}: {len(ours.stage)} stage keys, {len(ours.duplex)} duplex keys")
