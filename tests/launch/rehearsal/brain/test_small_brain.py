"""The whole brain on its fetched weights: real pictures, clips and speech, each made here, and each altered."""

import asyncio
import io
import re
from collections.abc import AsyncIterator
from datetime import datetime
from pathlib import Path

import av
import numpy as np
import pytest
import pytest_asyncio
import soundfile
from PIL import Image, ImageDraw, ImageFont
from pypinyin import lazy_pinyin

from launch.rehearsal.brain.brain import SAMPLE_RATE, Part, Said, Sampling, UndecodableMedia

pytestmark = [pytest.mark.weights, pytest.mark.asyncio(loop_scope="module")]
NOON = datetime(2026, 11, 30, 12, 0)


@pytest_asyncio.fixture(scope="module", loop_scope="module")
async def brain() -> AsyncIterator:
    from launch.rehearsal.brain.small_brain import SmallBrain

    one = SmallBrain(now=lambda: NOON)
    steps: list[float] = []
    await one.load(lambda what, share: steps.append(share))
    assert steps == sorted(steps)
    assert steps[-1] == 1.0
    yield one
    await one.close()


def user(*parts: str | tuple[str, bytes]) -> Said:
    return Said("user", tuple(Part("text", p.encode()) if isinstance(p, str) else Part(*p) for p in parts))  # type: ignore[arg-type]


async def answer(brain, *conversation: Said, spoken: bool = True, max_tokens: int | None = None) -> str:
    sampling = Sampling(max_tokens=max_tokens, seed=1)
    return "".join([token.text async for token in brain.think(conversation, sampling, spoken=spoken)])


async def wave(brain, text: str) -> np.ndarray:
    pcm = b"".join([piece async for piece in brain.speak(text)])
    return np.frombuffer(pcm, "<i2").astype(np.float32) / 32768


async def recording(brain, text: str) -> bytes:
    file = io.BytesIO()
    soundfile.write(file, await wave(brain, text), SAMPLE_RATE, format="WAV", subtype="PCM_16")
    return file.getvalue()


def picture(colour: str, words: str = "") -> bytes:
    image = Image.new("RGB", (640, 360), colour)
    ImageDraw.Draw(image).text((40, 120), words, font=ImageFont.load_default(64), fill="white")
    file = io.BytesIO()
    image.save(file, "PNG")
    return file.getvalue()


def clip(colours: list[str], words: str, speech: np.ndarray) -> bytes:
    """A second of each colour at 10 frames a second, with words in the last and speech throughout."""
    file = io.BytesIO()
    with av.open(file, "w", format="mp4") as container:
        video, audio = container.add_stream("h264", rate=10), container.add_stream("aac", rate=SAMPLE_RATE)
        video.width, video.height, video.pix_fmt = 640, 360, "yuv420p"
        for second, colour in enumerate(colours):
            frame = av.VideoFrame.from_image(Image.open(io.BytesIO(picture(colour, words if second else ""))))
            for at in range(10):
                frame.pts = second * 10 + at
                container.mux(video.encode(frame))
        container.mux(video.encode(None))
        sound = av.AudioFrame.from_ndarray(speech[None], format="fltp", layout="mono")
        sound.sample_rate = SAMPLE_RATE
        container.mux(audio.encode(sound))
        container.mux(audio.encode(None))
    return file.getvalue()


def distance(one: list[str], other: list[str]) -> int:
    row = list(range(len(other) + 1))
    for i, left in enumerate(one, 1):
        before, row[0] = row[0], i
        for j, right in enumerate(other, 1):
            before, row[j] = row[j], min(row[j] + 1, row[j - 1] + 1, before + (left != right))
    return row[-1]


def wrong_sounds(said: str, told: str) -> float:
    """Share of the syllables or words of ``said`` that are wrong in the quotation of ``told``: its characters may differ."""
    quoted = re.search("[「“](.*)[」”]", told)
    assert quoted, told
    sounds = [re.findall("[a-z]+", " ".join(lazy_pinyin(words)).lower()) for words in (said, quoted[1])]
    return distance(*sounds) / len(sounds[0])


