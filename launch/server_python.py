"""The server's program and what is installed beside it, read from files: the server's Python is never started and
nothing of it imported.
"""

from __future__ import annotations

import json
import os
import shutil
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING
from urllib.parse import unquote, urlparse

if TYPE_CHECKING:
    from importlib.metadata import Distribution

# Where the NPU images keep the competition's Python; their /usr/bin/python3 has neither pip nor vLLM.
IMAGE_PYTHON = "/usr/local/python3.12.13"
# `vllm` hands over to vLLM-Omni when it sees --omni; `vllm-omni` is the same door by its own name.
PROGRAMS = ("vllm", "vllm-omni")


@dataclass(frozen=True)
class Package:
    """A distribution in the server's Python. ``folder``: its importable package, or None when it could not be
    located.
    """

    name: str
    version: str
    folder: Path | None


@dataclass(frozen=True)
class ServerProgram:
    """``path``: the program to run. ``python``: its interpreter, or None when its first line does not tell.
    ``sites``: its package folders.
    """

    path: Path
    python: Path | None
    sites: tuple[Path, ...] = ()

    def package(self, name: str) -> Package | None:
        """The distribution ``name`` (any spelling of dashes) in this Python, or None."""
        from importlib.metadata import distributions  # loads half of `email`; most commands need no package

        for dist in distributions(name=name, path=[str(site) for site in self.sites]):
            return Package(name, dist.version, _folder(dist, name.replace("-", "_"), self.sites))
        return None


def find(given: str | None, environ: Mapping[str, str], root: Path = Path("/")) -> ServerProgram | None:
    """The server's program: ``given`` (a file, or the folder of a Python that holds it), else the image's own, else
    the one on PATH.
    """
    path = _given(Path(given).expanduser().absolute()) if given else _known(environ, root)
    if path is None:
        return None
    python = _interpreter(path)
    return ServerProgram(path, python, tuple(_sites(python)) if python else ())


def _given(path: Path) -> Path | None:
    places = [path] if not path.is_dir() else [path / sub / name for sub in ("bin", "") for name in PROGRAMS]
    return next((place for place in places if place.is_file() and os.access(place, os.X_OK)), None)


def _known(environ: Mapping[str, str], root: Path) -> Path | None:
    found = _given(root / IMAGE_PYTHON.lstrip("/")) if (root / IMAGE_PYTHON.lstrip("/")).is_dir() else None
    on_path = (shutil.which(name, path=environ.get("PATH", "")) for name in PROGRAMS)
    return found or next((Path(place).absolute() for place in on_path if place), None)


def _interpreter(program: Path) -> Path | None:
    """The Python in the program's first line; else the one beside it (pip writes a shell line when the path is
    long).
    """
    with program.open("rb") as file:
        first = file.readline(512).decode("utf-8", "replace").strip()
    words = first[2:].split() if first.startswith("#!") else []
    if words and Path(words[0]).name.startswith("python") and Path(words[0]).exists():
        return Path(words[0])
    beside = program.parent / "python3"
    return beside if beside.exists() else None


def _sites(python: Path) -> Iterator[Path]:
    """The package folders of an interpreter. Its links are not followed: a virtual environment's Python is a link out
    of it.
    """
    prefix = python.parent.parent
    for pattern in (
        "lib*/python3*/site-packages",
        "lib*/python3*/dist-packages",
        "local/lib/python3*/dist-packages",
        "lib/python3/dist-packages",
    ):
        yield from sorted(
            place for place in prefix.glob(pattern) if place.is_dir() and not place.parents[1].is_symlink()
        )


def _folder(dist: Distribution, name: str, sites: tuple[Path, ...]) -> Path | None:
    places = [site / name for site in sites]
    source = dist.read_text("direct_url.json")  # `pip install -e .`, as the deployment guide has it
    if source:
        url = urlparse(json.loads(source).get("url", ""))
        if url.scheme == "file":
            checkout = Path(unquote(url.path))
            places += [checkout / name, checkout / "src" / name]
    return next((place for place in places if (place / "__init__.py").is_file()), None)
