"""What `health` says of servers that are well and of such as are not."""

import json
import socket
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import httpx
import pytest
from websockets.exceptions import ConnectionClosed
from websockets.sync.server import ServerConnection, serve

from launch.duplex_probe import check_duplex
from launch.health import check
from launch.records import Record, Records
from launch.rehearsal.brain.canned import CannedBrain
from launch.spoken_word import _Heard, check_speech
from tests.engine import engine_thread
from tests.launch.console import launch
from tests.launch.running import free_port


def brain() -> CannedBrain:
    return CannedBrain(text="yes", audio_s=0.6)


@pytest.mark.parametrize(("wire", "words"), [("0.26", "0.26"), ("0.30", "0.30 or later")])
def test_a_server_that_is_well(wire: str, words: str, tmp_path: Path) -> None:
    with engine_thread(brain(), wire=wire) as url:
        shown = launch("health", "--server", url + "/v1", root=tmp_path)
        told = launch("health", "--server", url, "--json", root=tmp_path).json
    assert shown.code == 0, shown.text
    assert words in shown.text
    assert "All is well." in shown.text
    assert (told["reached"], told["healthy"], told["wire"]) == (True, True, wire)
    assert told["models"]
    speech = told["speech"]
    assert (speech["text"], speech["rate_hz"], speech["channels"], speech["bits"]) == ("yes", 24000, 1, 16)
    assert speech["seconds"] == pytest.approx(0.6)
    assert -12 < speech["peak_dbfs"] < -9  # the canned tone stands at 0.3 of full scale
    assert 0 < speech["first_audio_ms"] <= speech["total_ms"]
    assert told["duplex"]["state"] == "open"
    assert told["findings"] == []


@pytest.mark.parametrize(
    ("fault", "finding"),
    [
        ("silent-speech", "speech-silent"),
        ("raw-pcm", "speech-undecodable"),
        ("404-model", "model-id-mismatch"),
        ("refuse", "closed-before-answer"),
        ("error-in-stream", "stage-dead"),
    ],
)
def test_a_server_that_ails(fault: str, finding: str) -> None:
    with engine_thread(brain(), faults=[fault]) as url:
        assert [found.id for found in check(url).findings] == [finding]


def test_an_answer_without_a_sound() -> None:
    with engine_thread(CannedBrain(text="yes", audio_s=0)) as url:
        assert [found.id for found in check(url).findings] == ["no-audio-in-answer"]


def test_nobody_there_and_somebody_else(tmp_path: Path) -> None:
    told = launch("health", "--server", f"http://127.0.0.1:{free_port()}", "--json", root=tmp_path)
    assert (told.code, [finding["id"] for finding in told.json["findings"]]) == (1, ["server-not-up"])
    assert [found.id for found in check("localhost:8091").findings] == ["server-address"]
    with answering(b"HTTP/1.1 404 Not Found\r\nContent-Length: 0\r\n\r\n") as url:
        assert [found.id for found in check(url).findings] == ["not-an-omni-server"]
    with answering(b"HTTP/1.1 503 Service Unavailable\r\nContent-Length: 0\r\n\r\n") as url:
        health = check(url)
        assert [found.id for found in health.findings] == ["health-not-200"]
        assert (health.reached, health.healthy) == (True, False)


@contextmanager
def answering(words: bytes) -> Iterator[str]:
    """A server that says the same to everybody."""
    with socket.create_server(("127.0.0.1", 0)) as door:

        def serve_one() -> None:
            wire, _ = door.accept()
            with wire:
                wire.recv(65_536)
                wire.sendall(words)

        thread = threading.Thread(target=serve_one, daemon=True)
        thread.start()
        yield f"http://127.0.0.1:{door.getsockname()[1]}"
        thread.join(5)


def test_a_key_is_asked_for_and_sent(tmp_path: Path) -> None:
    asked: list[str | None] = []

    def respond(request: httpx.Request) -> httpx.Response:
        asked.append(request.headers.get("authorization"))
        return httpx.Response(401, json={"error": "Unauthorized"})

    with httpx.Client(transport=httpx.MockTransport(respond), base_url="http://x", headers={"authorization": "k"}) as c:
        refused = check_speech(c, "m")
    assert (refused.status, asked) == (401, ["k"])
    key = tmp_path / "key"
    key.write_text("")
    empty = launch("health", "--server", "http://127.0.0.1:1", "--api-key-file", key, "--json", root=tmp_path)
    assert empty.json["error"]["id"] == "key-file-empty"


