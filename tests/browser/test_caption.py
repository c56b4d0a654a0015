"""caption.js by itself: which words a text has, and which of them a voice has reached."""

from __future__ import annotations

from typing import Any

import pytest
import pytest_asyncio
from playwright.async_api import Browser, Page

pytestmark = [pytest.mark.browser, pytest.mark.asyncio(loop_scope="session")]


@pytest_asyncio.fixture(scope="module", loop_scope="session")
async def scene(browser: Browser, dev_page: str) -> Page:
    page = await browser.new_page()
    await page.goto(f"{dev_page}/omni/caption.js")  # a page of the right origin, with nothing on it
    return page


async def caption(scene: Page, body: str, argument: Any = None) -> Any:
    load = "const {words, split, Outline, ordinary} = await import('/omni/caption.js');"
    return await scene.evaluate("async (given) => {" + load + body + "}", argument)


TEXTS = [
    "你好呀！vLLM 是一个又快又省的大模型推理引擎，它用分页的方式管理显存。",
    "Hello there, I'm a rehearsal engine. Today is 2026-11-30!",
    "一、二、三；\n\n1) first\n2) second",
    "……",
    "",
    "   leading space",
    "👩‍👩‍👧 family 😀",
    "a" * 300,
]


@pytest.mark.parametrize("text", TEXTS)
async def test_the_three_parts_are_always_the_whole_text_and_said_only_grows(scene: Page, text: str) -> None:
    steps = await caption(
        scene,
        "const steps = Array.from({length: 51}, (_, i) => split(words(given), i / 50));"
        "return steps.map(({said, now, next}) => [said, now, next]);",
        text,
    )
    assert {"".join(parts) for parts in steps} == {text}
    said = [len(parts[0]) for parts in steps]
    assert said == sorted(said)
    assert steps[0] == ["", "", text]
    assert steps[-1] == [text, "", ""]


async def test_words_are_words_and_light_up_in_short_phrases(scene: Page) -> None:
    found = await caption(scene, "return words(given).map((word) => [word.text, word.beat]);", TEXTS[0])
    assert {"推理", "方式", "管理"} <= {text for text, _ in found}
    by_beat: dict[int, str] = {}
    for text, beat in found:
        by_beat[beat] = by_beat.get(beat, "") + text
    assert all(len(phrase) <= 12 for phrase in by_beat.values()), by_beat
    assert any(phrase.endswith("，") for phrase in by_beat.values())


async def test_a_pause_of_the_voice_holds_the_caption(scene: Page) -> None:
    at = await caption(
        scene,
        """
        const all = words("one two three four five six seven eight");
        const outline = new Outline();
        const second = (peak) => outline.add(new Float32Array(50).fill(peak));
        second(0.4); second(0.001); second(0.001); second(0.4);
        const share = (frame) => outline.voiced(frame) / outline.voiced(96000);
        return [12000, 24000, 48000, 72000, 84000, 96000].map((frame) => split(all, share(frame)).said);
        """,
    )
    assert at[1] == at[2] == at[3] == "one two three four "
    assert at[0] < at[1]
    assert at[5].endswith("eight")


async def test_chinese_and_english_have_an_ordinary_pace(scene: Page) -> None:
    chinese, english = await caption(
        scene,
        "return given.map((text) => ordinary(words(text)));",
        ["今天天气很好我们一起去公园散步吧", "The weather is nice today"],
    )
    assert 2.5 < chinese < 4.5  # 16 syllables at 4 to 6 a second
    assert 1.0 < english < 2.0  # 7 syllables
