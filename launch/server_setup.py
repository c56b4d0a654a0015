"""What the deployment guide installs into the server's Python (§3, §4) and the weights it fetches (§5)."""

from __future__ import annotations

import re
from pathlib import Path
from urllib.parse import urlsplit

from launch.errors import InputError
from launch.server_python import IMAGE_PYTHON, ServerProgram
from launch.steps import Step, pip

CHALLENGE = "minicpm-challenge"
REPOSITORIES = {
    "github": "https://github.com/vllm-project/vllm-omni.git",
    "gitclone": "https://gitclone.com/github.com/vllm-project/vllm-omni.git",
    "ghproxy": "https://ghproxy.net/https://github.com/vllm-project/vllm-omni.git",
}
# The guide's: a moving branch has no tag from which a version could be told.
_PRETENDED = {"SETUPTOOLS_SCM_PRETEND_VERSION": "0.25.0"}
_BRANCH = re.compile(r"[A-Za-z0-9][A-Za-z0-9._/-]*")
_SMALLEST_SHARD = 1 << 20  # an LFS pointer has about 135 bytes


def install_steps(
    program: ServerProgram | None, folder: Path, branch: str, mirror: str, index: str | None
) -> list[Step]:
    """§3 and §4 in order. ``folder``: where the source goes. Raises ``InputError`` for a branch or an index that is
    none.
    """
    if not _BRANCH.fullmatch(branch):
        raise InputError("branch-unreadable", given=branch)
    index, python = checked_index(index), server_python(program)
    omni = program.package("vllm-omni") if program else None
    from_source = omni is not None and omni.folder is not None and omni.folder.is_relative_to(folder)
    # Without --no-deps step-audio2 would replace the image's torch and torch_npu.
    bare = ("step-audio2", "s3tokenizer")
    return [
        Step("token2wav", pip(python, ["stepaudio2-minicpmo"], index), _has(program, "stepaudio2-minicpmo")),
        Step("vocoder", pip(python, bare, index, "--no-deps"), all(_has(program, name) for name in bare)),
        Step(
            "clone",
            ("git", "clone", REPOSITORIES[mirror], "-b", branch, str(folder)),
            (folder / "pyproject.toml").is_file(),
        ),
        Step("omni", pip(python, ["-e", str(folder)], index), from_source, _PRETENDED),
    ]


def weights_steps(program: ServerProgram | None, folder: Path, source: str, index: str | None) -> list[Step]:
    """§5: the hub's client, then the model into ``folder``."""
    index, python = checked_index(index), server_python(program)
    tools, whole = Path(python).parent, is_whole(folder)
    client, command = {
        "modelscope": (
            "modelscope",
            (str(tools / "modelscope"), "download", "--model", "OpenBMB/MiniCPM-o-4_5", "--local_dir", str(folder)),
        ),
        "huggingface": (
            "huggingface_hub",
            (str(tools / "hf"), "download", "openbmb/MiniCPM-o-4_5", "--local-dir", str(folder)),
        ),
    }[source]
    return [
        Step("client", pip(python, [client], index), whole or _has(program, client)),
        Step("download", command, whole),
    ]


def is_whole(folder: Path) -> bool:
    """Whether the model's folder has what a start needs: every shard its index names (no LFS pointers), the vocoder's
    files, the reference voice.
    """
    listing = folder / "model.safetensors.index.json"
    if not (folder / "config.json").is_file() or not listing.is_file():
        return False
    shards = set(re.findall(r'"([^"/\\]+\.safetensors)"', listing.read_text(encoding="utf-8", errors="replace")))
    vocoder = [folder / "assets" / "token2wav" / name for name in ("flow.pt", "hift.pt")]
    heavy = [*(folder / shard for shard in shards), *vocoder]
    return (
        bool(shards)
        and all(file.is_file() and file.stat().st_size > _SMALLEST_SHARD for file in heavy)
        and (folder / "assets" / "HT_ref_audio.wav").is_file()
    )


def server_python(program: ServerProgram | None) -> str:
    """The server's interpreter; the image's where no server is installed on this machine."""
    return str(program.python) if program and program.python else f"{IMAGE_PYTHON}/bin/python3"


def checked_index(index: str | None) -> str | None:
    """A package index as pip takes it. Raises ``InputError`` for what is no web address."""
    place = urlsplit(index or "")
    if index and not (place.scheme in ("http", "https") and place.netloc):
        raise InputError("index-unreadable", given=index)
    return index


def _has(program: ServerProgram | None, name: str) -> bool:
    return program is not None and program.package(name) is not None