def test_sound_that_is_no_wav_is_not_called_speech() -> None:
    heard = _Heard(0.0)
    heard.take({"modality": "audio", "choices": [{"delta": {"content": "AAAA"}}]})
    assert (heard.check().seconds, heard.check().rate_hz) == (0.0, 0)


@contextmanager
def duplex_server(kind: str) -> Iterator[tuple[str, list[str]]]:
    """The first words of a server's sockets, as the captures of 0.26 and 0.30 have them."""
    heard: list[str] = []

    def talk(wire: ServerConnection) -> None:
        assert wire.request is not None
        path = wire.request.path
        if kind.startswith("turn"):
            wire.send(json.dumps({"type": "error", "error": "Duplex API is not available", "code": "unsupported"}))
            return
        try:
            for frame in wire:
                event = json.loads(frame)
                heard.append(event["type"])
                if path.startswith("/v1/duplex"):
                    continue
                if event["type"] == "session.update":
                    assert event["session"]["ref_audio"].startswith("data:audio/wav;base64,")
                    if kind == "busy":
                        error = {"type": "rate_limit_error", "code": "resource_exhausted", "message": "limit=2"}
                        wire.send(json.dumps({"type": "error", "error": error}))
                        return
                    wire.send(json.dumps({"type": "session.created", "session": {"capabilities": {}}}))
                    wire.send(json.dumps({"type": "session.updated", "session": {}}))
                if event["type"] == "session.close":
                    wire.send(json.dumps({"type": "session.closed"}))
                    if kind == "0.26":  # which ends the socket without a close frame
                        wire.socket.close()
                    return
        except ConnectionClosed:
            return

    with serve(talk, "127.0.0.1", 0) as server:
        thread = threading.Thread(target=server.serve_forever, daemon=True)
        thread.start()
        yield f"http://127.0.0.1:{server.socket.getsockname()[1]}", heard
        server.shutdown()
        thread.join(5)


@pytest.mark.parametrize(("kind", "state"), [("turn", "turn"), ("0.26", "open"), ("0.30", "open"), ("busy", "busy")])
def test_duplex_sessions_are_opened_and_closed(kind: str, state: str) -> None:
    with duplex_server(kind) as (url, heard):
        found = check_duplex(url, "m")
        assert found.state == state
        assert (found.open_ms is not None) == (state == "open")
        if state == "open":
            assert heard == ["session.update", "session.close"]


@pytest.mark.parametrize(("wire", "file"), [("0.26", "minicpmo_4_5_duplex.yaml"), ("0.30", "minicpmo_4_5.yaml")])
def test_a_duplex_start_that_is_in_turn_mode(wire: str, file: str, tmp_path: Path) -> None:
    with engine_thread(brain(), wire=wire, mode="turn") as url:
        told = {name: launch_with(record_of(tmp_path, url, name), url) for name in ("duplex", "1card")}
        stranger = launch("health", "--server", url, "--json", root=tmp_path / "elsewhere").json
    faults = {
        name: [row for row in found["findings"] if row["id"] == "server-in-turn-mode"] for name, found in told.items()
    }
    assert (told["duplex"]["duplex"]["state"], faults["1card"], stranger["duplex"]["state"]) == ("turn", [], "turn")
    assert not [row for row in stranger["findings"] if row["id"] == "server-in-turn-mode"]
    assert file in faults["duplex"][0]["cure"]
    assert "`python -m launch up --layout duplex`" in faults["duplex"][0]["cure"]


def record_of(root: Path, url: str, layout: str) -> Path:
    """A machine whose records hold a start of ``layout`` that answers at ``url``."""
    home = root / layout
    port = int(url.rpartition(":")[2])
    record = Record("id", port, url, layout, "m", None, {}, {"layout": layout}, ("vllm",), "log", 1.0)
    Records(home / ".local/state/omni-showcase").save(record)
    return home


def launch_with(root: Path, url: str) -> dict[str, Any]:
    return launch("health", "--server", url, "--json", root=root).json
