"""What is played is what was spoken, sample by sample, whatever the page's thread and the network do."""

from __future__ import annotations

import asyncio
import json

import pytest

from tests.browser.listener import Listener, follow
from tests.browser.stub import Script, steady

pytestmark = [pytest.mark.browser, pytest.mark.asyncio(loop_scope="session")]


async def test_the_worklet_plays_the_wav_sample_by_sample(listener: Listener) -> None:
    await listener.ask(Script(chunks=steady(3, 0.5)))
    await listener.played()
    wav = await listener.wav()
    assert len(wav) == 3 * 24_000
    assert len(wav) - follow(await listener.heard(), wav) <= 1
    assert (await listener.report())["played_ms"] == 3_000


async def test_a_tiny_answer_in_odd_packets_is_heard_whole(listener: Listener) -> None:
    await listener.ask(Script(chunks=[(0.1, 0.03), (0.15, 0.0213), (0.2, 0.1)]))
    await listener.played()
    wav = await listener.wav()
    assert len(wav) - follow(await listener.heard(), wav) <= 1


async def test_a_late_packet_is_a_stall_of_its_length_and_no_sample_is_lost(listener: Listener) -> None:
    await listener.ask(Script(chunks=[(0.1, 0.5), (2.6, 0.5)]))
    await listener.played()
    report = await listener.report()
    assert report["underruns"] >= 1
    assert 1_500 < report["stall_longest_ms"] < 2_500
    assert report["stall_longest_ms"] <= report["stall_ms"] < 2_600
    wav = await listener.wav()
    heard = await listener.heard()
    assert len(heard.runs) == report["underruns"] + 1
    assert len(wav) - follow(heard, wav) <= 1


async def test_no_underrun_while_the_pages_thread_stands_still(listener: Listener) -> None:
    await listener.page.evaluate(
        "() => { window.busy = setInterval("
        "() => { const end = performance.now() + 500; while (performance.now() < end); }, 900); }"
    )
    await listener.ask(Script(chunks=steady(4, 0.9)))
    await listener.played()
    await listener.page.evaluate("clearInterval(busy)")
    report = await listener.report()
    assert (report["underruns"], report["stall_ms"], report["total"]) == (0, 0, 4 * 24_000)


async def test_first_sound_is_measured_from_the_press(listener: Listener) -> None:
    await listener.ask(Script(chunks=[(0.8, 1.0)]))
    pressed = await listener.page.evaluate("performance.now()")
    await listener.played()
    report = await listener.report()
    assert 800 < report["first_sound_ms"] < 2_500, pressed
    shown = await listener.page.inner_text('#one [data-figure="first_sound"] b')
    assert shown in (f"{report['first_sound_ms']:.0f}", f"{report['first_sound_ms'] / 1000:.2f}")
    figures = {}
    for _ in range(100):
        figures = json.loads(await listener.fetch("snapshot"))["figures"]
        if figures["stall_ms"] is not None:
            break
        await asyncio.sleep(0.05)
    assert figures["first_sound_ms"] == pytest.approx(report["first_sound_ms"])
    assert figures["stall_ms"] == 0


async def test_the_next_answer_waits_as_long_as_the_last_one_was_late(listener: Listener) -> None:
    """The second starts later by the first one's hole; one that is in time halves the wait again, and Stop changes nothing."""
    late = Script(chunks=[(0.1, 0.5), (1.6, 0.5)])
    await listener.ask(late)
    await listener.played()
    hole = await listener.page.evaluate("omni.player.reserve")
    assert 0.5 < hole <= 1.5
    await listener.ask(late)
    await listener.played()
    report = await listener.report()
    assert report["stall_ms"] < hole * 1000 / 2
    assert report["first_sound_ms"] > hole * 1000
    await listener.ask(Script(chunks=[(0.1, 1.0)]))
    await listener.played()
    assert await listener.page.evaluate("omni.player.reserve") < hole
