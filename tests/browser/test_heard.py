"""What is played is what was spoken, sample by sample, whatever the page's thread and the network do."""

from __future__ import annotations

import asyncio
import json

import numpy as np
import pytest

from tests.browser.listener import EDGE, Listener, differences
from tests.browser.stub import Script, steady

pytestmark = [pytest.mark.browser, pytest.mark.asyncio(loop_scope="session")]


async def test_the_worklet_plays_the_wav_sample_by_sample(listener: Listener) -> None:
    await listener.ask(Script(chunks=steady(3, 0.5)))
    await listener.played()
    (run,) = (await listener.heard()).runs
    wav = await listener.wav()
    assert len(wav) == 3 * 24_000
    wrong = differences(run[1], wav)
    assert wrong.size > 0, "the edges are faded"
    assert set(wrong) <= {*range(EDGE), *range(len(wav) - EDGE, len(wav))}


async def test_a_tiny_answer_and_odd_packets_are_heard_whole(listener: Listener) -> None:
    await listener.ask(Script(chunks=[(0.1, 0.03), (0.15, 0.0213), (0.2, 0.1)]))
    await listener.played()
    wav = await listener.wav()
    heard = np.concatenate([samples for _, samples in (await listener.heard()).runs])
    assert np.count_nonzero(heard) > 0.95 * len(wav)
    assert (await listener.report())["total"] == len(wav)


async def test_a_late_packet_is_a_stall_of_its_length_and_no_sample_is_lost(listener: Listener) -> None:
    await listener.ask(Script(chunks=[(0.1, 0.5), (2.6, 0.5)]))
    await listener.played()
    report = await listener.report()
    assert report["underruns"] == 1
    assert report["stall_ms"] == pytest.approx(2600 - 100 - 500, abs=500)
    assert report["stall_longest_ms"] == report["stall_ms"]
    wav = await listener.wav()
    heard = [samples for _, samples in (await listener.heard()).runs]
    assert len(heard) == 2
    clean = np.concatenate([run[np.flatnonzero(run)[0] - 1 : np.flatnonzero(run)[-1] + 1] for run in heard])
    hole = 12_000
    wrong = np.flatnonzero(np.pad(clean, (0, max(0, len(wav) - len(clean))))[: len(wav)] != wav)
    near_edges = [at for at in wrong if EDGE <= at < hole - EDGE - 1 or hole + EDGE < at < len(wav) - EDGE - 2]
    assert not near_edges


async def test_no_underrun_while_the_pages_thread_stands_still(listener: Listener) -> None:
    await listener.page.evaluate(
        "() => { window.busy = setInterval("
        "() => { const end = performance.now() + 500; while (performance.now() < end); }, 900); }"
    )
    await listener.ask(Script(chunks=steady(6, 0.9)))
    await listener.played()
    await listener.page.evaluate("clearInterval(busy)")
    report = await listener.report()
    assert (report["underruns"], report["stall_ms"], report["total"]) == (0, 0, 6 * 24_000)


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
