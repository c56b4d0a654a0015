"""A log under change."""

from pathlib import Path

from launch.log_file import LogFile


def test_new_lines_as_they_come_whole(tmp_path: Path) -> None:
    path = tmp_path / "log"
    with LogFile(path) as log:
        assert log.lines() == []
        path.write_bytes(b"one\ntw")
        assert log.lines() == [b"one"]
        with path.open("ab") as file:
            file.write(b"o\nthree\n")
        assert log.lines() == [b"two", b"three"]
        assert log.lines() == []


def test_a_log_that_is_cut_begins_anew(tmp_path: Path) -> None:
    path = tmp_path / "log"
    path.write_bytes(b"long before\n")
    with LogFile(path) as log:
        assert log.lines() == [b"long before"]
        path.write_bytes(b"new\n")
        assert log.lines() == [b"new"]


def test_a_log_whose_name_is_gone_is_read_where_it_is_held_open(tmp_path: Path) -> None:
    path = tmp_path / "log"
    with path.open("wb", buffering=0) as held:
        held.write(b"before\n")
        path.rename(tmp_path / "log.1")
        path.write_bytes(b"a stranger's\n")
        with LogFile(path, Path(f"/proc/self/fd/{held.fileno()}")) as log:
            assert log.lines() == [b"before"]
            held.write(b"after\n")
            assert log.lines() == [b"after"]


def test_the_last_lines(tmp_path: Path) -> None:
    path = tmp_path / "log"
    text = [b"%d" % number + b"x" * 5000 for number in range(1000)]
    path.write_bytes(b"\n".join(text) + b"\n")
    for count in (1, 3, 300, 999, 1000, 2000):
        with LogFile(path, last=count) as log:
            assert log.lines() == text[-count:]