@pytest.mark.parametrize(
    "text",
    [
        "北京是中国的首都，有着悠久的历史和丰富的文化。",
        "请你描述一下这张图片里有什么。",
        "Please tell me what you can see in this picture.",
    ],
)
async def test_what_it_says_is_understood_and_has_a_sane_level(brain, text: str) -> None:
    said = await wave(brain, text)
    loud = said[np.abs(said) > 0.01]
    assert 0.05 < np.sqrt(np.mean(loud**2)) < 0.2
    assert np.abs(said).max() <= 0.951
    assert not np.any(np.abs(np.diff(said)) > 0.7), "a jump between two samples is a click"
    heard = re.search(
        "[「“](.*)[」”]", await answer(brain, user(("audio", await recording(brain, text)), "What is said?"))
    )
    assert heard
    sounds = [re.findall("[a-z]+", " ".join(lazy_pinyin(words)).lower()) for words in (text, heard[1])]
    assert distance(*sounds) <= 0.2 * len(sounds[0])


@pytest.mark.parametrize(("number", "total"), [("四十", 77), ("六十", 97)])
async def test_a_spoken_sum_is_heard_and_answered(brain, number: str, total: int) -> None:
    asked = await recording(brain, f"请问，三十七加{number}等于多少？")
    told = await answer(brain, user(("audio", asked)))
    assert told.startswith("这里是排练。我听到你说")
    assert f"= {total}" in told


@pytest.mark.parametrize(("colour", "zh", "words"), [("navy", "蓝色", "OPEN 24"), ("darkgreen", "绿色", "EXIT 7")])
async def test_a_picture_is_seen_and_read(brain, colour: str, zh: str, words: str) -> None:
    told = await answer(brain, user(("image", picture(colour, words)), "图里有什么？"))
    assert zh in told
    assert words.replace(" ", "") in told.replace(" ", "")


async def test_a_clip_is_watched_read_and_heard_in_either_form(brain) -> None:
    speech = await wave(brain, "大家好，今天天气真好。")
    speech = np.pad(speech, (0, max(0, 4 * SAMPLE_RATE - speech.size)))[: 4 * SAMPLE_RATE]
    colours = ["maroon", "maroon", "navy", "navy"]
    told = await answer(brain, user(("video", clip(colours, "EXIT 7", speech)), "视频里发生了什么？"))
    parts: list[tuple[str, bytes]] = []
    for second, colour in enumerate(colours):
        sound = io.BytesIO()
        part = speech[second * SAMPLE_RATE : (second + 1) * SAMPLE_RATE]
        soundfile.write(sound, part, SAMPLE_RATE, format="WAV", subtype="PCM_16")
        parts += [("image", picture(colour, "EXIT 7" if second else "")), ("audio", sound.getvalue())]
    for one in (told, await answer(brain, user(*parts, "视频里发生了什么？"))):
        assert "先以红色为主，第2秒起是蓝色" in one
        assert "EXIT7" in one.replace(" ", "")
        assert wrong_sounds("大家好，今天天气真好", one[one.index("说「") :]) <= 0.3


async def test_an_open_english_question_is_answered_by_the_model_in_few_words(brain) -> None:
    told = await answer(brain, user("What is the capital of France?"))
    assert told.startswith("This is a rehearsal. ")
    assert "Paris" in told
    assert len(told.split()) < 45
    assert len((await answer(brain, user("Why is the sky blue?"), max_tokens=7)).split()) == 7


async def test_the_voice_to_imitate_is_not_a_question(brain) -> None:
    reference = ("audio", await recording(brain, "三加五等于几？"))
    persona = Said("system", user("模仿输入音频中的音色。", reference, "你是一个友好的助手。").parts)
    assert await answer(brain, persona, user("今天几号？")) == "这里是排练。今天是2026年11月30日，星期一。"


async def test_what_cannot_be_decoded_is_said(brain) -> None:
    for kind in ("image", "audio", "video"):
        with pytest.raises(UndecodableMedia) as caught:
            await answer(brain, user((kind, b"nothing of the kind"), "?"))
        assert caught.value.kind == kind
    assert "排练" in await answer(brain, user("你好"))


async def test_leaving_early_frees_the_brain(brain) -> None:
    speech = brain.speak("这是一句很长的话，" * 40)
    assert await anext(speech)
    await speech.aclose()
    thought = brain.think([user("Explain what a transistor is.")], Sampling(), spoken=False)
    assert (await anext(thought)).text
    await thought.aclose()
    async with asyncio.timeout(5):
        assert "12:00" in await answer(brain, user("现在几点了？"))


async def test_a_model_of_one_s_own_that_is_none_is_said(tmp_path: Path) -> None:
    from launch.rehearsal.brain.talk import ModelError, Talker

    (tmp_path / "bad.gguf").write_bytes(b"GGUF" + b"junk" * 99)
    with pytest.raises(ModelError, match="cannot be loaded"):
        await asyncio.to_thread(Talker, tmp_path / "bad.gguf")
