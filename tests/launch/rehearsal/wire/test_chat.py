"""What the captures do not show: which fields count, how sound is cut up, and what the brain is asked."""

from __future__ import annotations

import base64
import io

import pytest
import soundfile
from PIL import Image

from launch.rehearsal.brain.brain import Part, Sampling
from launch.rehearsal.brain.canned import CannedBrain, counted, tone
from tests.launch.rehearsal.wire.conftest import Engine
from tests.launch.rehearsal.wire.probes import CHAT, ProbeBrain, ask, ask_with, chunks, media, pcm, sounds, text


async def test_the_brain_gets_the_conversation_with_decoded_media(engine: Engine, wav: bytes) -> None:
    picture = io.BytesIO()
    Image.new("RGB", (8, 8)).save(picture, "PNG")
    brain = ProbeBrain()
    spoken = {"type": "input_audio", "input_audio": {"data": base64.b64encode(wav).decode(), "format": "wav"}}
    body = ask_with(media("image", picture.getvalue(), "image/png"), spoken, max_tokens=7, temperature=0.5, seed=3)
    body["messages"].insert(0, {"role": "system", "content": "Be kind."})
    async with engine(brain) as client:
        assert (await client.post(CHAT, json=body)).status_code == 200
    conversation, sampling, aloud = brain.asked[0]
    assert [said.role for said in conversation] == ["system", "user"]
    assert conversation[0].parts[0].text == "Be kind."
    assert conversation[1].parts == (
        Part("image", picture.getvalue()),
        Part("audio", wav),
        Part("text", b"what is this?"),
    )
    assert (sampling, aloud) == (Sampling(max_tokens=7, temperature=0.5, seed=3), False)


async def test_fields_that_the_server_ignores_are_ignored(engine: Engine) -> None:
    brain = ProbeBrain()
    nested = {"modalities": ["text"], "max_tokens": 1}
    ignored = {"max_completion_tokens": 1, "repetition_penalty": 9, "n": 3, "ignore_eos": True, "extra_body": nested}
    async with engine(brain) as client:
        answer = (await client.post(CHAT, json=ask(model="", **ignored))).json()
    assert brain.asked[0][1] == Sampling()
    assert answer["choices"][0]["message"]["content"] == "one two three"
    assert answer["choices"][1]["message"]["audio"]["data"]  # both modalities: the nested ones were not looked at


@pytest.mark.parametrize("streamed", [True, False])
async def test_an_answer_that_reaches_max_tokens_ends_with_length(engine: Engine, streamed: bool) -> None:
    body = ask(modalities=["text"], max_tokens=4, stream=streamed)
    async with engine(CannedBrain(counted(9))) as client:
        answer = await client.post(CHAT, json=body)
    if streamed:
        reasons = [chunk["choices"][0]["finish_reason"] for chunk in chunks(answer)]
        assert reasons == [None, None, None, None, "length"]
    else:
        assert answer.json()["choices"][0]["finish_reason"] == "length"
        assert answer.json()["usage"]["completion_tokens"] == 4


async def test_speech_is_cut_into_files_of_a_second_and_loses_nothing(engine: Engine) -> None:
    async with engine(CannedBrain("hello", audio_s=2.64)) as client:
        stream = chunks(await client.post(CHAT, json=ask(stream=True)))
    files = sounds(stream)
    assert b"".join(pcm(file) for file in files) == tone(0, 2.64)
    assert all(len(file) <= 48_044 for file in files)
    assert [chunk["choices"][0]["finish_reason"] for chunk in stream].count("stop") == 1
    assert stream[-1]["choices"][0]["finish_reason"] == "stop"


