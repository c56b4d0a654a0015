"""tape.js by itself, in the browser but without sound card or clock: every delay comes out the same each time."""

from __future__ import annotations

import pytest
import pytest_asyncio
from playwright.async_api import Browser, Page

pytestmark = [pytest.mark.browser, pytest.mark.asyncio(loop_scope="session")]

# A tape is fed and read by the clock of its own blocks. `at(block)` runs before each block is read.
SETTING = """
const {Tape, RATE, EDGE, OUT} = await import('./omni/tape.js');
const BLOCK = 128;
const wave = (length) => Int16Array.from({length}, (_, i) => 9000 + Math.round(8000 * Math.sin(i / 7)));
const run = (tape, blocks, at = () => {}) => {
  const out = new Float32Array(blocks * BLOCK);
  for (let block = 0; block < blocks; block += 1) {
    at(block, block * BLOCK / RATE);
    tape.read(out.subarray(block * BLOCK, (block + 1) * BLOCK), block * BLOCK / RATE);
  }
  return out;
};
const level = (out) => Array.from(out, (sample) => Math.round(sample * 32768));
const sounding = (out) => level(out).filter((sample) => sample !== 0);
"""


@pytest_asyncio.fixture(loop_scope="session")
async def scene(browser: Browser, dev_page: str) -> Page:
    page = await browser.new_page()
    await page.goto(f"{dev_page}/omni/tape.js")  # a page of the right origin, with nothing on it
    await page.evaluate("document.head.append(Object.assign(document.createElement('base'), {href: '/'}))")
    return page


async def tape(scene: Page, body: str) -> object:
    return await scene.evaluate("async () => {" + SETTING.replace("'./omni", "'/omni") + body + "}")


async def test_packets_of_any_size_come_out_as_they_went_in(scene: Page) -> None:
    wrong = await tape(
        scene,
        """
        const sizes = [1, 127, 128, 129, 4800, 3, 24000, 777];
        const all = wave(sizes.reduce((a, b) => a + b));
        const tape = new Tape();
        let from = 0;
        for (const size of sizes) { tape.append(1, all.slice(from, from + size), 0); from += size; }
        tape.end(1);
        const out = level(run(tape, 300));
        const inside = (i) => i >= EDGE && i < all.length - EDGE;
        return [tape.state, all.length, [...all.keys()].filter((i) => inside(i) && out[i] !== all[i]).length,
                out.slice(all.length).some((sample) => sample !== 0), out[0], out[all.length - 1] < 400];
        """,
    )
    assert wrong == ["ended", 29965, 0, False, 0, True]


async def test_holes_at_every_offset_lose_no_sample_and_are_counted_exactly(scene: Page) -> None:
    bad = await tape(
        scene,
        """
        const bad = [];
        for (let first = 2000; first < 2000 + 2 * BLOCK; first += 1) {
          const tape = new Tape();
          const all = wave(first + 6000);
          const out = run(tape, 200, (block, now) => {
            if (block === 0) tape.append(1, all.slice(0, first), now);
            if (block === 60) { tape.append(1, all.slice(first), now); tape.end(1); }
          });
          const heard = level(out).filter((sample) => sample !== 0).length;
          const late = 60 * BLOCK / RATE - first / RATE;
          const expected = first < 60 * BLOCK;
          if (tape.reel.underruns !== 1 || !expected || Math.abs(tape.reel.stall - late) > 2 * BLOCK / RATE
              || tape.reel.longest !== tape.reel.stall || tape.state !== 'ended' || all.length - heard > 4) {
            bad.push([first, tape.reel.underruns, tape.reel.stall, late, heard]);
          }
        }
        return bad.slice(0, 3);
        """,
    )
    assert bad == []


async def test_steps_between_samples_stay_small_at_every_edge(scene: Page) -> None:
    """A click is a step: nowhere may the sound jump further than the signal itself and its 2 ms fades do."""
    worst = await tape(
        scene,
        """
        const tape = new Tape();
        const all = wave(24000);
        const out = run(tape, 400, (block, now) => {
          if (block === 0) tape.append(1, all.slice(0, 5003), now);
          if (block === 50) tape.append(1, all.slice(5003, 12000), now);
          if (block === 70) tape.seek(300);
          if (block === 90) tape.pause();
          if (block === 100) tape.resume();
          if (block === 130) { tape.append(1, all.slice(12000), now); tape.end(1); }
          if (block === 200) tape.append(2, wave(9000), now);
          if (block === 230) tape.silence(2);
        });
        let step = 0;
        for (let i = 1; i < out.length; i += 1) step = Math.max(step, Math.abs(out[i] - out[i - 1]));
        return step * 32768;
        """,
    )
    assert worst < 8000 / 7 + 17000 / 48 + 17000 / 48


