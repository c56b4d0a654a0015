"""``python -m launch`` inside the test's process, on a machine of the test's own: nothing of this one's environment
or disk is seen.
"""

from __future__ import annotations

import io
import json
import os
import shutil
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from launch.cli import main

DEPLOY = Path(__file__).resolve().parents[2] / "deploy"


@dataclass(frozen=True)
class Answer:
    """What a command left: its exit code, what it printed, and what it complained of."""

    code: int
    text: str
    errors: str

    @property
    def json(self) -> Any:
        return json.loads(self.text)


def launch(*argv: object, root: Path, environ: Mapping[str, str] | None = None) -> Answer:
    """Run one command. ``root``: its file system, which is also its home and its working directory. Its PATH is empty
    unless ``environ`` gives one.
    """
    printed, failures = io.StringIO(), io.StringIO()
    code = main(list(map(str, argv)), {"HOME": str(root), **(environ or {})}, printed, failures, root, root)
    return Answer(code, printed.getvalue(), failures.getvalue())


def server_python(home: Path, line: str = "0.26", version: str | None = None, *, editable: bool = False) -> Path:
    """A server's Python as far as files go: ``bin/vllm``, and vllm-omni with the deploy files of ``line``. Returns
    ``bin/vllm``.
    """
    sites = home / "lib" / "python3.12" / "site-packages"
    package = (home / "checkout" if editable else sites) / "vllm_omni"
    (package / "deploy").mkdir(parents=True)
    (package / "__init__.py").touch()
    for file in (DEPLOY / line).glob("minicpmo_4_5*.yaml"):
        shutil.copy(file, package / "deploy")
    info = sites / f"vllm_omni-{version or line + '.0'}.dist-info"
    info.mkdir(parents=True)
    (info / "METADATA").write_text(f"Metadata-Version: 2.4\nName: vllm-omni\nVersion: {version or line + '.0'}\n")
    if editable:
        (info / "direct_url.json").write_text(
            json.dumps({"url": (home / "checkout").as_uri(), "dir_info": {"editable": True}})
        )
    program = home / "bin" / "vllm"
    program.parent.mkdir()
    (home / "bin" / "python3").symlink_to(os.path.realpath("/bin/sh"))
    program.write_text(f"#!{home / 'bin' / 'python3'}\n")
    program.chmod(0o755)
    return program
