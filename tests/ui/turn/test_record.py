"""What is kept of a turn: enough to judge it by, and nothing that is secret or heavy."""

import asyncio
import base64
import hashlib
import io
import json
import zipfile
from pathlib import Path
from typing import Any

import pytest

from tests.ui.turn.asking import question, wav
from tests.ui.turn.test_turns import ended, turns_over
from tests.ui.turn.wire import DONE, Call, audio, replay, serving, stop, text
from ui.turn.client import ServerClient
from ui.turn.parts import Audio, Image, Voice
from ui.turn.record import TurnRecord, zip_of
from ui.turn.turn import Turn

PCM = b"\x10\x10\x20\x20" * 600
PACKET = base64.b64encode(wav(PCM)).decode()
PICTURE = Image(b"\xff\xd8" + bytes(range(256)) * 40, 10, 10)
VOICE = Voice("zh", "模仿：", "简短。", Audio(wav(PCM), 0.1))
REQUEST = question(PICTURE, "这是什么？", voice=VOICE, seed=3)


async def _answer(call: Call) -> None:
    await call.sse(text("一只猫。"), audio(PACKET), audio(PACKET), stop(), DONE)


async def _turn(key: str | None = None, model: str = "m") -> Turn:
    async with serving(_answer, model=model, health=(200, b'{"status":"healthy"}')) as wire:
        client = ServerClient(wire.base_url, api_key=key)
        turn = Turn(REQUEST, "me", "image")
        await turn.run(client)
        await client.close()
    return turn


async def test_the_folder(tmp_path: Path) -> None:
    turn = await _turn()
    folder = TurnRecord.of(turn).write(tmp_path, turn.wav())
    assert folder.name.endswith("-image")
    assert sorted(path.name for path in folder.iterdir()) == [
        "answer.txt", "answer.wav", "events.jsonl", "figures.json", "request.json", "turn.json",
    ]  # fmt: skip
    assert (folder / "answer.txt").read_text(encoding="utf-8") == "一只猫。"
    assert (folder / "answer.wav").read_bytes() == wav(PCM * 2)
    rows = [json.loads(line) for line in (folder / "events.jsonl").read_text().splitlines()]
    assert [(row["type"], row.get("text") or row.get("bytes") or row.get("reason")) for row in rows] == [
        ("text", "一只猫。"), ("speech", 2400), ("speech", 2400), ("finished", "stop"),
    ]  # fmt: skip
    assert [row["at"] for row in rows] == sorted(row["at"] for row in rows)
    figures = json.loads((folder / "figures.json").read_text())
    assert figures == turn.figures.as_dict() | {"rehearsal": False}
    head = json.loads((folder / "turn.json").read_text())
    assert (head["state"], head["model"], head["wire"], head["rehearsal"], head["error"]) == (
        "done",
        "m",
        "0.30",
        False,
        None,
    )


async def test_media_are_named_and_not_copied(tmp_path: Path) -> None:
    turn = await _turn()
    record = TurnRecord.of(turn)
    user = record.request["messages"][1]["content"]
    digest = hashlib.sha256(PICTURE.data).hexdigest()
    assert user[0]["image_url"]["url"] == {
        "file": "image1.jpg", "mime": "image/jpeg", "bytes": len(PICTURE.data), "sha256": digest,
    }  # fmt: skip
    assert record.request["ref_audio"]["file"] == "audio1.wav"
    folder = record.write(tmp_path, turn.wav())
    small = sum(path.stat().st_size for path in folder.iterdir() if path.name != "answer.wav")
    assert small < 5000


async def test_a_secret_is_nowhere(tmp_path: Path) -> None:
    turn = await _turn(key="sk-very-secret")
    TurnRecord.of(turn).write(tmp_path, turn.wav())
    written = b"".join(map(Path.read_bytes, _files(tmp_path, "*.*")))
    with zipfile.ZipFile(io.BytesIO(zip_of(turn, "http://h:1"))) as archive:
        written += b"".join(map(archive.read, archive.namelist()))
    assert b"secret" not in written


async def test_the_rehearsal_is_marked_everywhere(tmp_path: Path) -> None:
    turn = await _turn(model="rehearsal")
    folder = TurnRecord.of(turn).write(tmp_path, turn.wav())
    for name in ("turn.json", "figures.json"):
        assert json.loads((folder / name).read_text())["rehearsal"] is True
    assert turn.snapshot()["rehearsal"] is True


async def test_the_zip_holds_everything_to_try_it_again() -> None:
    turn = await _turn()
    with zipfile.ZipFile(io.BytesIO(zip_of(turn, "http://127.0.0.1:8091"))) as archive:
        assert archive.testzip() is None
        files = {name: archive.read(name) for name in archive.namelist()}
    assert files["image1.jpg"] == PICTURE.data
    assert files["audio1.wav"] == wav(PCM)
    assert files["answer.wav"] == wav(PCM * 2)
    for script in ("request.sh", "request.ps1", "request.py"):
        assert b"image1.jpg" in files[script]
        assert b"http://127.0.0.1:8091/v1" in files[script]
    assert json.loads(files["figures.json"])["audio_s"] == pytest.approx(0.1)


async def test_a_turn_that_failed_is_kept_too(tmp_path: Path) -> None:
    async with turns_over(replay("0.30/err_too_many_images"), tmp_path) as (_, turns):
        turn = await ended(turns.start(REQUEST, "me", "image"))
    (written,) = _files(tmp_path, "turn.json")
    head = json.loads(written.read_text(encoding="utf-8"))
    assert (head["state"], head["error"]["key"], head["error"]["facts"]["limit"]) == ("failed", "too-many-media", "4")
    assert not _files(tmp_path, "answer.wav")
    assert zipfile.ZipFile(io.BytesIO(zip_of(turn, "http://h:1"))).testzip() is None


async def test_what_the_player_says_later_is_written_too(tmp_path: Path) -> None:
    async with turns_over(_answer, tmp_path) as (_, turns):
        turn = await ended(turns.start(REQUEST, "me", "image"))
        await _until(lambda: _files(tmp_path, "figures.json"))
        (file,) = _files(tmp_path, "figures.json")
        turn.heard(first_sound_ms=41.5)
        turn.heard(stall_ms=0.0, stall_longest_ms=0.0, played_ms=100.0)
        await _until(lambda: json.loads(file.read_text())["stall_ms"] == 0)
        assert json.loads(file.read_text())["first_sound_ms"] == 41.5


async def test_turns_of_the_same_second_have_folders_of_their_own(tmp_path: Path) -> None:
    turn = await _turn()
    names = [TurnRecord.of(turn).write(tmp_path, b"").name for _ in range(3)]
    assert names == [names[0], f"{names[0]}-2", f"{names[0]}-3"]


async def test_a_record_that_cannot_be_written_is_said_and_harms_nothing(tmp_path: Path) -> None:
    (tmp_path / "runs").write_text("a file where the folder should be")
    async with turns_over(_answer, tmp_path / "runs") as (_, turns):
        turn = await ended(turns.start(REQUEST, "me", "image"))
        await _until(lambda: turn.notices)
        assert (turn.state, turn.notices[0].key) == ("done", "record-not-written")


def _files(folder: Path, pattern: str) -> list[Path]:
    return list(folder.rglob(pattern))


async def _until(true: Any) -> None:
    for _ in range(250):
        if true():
            return
        await asyncio.sleep(0.02)
    raise AssertionError("waited 5 s in vain")