async def test_silence_is_silent_within_five_milliseconds_and_bars_what_is_still_under_way(scene: Page) -> None:
    after = await tape(
        scene,
        """
        const tape = new Tape();
        tape.append(1, wave(24000), 0);
        const before = run(tape, 10);
        tape.silence(1);
        const out = run(tape, 40, (block) => { if (block === 5) { tape.append(1, wave(24000), 0); tape.end(1); } });
        return [sounding(before).length > 1000, sounding(out.subarray(0, OUT)).length > 100,
                sounding(out.subarray(OUT)).length, tape.state, tape.load(1)];
        """,
    )
    assert after == [True, True, 0, "idle", False]


async def test_a_newer_answer_takes_the_tape_and_the_older_ones_packets_are_dropped(scene: Page) -> None:
    got = await tape(
        scene,
        """
        const tape = new Tape();
        tape.append(1, wave(24000), 0);
        run(tape, 10);
        tape.append(2, new Int16Array(4800).fill(1000), 0);
        tape.append(1, wave(24000), 0);
        tape.end(1);
        const out = level(run(tape, 30));
        return [tape.answer, tape.reel.total, tape.reel.complete, [...new Set(out.slice(OUT + EDGE, 3000))]];
        """,
    )
    assert got == [2, 4800, False, [1000]]


async def test_the_reserve_delays_the_start_and_the_end_of_a_short_answer_flushes_it(scene: Page) -> None:
    got = await tape(
        scene,
        """
        const begin = (reserve, end) => {
          const tape = new Tape();
          tape.load(1, reserve);
          const out = run(tape, 200, (block, now) => {
            if (block === 0) tape.append(1, wave(12000), now);
            if (end !== null && block === end) tape.end(1);
          });
          return Math.floor(out.findIndex((sample) => sample !== 0) / BLOCK);
        };
        return [begin(0, null), begin(0.3, null), begin(0.3, 5)];
        """,
    )
    assert got == [0, round(0.3 * 24_000 / 128 + 0.5), 5]


async def test_lateness_is_the_start_delay_that_would_have_hidden_every_hole(scene: Page) -> None:
    got = await tape(
        scene,
        """
        // 0.5 s packets at 0, 0.4, 1.2 and 1.45 s: the third is 0.2 s later than a sound that began at 0 could bear.
        const times = [0, 0.4, 1.2, 1.45];
        const play = (reserve) => {
          const tape = new Tape();
          tape.load(1, reserve);
          let next = 0;
          run(tape, 500, (block, now) => {
            while (next < times.length && now >= times[next]) { tape.append(1, wave(12000), now); next += 1; }
            if (next === times.length) tape.end(1);
          });
          return [tape.reel.underruns, tape.reel.lateness];
        };
        const [first, lateness] = play(0);
        return [first, Math.round(lateness * 100) / 100, play(lateness + 0.01)[0]];
        """,
    )
    assert got == [1, 0.2, 0]


async def test_waiting_for_the_end_of_a_finished_sound_is_no_stall(scene: Page) -> None:
    got = await tape(
        scene,
        """
        const tape = new Tape();
        run(tape, 300, (block, now) => {
          if (block === 0) tape.append(1, wave(12000), now);
          if (block === 250) tape.end(1);
        });
        return [tape.state, tape.reel.underruns, tape.reel.stall];
        """,
    )
    assert got == ["ended", 0, 0]


async def test_a_jump_ahead_waits_for_its_sound_and_counts_as_no_stall(scene: Page) -> None:
    got = await tape(
        scene,
        """
        const tape = new Tape();
        const all = wave(48000);
        tape.append(1, all.slice(0, 12000), 0);
        run(tape, 20);
        tape.seek(20000);
        const quiet = sounding(run(tape, 20).subarray(EDGE)).length;
        tape.append(1, all.slice(12000), 1);
        tape.end(1);
        const out = level(run(tape, 5));
        return [quiet, out.slice(EDGE, 640).every((sample, i) => sample === all[20000 + EDGE + i]), tape.reel.underruns];
        """,
    )
    assert got == [0, True, 0]
