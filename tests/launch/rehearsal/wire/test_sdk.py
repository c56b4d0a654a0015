"""The OpenAI SDK, as other people's programs use it, against both wires."""

from __future__ import annotations

import base64
from collections.abc import AsyncIterator

import openai
import pytest

from launch.rehearsal.brain.canned import CannedBrain, tone
from tests.engine import running_engine
from tests.launch.rehearsal.wire.probes import pcm

MESSAGES = [{"role": "user", "content": "hello"}]
SPEECH = {"chat_template_kwargs": {"use_tts_template": True, "enable_thinking": False}}


@pytest.fixture(params=["0.26", "0.30"])
async def sdk(request: pytest.FixtureRequest) -> AsyncIterator[openai.AsyncOpenAI]:
    http = openai.DefaultAsyncHttpxClient(trust_env=False)
    async with (
        running_engine(CannedBrain("one two three", audio_s=1.5), wire=request.param) as url,
        openai.AsyncOpenAI(base_url=f"{url}/v1", api_key="none", max_retries=0, http_client=http) as client,
    ):
        yield client


async def test_the_model_is_the_rehearsal(sdk: openai.AsyncOpenAI) -> None:
    [model] = (await sdk.models.list()).data
    assert model.id == "rehearsal"
    assert "minicpm" not in model.model_dump_json().lower()


async def test_a_whole_answer(sdk: openai.AsyncOpenAI) -> None:
    answer = await sdk.chat.completions.create(
        model="rehearsal", messages=MESSAGES, modalities=["text", "audio"], extra_body=SPEECH
    )
    texts = [choice.message.content for choice in answer.choices if choice.message.content]
    files = [base64.b64decode(choice.message.audio.data) for choice in answer.choices if choice.message.audio]
    assert texts == ["one two three"]
    assert [pcm(file) for file in files] == [tone(0, 1.5)]
    assert answer.usage is not None
    assert answer.usage.completion_tokens == 3


async def test_a_streamed_answer(sdk: openai.AsyncOpenAI) -> None:
    stream = await sdk.chat.completions.create(
        model="rehearsal", messages=MESSAGES, modalities=["text", "audio"], stream=True, extra_body=SPEECH
    )
    words, sound, reasons = "", b"", []
    async for chunk in stream:
        for choice in chunk.choices:
            if chunk.modality == "text":
                words += choice.delta.content or ""
            elif chunk.modality == "audio":
                sound += pcm(base64.b64decode(choice.delta.content or ""))
            reasons.append(choice.finish_reason)
    assert (words, sound) == ("one two three", tone(0, 1.5))
    assert [reason for reason in reasons if reason] == ["stop"]


async def test_errors_are_the_sdks_own(sdk: openai.AsyncOpenAI) -> None:
    with pytest.raises(openai.NotFoundError, match="The model `gpt` does not exist"):
        await sdk.chat.completions.create(model="gpt", messages=MESSAGES)
    with pytest.raises(openai.BadRequestError, match="Unsupported output modalities smell"):
        await sdk.chat.completions.create(model="rehearsal", messages=MESSAGES, modalities=["smell"])
