"""Reference voices and manners: what there is, what an upload becomes, and whose it is."""

from __future__ import annotations

import json
import wave
from io import BytesIO
from pathlib import Path

import numpy as np
import pytest
import soundfile

from launch.errors import InputError, MediaError
from launch.records import Record, Records
from tests.ui.live.scripted import house
from ui.live.manners import instructions, manners
from ui.live.neighbour import Neighbour
from ui.live.reference import FOLDER, UPLOAD_MOST, Voices

SAMPLE = Path(__file__).resolve().parent.parent.parent.parent / "assets" / "samples" / "question-en.flac"


def tone(path: Path, seconds: float, rate: int = 44_100, level: float = 0.3) -> Path:
    """Stereo, two different tones."""
    time = np.arange(round(seconds * rate)) / rate
    soundfile.write(path, level * np.stack([np.sin(2200 * time), np.sin(3300 * time)], axis=1), rate)
    return path


def facts(wav: bytes) -> tuple[int, int, int, float]:
    with wave.open(BytesIO(wav)) as sound:
        seconds = sound.getnframes() / sound.getframerate()
        return sound.getnchannels(), sound.getsampwidth(), sound.getframerate(), round(seconds, 1)


def test_our_own_voices_are_there_with_a_licence() -> None:
    found = Voices().all()
    assert [voice.id for voice in found] == ["asset:assistant-en"]
    assert 3 <= found[0].seconds <= 10
    readme = (FOLDER / "README.md").read_text(encoding="utf-8")
    for path in FOLDER.glob("*.wav"):
        assert path.name in readme
    assert Voices().wav("asset:assistant-en", "ann") == (FOLDER / "assistant-en.wav").read_bytes()
    assert Voices().wav("", "ann") == Voices().wav("asset:assistant-en", "ann")


@pytest.mark.parametrize(
    "wanted", ["asset:nobody", "asset:../../LICENSE", "asset:", "server", "upload:x", "x", "file:/etc/passwd"]
)
def test_a_voice_that_is_not_there_is_told(wanted: str) -> None:
    with pytest.raises(InputError, match="live-voice-missing"):
        Voices().wav(wanted, "ann")


def test_the_servers_own_voice_comes_first_where_it_can_be_read(tmp_path: Path) -> None:
    path = tone(tmp_path / "HT_ref_audio.wav", 5)
    voices = Voices(lambda: path)
    assert [voice.id for voice in voices.all()] == ["server", "asset:assistant-en"]
    for voice in voices.all():
        assert set(voice.name) == {"zh", "en"}
        assert voice.name["zh"] != voice.name["en"], "a name, and not a file's"
    assert voices.wav("server", "ann") == voices.wav("", "ann") == path.read_bytes()


@pytest.mark.parametrize(
    ("seconds", "kept", "notices"),
    [
        (5.0, 5.0, []),
        (1.5, 1.5, ["live-voice-short"]),
        (14.0, 14.0, ["live-voice-long"]),
        (50.0, 25.0, ["live-voice-cut"]),
    ],
)
def test_an_upload_becomes_a_short_mono_wav(tmp_path: Path, seconds: float, kept: float, notices: list[str]) -> None:
    voices = Voices()
    upload = voices.take(tone(tmp_path / "any.flac", seconds), "ann")
    channels, width, rate, length = facts(voices.wav(f"upload:{upload.token}", "ann"))
    assert (channels, width, rate) == (1, 2, 16_000)
    assert abs(length - kept) <= 0.6  # a cut may move half a second to a pause
    assert length <= 30
    assert [notice.key for notice in upload.notices] == notices


def test_an_upload_is_its_owners_and_the_oldest_goes(tmp_path: Path) -> None:
    voices, path = Voices(), tone(tmp_path / "a.wav", 0.3, rate=16_000)
    bobs = voices.take(path, "bob")
    mine = [voices.take(path, "ann").token for _ in range(5)]
    with pytest.raises(InputError):
        voices.wav(f"upload:{bobs.token}", "ann")
    for token in mine[:2]:
        with pytest.raises(InputError):
            voices.wav(f"upload:{token}", "ann")
    for token in mine[2:]:
        assert voices.wav(f"upload:{token}", "ann")
    assert voices.wav(f"upload:{bobs.token}", "bob")
    for n in range(40):
        voices.take(path, f"visitor {n}")
    assert len(voices._uploads) == 32


@pytest.mark.parametrize("content", [b"", b"RIFF....WAVE", b"\x89PNG\r\n\x1a\n" + bytes(100)])
def test_what_is_no_sound_is_told(tmp_path: Path, content: bytes) -> None:
    path = tmp_path / "upload"
    path.write_bytes(content)
    with pytest.raises(MediaError):
        Voices().take(path, "ann")