@pytest.mark.parametrize("wire", ["0.26", "0.30"])
@pytest.mark.parametrize("container", ["wav", "pcm", "pcm16", "flac", "mp3", "opus"])
async def test_every_container_holds_the_sound(engine: Engine, wire: str, container: str) -> None:
    async with engine(CannedBrain("hello", audio_s=1.5), wire=wire) as client:
        whole = (await client.post(CHAT, json=ask(audio={"format": container}))).json()
        stream = chunks(await client.post(CHAT, json=ask(audio={"format": container}, stream=True)))
    spoken = next(choice for choice in whole["choices"] if choice["message"]["audio"])
    file = base64.b64decode(spoken["message"]["audio"]["data"])
    described = {"format": "pcm" if container == "pcm16" else container, "sample_rate_hz": 24_000, "channels": 1}
    if wire == "0.30":
        assert spoken["audio_metadata"] == {**described, "frame_count": 36_000}
        frames = [
            one["choices"][0]["audio_metadata"]["frame_count"] for one in stream if one.get("modality") == "audio"
        ]
        assert sum(frames) == 36_000
    if container in ("pcm", "pcm16"):
        assert file == b"".join(sounds(stream)) == tone(0, 1.5)
    elif container in ("wav", "flac"):
        assert pcm(file) == b"".join(pcm(one) for one in sounds(stream)) == tone(0, 1.5)
    else:
        # A lossy coder adds its own delay: what it holds is a sound of about the length, one file a chunk.
        magic = {"mp3": (b"\xff\xf3", b"ID3"), "opus": (b"OggS",)}[container]
        assert all(one.startswith(magic) for one in [file, *sounds(stream)])
        assert abs(soundfile.info(io.BytesIO(file)).duration - 1.5) < 0.15


async def test_running_usage_counts_tokens_as_the_bench_reads_them(engine: Engine) -> None:
    options = {"include_usage": True, "continuous_usage_stats": True}
    async with engine(CannedBrain("one two three")) as client:
        quiet = chunks(await client.post(CHAT, json=ask(modalities=["text"], stream=True, stream_options=options)))
        loud = chunks(await client.post(CHAT, json=ask(stream=True, stream_options=options)))
    assert [chunk["usage"]["completion_tokens"] for chunk in quiet] == [0, 1, 2, 3, 3, 3]
    assert [chunk["usage"]["completion_tokens"] for chunk in loud if chunk.get("modality") == "text"] == [0, 3]
    assert {chunk["usage"]["completion_tokens"] for chunk in loud if chunk.get("modality") == "audio"} == {0}
    assert (quiet[-1]["choices"], quiet[-1]["usage"]["completion_tokens"]) == ([], 3)


async def test_sound_alone_counts_nothing_and_has_no_text(engine: Engine) -> None:
    async with engine(CannedBrain("hello")) as client:
        stream = chunks(
            await client.post(CHAT, json=ask(modalities=["audio"], stream=True, stream_options={"include_usage": True}))
        )
    assert text(stream) == ""
    assert all(set(chunk["usage"].values()) == {0} for chunk in stream)


@pytest.mark.parametrize("streamed", [True, False])
async def test_a_brain_that_says_nothing_has_no_sound(engine: Engine, streamed: bool) -> None:
    async with engine(CannedBrain("")) as client:
        answer = await client.post(CHAT, json=ask(stream=streamed))
    if streamed:
        assert [chunk.get("modality") for chunk in chunks(answer)] == ["text", "text", None]
        assert chunks(answer)[-1]["choices"] == [{"index": 0, "delta": {}, "finish_reason": "stop"}]
    else:
        assert answer.status_code == 400
        assert answer.json()["error"]["message"] == "Audio generation completed but no audio was produced."


async def test_the_request_may_name_its_answer(engine: Engine) -> None:
    async with engine() as client:
        answer = (await client.post(CHAT, json=ask(modalities=["text"], request_id="mine"))).json()
    assert answer["id"] == "chatcmpl-mine"


async def test_metrics_count_what_was_done(engine: Engine) -> None:
    async with engine(CannedBrain("one two three", audio_s=1)) as client:
        await client.post(CHAT, json=ask())
        await client.post(CHAT, json=ask(stream=True))
        told = (await client.get("/metrics")).text.splitlines()
    assert 'vllm_omni:requests_success_total{finished_reason="stop",model_name="rehearsal"} 2.0' in told
    assert 'vllm_omni:generation_tokens_total{model_name="rehearsal"} 6.0' in told
    assert 'vllm_omni:audio_frames_total{model_name="rehearsal"} 48000.0' in told
    assert 'vllm_omni:num_requests_running{model_name="rehearsal"} 0.0' in told
