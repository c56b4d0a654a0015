"""The arithmetic of the live conversation by itself: low-pass, voice gate, line of answers, bookkeeping, subtitles."""

from __future__ import annotations

import base64
from collections.abc import AsyncIterator
from typing import Any

import numpy as np
import pytest
import pytest_asyncio
import soundfile
from playwright.async_api import Browser, Page

from tests.browser.listener import BASE64
from tests.conftest import ROOT

pytestmark = [pytest.mark.browser, pytest.mark.asyncio(loop_scope="session")]

MODULES = ["resampler", "voice", "line", "dialogue", "rhythm"]
SAMPLES = ROOT / "assets" / "samples"


@pytest_asyncio.fixture(scope="module", loop_scope="session")
async def scene(browser: Browser, dev_page: str) -> AsyncIterator[Page]:
    page = await browser.new_page()
    await page.goto(f"{dev_page}/omni/tape.js")  # a page of the right origin, with nothing on it
    yield page
    await page.close()


async def run(scene: Page, body: str, samples: np.ndarray | None = None, **values: Any) -> Any:
    """``body`` in the page, with the modules at hand, ``samples`` as floats, and ``values`` by name."""
    given = ", ".join(values)
    sound = base64.b64encode(np.asarray([] if samples is None else samples, "<f4").tobytes()).decode()
    return await scene.evaluate(
        f"async ({{sound, {given}}}) => {{ const live = Object.assign({{}}, ...await Promise.all({MODULES}.map((name) =>"
        " import(`/omni/live/${name}.js`))));"
        f"const samples = new Float32Array(Uint8Array.from(atob(sound), (c) => c.charCodeAt(0)).buffer); {body} }}",
        {"sound": sound, **values},
    )


async def resampled(scene: Page, samples: np.ndarray, source: int, target: int) -> np.ndarray:
    """Through the page's low-pass, in blocks of the sound card."""
    body = """
    const filter = new live.Resampler(source, target);
    const out = new Float32Array(filter.most(samples.length) + 1);
    let length = 0;
    for (let at = 0; at < samples.length; at += 128) length += filter.process(samples.subarray(at, at + 128), out.subarray(length));
    return text(out.slice(0, length).buffer);
    """
    body = f"const text = {BASE64};{body}"
    return np.frombuffer(base64.b64decode(await run(scene, body, samples, source=source, target=target)), "<f4")


def tone(hertz: float, rate: int, seconds: float = 0.25) -> np.ndarray:
    return 0.5 * np.sin(2 * np.pi * hertz * np.arange(round(rate * seconds)) / rate)


