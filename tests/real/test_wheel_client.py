"""The duplex client that comes with vLLM-Omni 0.26.0, against the rehearsal engine: a peer that is not ours.

Opt-in: ``OMNI_WHEEL_CLIENT`` is the path of ``vllm_omni/experimental/fullduplex/client.py`` inside an unpacked
vllm-omni 0.26.0 wheel. It is loaded from there, for importing its package pulls in torch; nothing of it is copied.
"""

from __future__ import annotations

import base64
import importlib.util
import os
import sys
from types import ModuleType
from typing import Any

import pytest

from launch.rehearsal.brain.canned import CannedBrain, tone
from launch.rehearsal.wire.sound import encode
from tests.engine import running_engine
from tests.real.conftest import Say
from tests.real.talking import TONE

VARIABLE = "OMNI_WHEEL_CLIENT"
MODEL = "rehearsal"
TEXT = "One. Two. Three."
ANSWER_S = 3.5
PAUSE = bytes(2 * 32_000)  # two seconds of silence: whoever pauses so long wants an answer


@pytest.fixture(scope="module")
def wheel() -> ModuleType:
    """The module, by its path."""
    path = os.environ.get(VARIABLE)
    if not path:
        pytest.skip(f"set {VARIABLE} to the path of client.py inside a vllm-omni 0.26.0 wheel")
    spec = importlib.util.spec_from_file_location("wheel_client", path)
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    sys.modules[spec.name] = module  # its dataclasses look themselves up there
    spec.loader.exec_module(module)
    return module


def _said(events: list[dict[str, Any]], response_id: str) -> str:
    words = [e for e in events if e["type"] == "response.audio_transcript.delta" and e["response_id"] == response_id]
    return "".join(str(event["delta"]) for event in words)


async def test_wheel_client_holds_a_conversation(wheel: ModuleType, say: Say) -> None:
    brain = CannedBrain(TEXT, audio_s=ANSWER_S)
    voice = f"data:audio/wav;base64,{base64.b64encode(encode(tone(0, 1), 'wav')).decode()}"
    async with running_engine(brain) as url:
        address = wheel.build_realtime_url(f"ws{url.removeprefix('http')}/v1/realtime", MODEL, autostart=False)
        async with wheel.RealtimeDuplexClient(address) as client:
            events = client.events
            await client.configure(MODEL, ref_audio=voice)
            created = events.events[0]["session"]
            say(f"created {created['id'][:12]}… {created['capabilities']['implementation_level']}")
            await client.stream_pcm16(TONE + PAUSE, realtime=False)
            await wheel.wait_for(lambda: events.count("response.done") == 1, timeout_s=20, label="response.done")
            await client.stream_pcm16(TONE, realtime=False)
            await client.commit()
            await wheel.wait_for(lambda: events.count("response.done") == 2, timeout_s=20, label="a second one")
            await client.acknowledge_playback()
            await wheel.wait_for(
                lambda: events.count("playback.acknowledged") == 2, timeout_s=5, label="acknowledgements"
            )
            await client.close_session()
        assert events.errors() == []
        first, second = events.response_ids
        for response_id in (first, second):
            assert events.audio_bytes(response_id) == tone(0, ANSWER_S)
            assert _said(events.events, response_id) == TEXT
        assert events.output_sample_rate_hz == 24_000
        assert events.count("input_audio_buffer.committed") == 1
        assert events.events[-1]["type"] == "session.closed"
        for event in events.events:
            if event["type"] == "playback.acknowledged":
                assert event["event"]["played_ms"] == 1000 * ANSWER_S
        audio = events.timing_summary(after_s=0.0, response_id=first)["audio_output"]
        say(
            f"{len(events.events)} events, {audio['chunk_count']} chunks, {len(events.audio_bytes()) / 48_000:.1f} s of sound"
        )
