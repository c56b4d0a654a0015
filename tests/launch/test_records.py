"""The state file: whole or not at all, ignored when damaged, one `launch` at a time on a port."""

import os
from dataclasses import replace
from pathlib import Path

import pytest

from launch.errors import LaunchError
from launch.processes import Identity
from launch.records import Record, Records

RECORD = Record(
    id="20261130-101500-8091",
    port=8091,
    url="http://127.0.0.1:8091",
    layout="1card",
    model="m",
    version=None,
    stages={"0": "0"},
    request={"layout": "1card"},
    command=("vllm", "serve"),
    log="/state/logs/a.log",
    started_at=1.5,
    process=Identity(5, 6, "boot"),
)


def test_a_record_comes_back_as_it_was(tmp_path: Path) -> None:
    tmp_path = tmp_path / "not" / "there"
    records = Records(tmp_path)
    records.save(replace(RECORD, port=9000, process=None))
    records.save(RECORD)
    assert records.all() == ([RECORD, replace(RECORD, port=9000, process=None)], [])
    assert records.get(8091) == RECORD
    assert records.get(1) is None
    assert os.stat(tmp_path.parent).st_mode & 0o777 == 0o700
    assert os.stat(tmp_path / "servers").st_mode & 0o777 == 0o700
    assert os.stat(tmp_path / "servers" / "8091.json").st_mode & 0o777 == 0o600


@pytest.mark.parametrize(
    "text", ["", "{", "[]", "null", '{"port": 8091}', "\x00\x00", '{"process": null, "command": []}']
)
def test_what_is_no_record_is_named_and_not_used(text: str, tmp_path: Path) -> None:
    records = Records(tmp_path)
    records.save(RECORD)
    damaged = tmp_path / "servers" / "9000.json"
    damaged.write_text(text)
    assert records.all() == ([RECORD], [damaged])
    assert records.get(9000) is None


def test_every_cut_of_a_record_is_damage_and_no_crash(tmp_path: Path) -> None:
    records = Records(tmp_path)
    records.save(RECORD)
    path = tmp_path / "servers" / "8091.json"
    whole = path.read_bytes()
    for length in range(len(whole)):
        path.write_bytes(whole[:length])
        assert records.all() == ([], [path])


def test_a_full_disk_leaves_the_old_record(tmp_path: Path) -> None:
    records = Records(tmp_path)
    records.save(RECORD)
    (tmp_path / "servers" / f"8091.{os.getpid()}").symlink_to("/dev/full")
    with pytest.raises(LaunchError) as told:
        records.save(replace(RECORD, stopped=True))
    assert told.value.key == "state-not-written"
    assert "space" in str(told.value.facts["reason"])
    assert records.get(8091) == RECORD
    assert sorted(path.name for path in (tmp_path / "servers").iterdir()) == ["8091.json"]


def test_one_at_a_time_on_a_port_and_a_lock_left_behind_locks_nothing(tmp_path: Path) -> None:
    records = Records(tmp_path)
    (tmp_path / "servers").mkdir()
    (tmp_path / "servers" / "8091.lock").touch()
    with records.lock(8091):
        with pytest.raises(LaunchError) as told, records.lock(8091):
            pytest.fail("two at once")
        assert told.value.key == "launch-busy"
        with records.lock(9000):
            pass
    with records.lock(8091):
        pass