def level_db(samples: np.ndarray) -> float:
    middle = samples[len(samples) // 5 : -len(samples) // 5]
    return float(20 * np.log10(np.sqrt(np.mean(middle**2)) / (0.5 / np.sqrt(2)) + 1e-12))


@pytest.mark.parametrize("rate", [44_100, 48_000, 96_000])
async def test_what_a_microphone_hears_above_8_khz_does_not_fold_back_into_the_speech(scene: Page, rate: int) -> None:
    for hertz in (100, 1_000, 4_000, 6_900):
        assert abs(level_db(await resampled(scene, tone(hertz, rate), rate, 16_000))) < 0.1, hertz
    for hertz in (8_100, 9_000, 12_000, 15_900, 20_000):  # a plain decimation lets them through at full strength
        assert level_db(await resampled(scene, tone(hertz, rate), rate, 16_000)) < -70, hertz


async def test_a_swept_tone_comes_out_as_itself_and_then_not_at_all(scene: Page) -> None:
    rate, seconds = 48_000, 1.0
    at = np.arange(round(rate * seconds)) / rate
    sweep = 0.5 * np.sin(2 * np.pi * (24_000 / seconds / 2) * at**2)  # 0 to 24 kHz
    out = await resampled(scene, sweep, rate, 16_000)
    sixteen = np.arange(len(out)) / 16_000
    direct = 0.5 * np.sin(2 * np.pi * (24_000 / seconds / 2) * sixteen**2)
    heard = slice(0, round(16_000 * 6_900 / 24_000))
    # The filter delays by half its length, which is a whole number of samples of neither rate.
    shift = min(range(-4, 60), key=lambda s: float(np.abs(np.roll(out, -s)[heard] - direct[heard]).mean()))
    assert 35 <= shift <= 45, "2.5 ms at 16 kHz"
    assert np.abs(out[round(16_000 * 8_150 / 24_000) + shift :]).max() < 5e-4, "nothing folds back"


@pytest.mark.parametrize("rate", [44_100, 48_000, 24_000, 16_000])
async def test_the_voice_loses_no_sample_on_its_way_to_the_sound_card(scene: Page, rate: int) -> None:
    voice = tone(440, 24_000, 1.0)
    out = await resampled(scene, voice, 24_000, rate)
    assert abs(len(out) - rate) <= rate * 64 / 24_000
    assert abs(level_db(out)) < 0.05


def clip(name: str) -> np.ndarray:
    """Speech at 16 kHz as a microphone hears it, after a second of a quiet room."""
    samples, rate = soundfile.read(SAMPLES / name)
    at = np.arange(0, len(samples), rate / 16_000)
    speech = np.interp(at, np.arange(len(samples)), samples)
    return np.concatenate(
        [room(1.0), 0.25 * speech / np.abs(speech).max() + room(len(speech) / 16_000, 1)[: len(speech)]]
    )


def room(seconds: float, seed: int = 0, level: float = 0.002) -> np.ndarray:
    return level * np.random.default_rng(seed).standard_normal(round(16_000 * seconds) + 1)


def burst(seconds: float, voiced: float = 0.0) -> np.ndarray:
    """A loud noise that dies away, like a cough: an explosion of breath, then a short voiced end."""
    rng = np.random.default_rng(3)
    breath = rng.standard_normal(round(16_000 * seconds)) * np.exp(
        -np.arange(round(16_000 * seconds)) / 16_000 / (seconds / 3)
    )
    tail = np.sign(np.sin(2 * np.pi * 150 * np.arange(round(16_000 * voiced)) / 16_000))
    return np.concatenate([room(1.0), 0.5 * breath, 0.2 * tail, room(1.0, 2)])


async def fired(scene: Page, samples: np.ndarray) -> list[float]:
    """Seconds at which the gate says that somebody speaks."""
    body = """
    const gate = new live.VoiceGate(), at = [];
    for (let i = 0; i < samples.length; i += 43) if (gate.push(samples.subarray(i, i + 43))) at.push(i / 16000);
    return at;
    """
    return await run(scene, body, samples)


@pytest.mark.parametrize("name", ["question-en.flac", "question-zh.flac", "message-zh.flac"])
async def test_speech_is_noticed_within_half_a_second(scene: Page, name: str) -> None:
    samples = clip(name)
    loud = float(np.flatnonzero(np.abs(samples) > 0.05)[0]) / 16_000
    times = await fired(scene, samples)
    assert times, "speech is noticed"
    assert times[0] - loud < 0.5


async def test_neither_noise_nor_a_click_nor_a_cough_is_taken_for_speech(scene: Page) -> None:
    click = room(3.0)
    click[16_000:16_040] = 0.9
    rng = np.random.default_rng(5)
    rumble = np.cumsum(rng.standard_normal(64_000))
    rumble = 0.3 * (rumble - np.convolve(rumble, np.ones(800) / 800, "same")) / np.abs(rumble).max()
    keys = room(4.0)
    for at in range(8_000, 60_000, 2_500):  # somebody types six strokes a second
        keys[at : at + 160] += 0.3 * rng.standard_normal(160) * np.exp(-np.arange(160) / 40)
    sounds = {
        "silence": np.zeros(48_000),
        "noise": room(4.0, 6, 0.1),
        "noise that begins": np.concatenate([room(1.0), room(3.0, 7, 0.2)]),
        "rumble": rumble,
        "click": click,
        "typing": keys,
        "cough": burst(0.25),
        "cough with a voice in it": burst(0.2, voiced=0.09),
        "faint speech from another room": 0.04 * clip("question-en.flac"),
    }
    assert {name: times for name, samples in sounds.items() if (times := await fired(scene, samples))} == {}


LINE = """
const tone = (frames, level) => new Int16Array(frames).fill(level);
const line = new live.Line();
let now = 0;
const read = (frames) => {
  const out = new Float32Array(frames);
  for (let at = 0; at < frames; at += 64) { line.read(out.subarray(at, at + 64), now); now += 64 / 24000; }
  return Array.from(out, (sample) => Math.round(sample * 32768));
};
"""


async def test_an_answer_that_comes_while_another_sounds_waits_and_each_is_counted_for_itself(scene: Page) -> None:
    body = (
        LINE
        + """
    line.append(1, tone(12000, 1000), now); line.end(1);
    line.append(2, tone(24000, 2000), now);
    const out = read(24000), heard = {};
    for (const {response, frame, state} of line.take()) heard[response] = [frame, state];
    const first = out.findIndex((sample) => sample > 1100);
    return [heard, out.filter((sample) => sample === 1000).length, first - 12000, line.sounding];
    """
    )
    heard, whole, gap, sounding = await run(scene, body)
    assert heard["1"] == [12_000, "ended"]
    assert heard["2"][1] == "playing"
    assert heard["2"][0] + 12_000 <= 24_000
    assert whole > 12_000 - 2 * 48 - 3_000
    assert gap < 3_100, "the start reserve of a first answer, and no hole before the second"
    assert sounding


async def test_a_flush_is_silent_within_five_milliseconds_and_nothing_older_sounds_again(scene: Page) -> None:
    body = (
        LINE
        + """
    line.append(1, tone(48000, 1000), now); line.append(2, tone(48000, 2000), now);
    read(9600);
    line.flush(2);
    const over = line.take().map(({response, frame}) => [response, frame]);
    const out = read(9600);
    line.append(1, tone(9600, 1000), now); line.append(2, tone(9600, 2000), now); line.end(2);
    const after = read(9600);
    line.append(3, tone(9600, 3000), now);
    const next = read(9600);
    return [out.findLastIndex((sample) => sample !== 0), Math.max(...after), Math.max(...next), over, line.waiting];
    """
    )
    last, after, following, over, waiting = await run(scene, body)
    assert 0 < last < 120
    assert after == 0
    assert following == 3_000
    assert [response for response, _ in over] == [1, 2]
    assert over[0][1] > 0
    assert over[1][1] == 0, "the second was never heard"
    assert waiting


async def test_an_older_answers_late_packets_do_not_overtake(scene: Page) -> None:
    body = (
        LINE
        + """
    line.append(1, tone(4800, 1000), now); line.end(1);
    read(12000);
    line.append(1, tone(4800, 1000), now);
    line.append(2, tone(4800, 2000), now); line.end(2);
    return [...new Set(read(12000).filter((sample) => sample > 1999))];
    """
    )
    assert await run(scene, body) == [2000]


async def test_a_hole_raises_the_reserve_and_good_answers_lower_it_again(scene: Page) -> None:
    body = (
        LINE
        + """
    const reserves = [line.reserve];
    for (let answer = 1; answer <= 5; answer += 1) {
      line.append(answer, tone(12000, 1000), now);
      read(answer === 1 ? 24000 : 4800);
      line.append(answer, tone(12000, 1000), now); line.end(answer);
      read(48000);
      reserves.push(line.reserve);
    }
    return [reserves, line.underruns, line.stall];
    """
    )
    reserves, underruns, stall = await run(scene, body)
    assert underruns == 1
    assert 0.3 < stall < 0.5
    assert 0.5 < reserves[1] <= 0.8
    assert reserves == [reserves[0], *sorted(reserves[1:], reverse=True)]
    assert reserves[-1] == reserves[0]


async def test_the_words_end_where_the_ear_stopped(scene: Page) -> None:
    body = """
    const talk = new live.Dialogue();
    talk.begin(1);
    talk.caption(1, "One two three four. ", 2000);
    talk.caption(1, "Five six seven eight.", 4000);
    talk.at(1, 2900);
    const halfway = talk.split(talk.answer);
    talk.cut(1, "voice");
    talk.spoken({response: 1, status: "cancelled", text: "all of it", duration_ms: 4000});
    const {state, by} = talk.answer;
    talk.caption(2, "And then.", 900);
    talk.spoken({response: 2, status: "completed", text: "And then.", duration_ms: 900});
    talk.at(2, 900);
    talk.cut(2, "stop");
    return [halfway, talk.split(talk.answers.get(1)), state, by, talk.answers.get(2).state, talk.heard.response];
    """
    halfway, cut, state, by, second, heard = await run(scene, body)
    assert halfway["said"].startswith("One two three four. Five")
    assert "eight" in halfway["now"] + halfway["next"]
    assert cut == {"said": halfway["said"], "now": "", "next": ""}
    assert (state, by) == ("cut", "voice")
    assert second == "said", "what was heard whole was not cut"
    assert heard == 2


async def test_one_decision_a_second_stands_on_the_timeline(scene: Page) -> None:
    body = """
    const rhythm = new live.Rhythm();
    for (const at of [1, 2]) rhythm.decided(at, "listen");
    for (const at of [3, 3.02, 3.4, 4, 4.3]) rhythm.decided(at, "speak");
    rhythm.decided(5, "listen");
    rhythm.sounding(3.1, true); rhythm.sounding(3.2, true); rhythm.sounding(4.8, false);
    rhythm.mark(4.7, "stop"); rhythm.mark(4.75, "stop");
    return [rhythm.decisions.map(({what}) => what[0]).join(""), rhythm.voice, rhythm.marks.length];
    """
    assert await run(scene, body) == ["llssl", [{"at": 3.1, "until": 4.8}], 1]
