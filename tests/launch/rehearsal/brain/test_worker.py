import asyncio
import threading
import time

import pytest

from launch.rehearsal.brain.brain import Part
from launch.rehearsal.brain.senses import grouped
from launch.rehearsal.brain.tokens import Writer
from launch.rehearsal.brain.worker import Channel, Worker


async def test_items_come_in_order_and_a_failure_after_them() -> None:
    def work(channel: Channel[int]) -> None:
        channel.send(1)
        channel.send(2)
        raise ValueError("broken")

    worker = Worker()
    stream = worker.stream(work)
    assert [await anext(stream), await anext(stream)] == [1, 2]
    with pytest.raises(ValueError, match="broken"):
        await anext(stream)
    worker.close()


async def test_leaving_ends_the_work_and_frees_the_thread() -> None:
    steps: list[int] = []

    def endless(channel: Channel[int]) -> None:
        while True:
            steps.append(len(steps))
            channel.send(len(steps))
            time.sleep(0.01)

    worker = Worker()
    stream = worker.stream(endless)
    assert await anext(stream) == 1
    await stream.aclose()
    done = len(steps)
    assert await worker.run(lambda: "free") == "free"
    assert len(steps) == done
    worker.close()


async def test_turns_wait_for_each_other_and_a_waiting_one_may_leave() -> None:
    gate, order = threading.Event(), []

    def first(channel: Channel[str]) -> None:
        gate.wait(5)
        order.append("first")
        channel.send("first")

    def never(channel: Channel[str]) -> None:
        order.append("never")

    worker = Worker()
    running = asyncio.create_task(anext(worker.stream(first)))
    await asyncio.sleep(0.05)
    waiting = asyncio.create_task(anext(worker.stream(never)))
    await asyncio.sleep(0.05)
    waiting.cancel()
    with pytest.raises(asyncio.CancelledError):
        await waiting
    gate.set()
    assert await running == "first"
    await worker.run(lambda: None)
    assert order == ["first"]
    worker.close()


def test_a_writer_stops_at_its_limit() -> None:
    got: list[str] = []
    writer = Writer(lambda token: got.append(token.text), 3)
    writer.write("one two three four")
    assert got == ["one", " two", " three"]
    assert writer.is_full


@pytest.mark.parametrize(
    ("kinds", "sizes"),
    [
        ("iaiaia", [6]),
        ("iai", [1, 1, 1]),
        ("iaiai", [5]),
        ("ii", [1, 1]),
        ("aia", [1, 1, 1]),
        ("iaiav", [4, 1]),
        ("iiaa", [1] * 4),
    ],
)
def test_pictures_and_sounds_in_turn_are_a_clip(kinds: str, sizes: list[int]) -> None:
    names = {"i": "image", "a": "audio", "v": "video"}
    parts = [Part(names[kind], b"") for kind in kinds]
    assert [len(group) for group in grouped(parts)] == sizes