def test_silence_has_no_voice(tmp_path: Path) -> None:
    with pytest.raises(MediaError, match="live-voice-silent"):
        Voices().take(tone(tmp_path / "a.wav", 4, level=0), "ann")


async def test_an_upload_by_the_page_is_spoken_with(tmp_path: Path) -> None:
    async with house() as it, it.http() as http:
        raw = await http.post("/live/voice", content=SAMPLE.read_bytes())
        form = await http.post("/live/voice", files={"file": ("../../x.flac", SAMPLE.read_bytes())})
        assert raw.status_code == form.status_code == 200
        assert raw.json()["seconds"] == form.json()["seconds"] > 1
        await it.open(voice=f"upload:{form.json()['token']}")
        assert facts((await it.session()).setup.reference)[:3] == (1, 2, 16_000)

        refusal = await http.post("/live/voice", content=b"no sound at all")
        assert refusal.status_code == 422
        assert set(refusal.json()["fault"]["cure"]) == {"zh", "en"}
        assert (await http.post("/live/voice", files={"other": b""})).status_code == 422
        stolen = {"voice": f"upload:{raw.json()['token']}"}
        async with it.http(it.theirs) as other:
            answer = await other.post("/live", json=stolen)
        assert answer.status_code == 422

        async def endless():
            yield b"RIFF"

        assert (await http.post("/live/voice", content=endless())).status_code == 411
        refused, body = await it.announce("/live/voice", UPLOAD_MOST + 1)  # before a byte of it is sent
        assert refused == 422
        assert "32 MB" in body["fault"]["cause"]["en"]


async def test_the_page_is_told_what_there_is_to_choose() -> None:
    async with house() as it, it.http() as http:
        state = (await http.get("/live/state")).json()
        assert state["server"] is None
        assert state["voices"][0]["id"] == "asset:assistant-en"
        assert {manner["id"] for manner in state["manners"]} == set(manners())
        await it.open()
        await it.session()
        assert (await http.get("/live/state")).json()["server"]["wire"] == "0.30"


def test_manners_speak_both_languages_and_own_words_are_taken_as_they_are() -> None:
    for manner in manners().values():
        assert set(manner.name) == set(manner.says) == {"zh", "en"}
        assert instructions(manner.id, "zh") == manner.says["zh"]
    assert instructions("", "en") == manners()["companion"].says["en"]
    assert instructions("  Be a pirate. ", "zh") == "Be a pirate."


def record(state: Path, model: Path, deploy: Path, **changes: object) -> None:
    values = {
        "id": "a",
        "port": 8091,
        "url": "http://127.0.0.1:8091",
        "layout": "duplex",
        "model": str(model),
        "version": "0.26.0",
        "stages": {},
        "request": {},
        "command": ("vllm", "serve", str(model), "--omni", "--deploy-config", str(deploy)),
        "log": "",
        "started_at": 1.0,
    }
    Records(state).save(Record(**(values | changes)))  # type: ignore[arg-type]


def test_a_server_started_here_is_known_by_its_record(tmp_path: Path) -> None:
    model, deploy = tmp_path / "model", tmp_path / "duplex.yaml"
    (model / "assets").mkdir(parents=True)
    (tmp_path / "base.yaml").write_text("duplex_session: {max_sessions: 4}\nstages: []\n")
    deploy.write_text("base_config: base.yaml\nsession_mode: duplex\n")
    record(tmp_path, model, deploy)
    here = Neighbour("http://127.0.0.1:8091", tmp_path)
    assert here.reference() is None
    tone(model / "assets" / "HT_ref_audio.wav", 5)
    assert here.reference() == model / "assets" / "HT_ref_audio.wav"
    assert here.sessions() == 4
    deploy.write_text("base_config: base.yaml\nduplex_session: {idle_ttl_s: 60}\n")
    assert here.sessions() == 1  # the block is replaced whole, and the server's default counts
    deploy.write_text("base_config: elsewhere.yaml\n")
    assert here.sessions() is None
    assert Neighbour("http://127.0.0.1:8092", tmp_path).reference() is None
    assert Neighbour("http://10.0.0.7:8091", tmp_path).reference() is None
    record(tmp_path, model, deploy, stopped=True)
    assert here.reference() is None
    (tmp_path / "servers" / "8091.json").write_text(json.dumps([1]))
    assert here.reference() is None


async def test_the_app_admits_what_a_server_started_here_was_started_for(tmp_path: Path) -> None:
    deploy = tmp_path / "duplex.yaml"
    deploy.write_text("duplex_session: {max_sessions: 5}\n")
    async with house(neighbour=Neighbour("http://127.0.0.1:8091", tmp_path)) as it, it.http() as http:
        assert (await http.get("/live/state")).json()["limit"] == 2
        record(tmp_path, tmp_path, deploy)
        await it.open()
        assert (await http.get("/live/state")).json()["limit"] == 5
