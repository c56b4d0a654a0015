"""The endpoints, through the real client library, against the app as a process."""

from __future__ import annotations

import json
import urllib.request
import wave
from pathlib import Path

import pytest
from gradio_client import Client, handle_file
from gradio_client.exceptions import AppError

from tests.running import ROOT, RunningApp, shared_app

SAMPLES = ROOT / "assets" / "samples"
FIGURES = {"ttft_ms", "ttfp_ms", "rtf", "e2e_ms", "audio_s", "first_sound_ms", "stall_ms", "stall_longest_ms"}


@pytest.fixture(scope="module")
def running() -> RunningApp:
    return shared_app()


@pytest.fixture
def client(running: RunningApp, tmp_path: Path) -> Client:
    return Client(running.url, verbose=False, download_files=str(tmp_path))


def check(answer: tuple) -> dict:
    text, wav, figures = answer
    assert text == "counted"
    with wave.open(wav) as sound:
        assert (sound.getframerate(), sound.getnchannels(), sound.getnframes()) == (24_000, 1, 24_000)
    assert set(figures) == FIGURES
    assert figures["audio_s"] == pytest.approx(1)
    assert 0 < figures["ttft_ms"] < figures["ttfp_ms"]
    return figures


def test_a_call_waits_for_the_server_and_needs_the_prompt_only(client: Client) -> None:
    check(client.predict("hello", api_name="/text_speech"))


@pytest.mark.parametrize(
    ("endpoint", "file"), [("image", "cat.jpg"), ("audio", "beeps.flac"), ("video", "traffic-light.mp4")]
)
def test_a_medium_is_the_second_parameter(client: Client, endpoint: str, file: str) -> None:
    check(client.predict("what is this?", handle_file(str(SAMPLES / file)), api_name=f"/{endpoint}"))


def test_a_conversation_remembers_its_turns(client: Client, running: RunningApp) -> None:
    check(client.predict("first", api_name="/multi_turn"))
    check(client.predict("second", [handle_file(str(SAMPLES / "cat.jpg"))], api_name="/multi_turn"))
    check(client.predict("third", api_name="/multi_turn"))
    said = running.requests("multi_turn")[-1]["messages"]
    assert [message["role"] for message in said] == ["system", *["user", "assistant"] * 2, "user"]
    assert said[1]["content"] == "first"
    assert [part["type"] for part in said[3]["content"]] == ["image_url", "text"]
    assert said[5]["content"] == "third"


def test_another_client_has_another_conversation(client: Client, running: RunningApp) -> None:
    check(client.predict("alone", api_name="/multi_turn"))
    said = running.requests("multi_turn")[-1]["messages"]
    assert [message["role"] for message in said] == ["system", "user"]


def test_without_speech_there_is_no_file(client: Client) -> None:
    text, wav, figures = client.predict("hello", speech=False, api_name="/text_speech")
    assert (text, wav, figures["audio_s"]) == ("counted", None, None)


def test_settings_are_sent_as_they_are_given(client: Client, running: RunningApp) -> None:
    client.predict("hello", speech=False, max_tokens=64, temperature=0.5, seed=7, api_name="/text_speech")
    sent = running.requests("text_speech")[-1]
    assert (sent["max_tokens"], sent["temperature"], sent["seed"]) == (64, 0.5, 7)


def test_calls_of_one_client_may_overlap(client: Client) -> None:
    jobs = [client.submit(f"hello {i}", api_name="/text_speech") for i in range(3)]
    for job in jobs:
        check(job.result(60))


def test_what_is_missing_is_told_and_nothing_is_asked(client: Client, running: RunningApp) -> None:
    before = len(running.requests("text_speech"))
    with pytest.raises(AppError, match="no question yet"):
        client.predict("  ", api_name="/text_speech")
    assert len(running.requests("text_speech")) == before


def test_a_file_that_is_no_picture_is_told_with_a_cure(client: Client, tmp_path: Path) -> None:
    (tmp_path / "notes.png").write_text("not a picture", encoding="utf-8")
    with pytest.raises(AppError, match="JPEG or PNG"):
        client.predict("?", handle_file(str(tmp_path / "notes.png")), api_name="/image")


def test_a_path_of_the_server_reaches_no_disk(running: RunningApp) -> None:
    """The client library uploads; a hand-written call that names a file of ours must be refused."""
    secret = {"path": str(ROOT / "pyproject.toml"), "meta": {"_type": "gradio.FileData"}}
    body = json.dumps({"data": ["?", secret, True, "auto", "assistant", "", "", ""]}).encode()
    request = urllib.request.Request(f"{running.url}/gradio_api/call/image", body, {"content-type": "application/json"})
    with urllib.request.urlopen(request, timeout=30) as answer:
        event = json.load(answer)["event_id"]
    with urllib.request.urlopen(f"{running.url}/gradio_api/call/image/{event}", timeout=60) as answer:
        told = answer.read().decode()
    assert "event: error" in told
    assert "event: complete" not in told


def test_only_the_five_endpoints_are_shown(client: Client) -> None:
    shown = client.view_api(return_format="dict", print_info=False)
    assert isinstance(shown, dict)
    assert sorted(shown["named_endpoints"]) == ["/audio", "/image", "/multi_turn", "/text_speech", "/video"]
    assert not shown["unnamed_endpoints"]
    for endpoint in shown["named_endpoints"].values():
        assert endpoint["parameters"][0]["parameter_name"] == "prompt"
        needed = [given["parameter_name"] for given in endpoint["parameters"] if not given["parameter_has_default"]]
        assert needed[:1] in ([], ["prompt"])
        assert len(needed) <= 2
