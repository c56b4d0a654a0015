"""The one thread that owns the models, and streams out of it that can be left at any time."""

from __future__ import annotations

import asyncio
import threading
from collections.abc import AsyncIterator, Callable
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from typing import Generic, TypeVar

T = TypeVar("T")
_END = object()


class Abandoned(Exception):
    """Raised inside the work when nobody reads its stream any more."""


class Channel(Generic[T]):
    """The worker's end of a stream."""

    def __init__(self, send: Callable[[T], object]) -> None:
        self._send = send
        self._left = threading.Event()

    def leave(self) -> None:
        """Called by the reader: the next ``step`` or ``send`` ends the work."""
        self._left.set()

    @property
    def is_left(self) -> bool:
        return self._left.is_set()

    def step(self) -> None:
        """To be called between steps of work. Raises ``Abandoned``."""
        if self.is_left:
            raise Abandoned

    def send(self, item: T) -> None:
        """Hands an item to the reader. Raises ``Abandoned``."""
        self.step()
        self._send(item)


class Worker:
    """Runs work one after the other, in the order it was asked for."""

    def __init__(self) -> None:
        self._thread = ThreadPoolExecutor(1, thread_name_prefix="brain")

    async def run(self, work: Callable[[], T]) -> T:
        return await asyncio.get_running_loop().run_in_executor(self._thread, work)

    async def stream(self, work: Callable[[Channel[T]], None]) -> AsyncIterator[T]:
        """What ``work`` sends, and then what it raises. Closing the iterator ends the work and waits for its last step."""
        loop = asyncio.get_running_loop()
        items: asyncio.Queue = asyncio.Queue()

        def put(item: object) -> None:
            loop.call_soon_threadsafe(items.put_nowait, item)

        def run() -> None:
            try:
                work(channel)
            finally:
                put(_END)

        channel: Channel[T] = Channel(put)
        running = self._thread.submit(run)
        try:
            while (item := await items.get()) is not _END:
                yield item
            await asyncio.wrap_future(running)
        finally:
            channel.leave()
            if not running.cancel():  # it has begun: the thread must be free again when this returns
                with suppress(Abandoned):
                    await asyncio.wrap_future(running)

    def close(self) -> None:
        """Waits for the work at hand; what is queued is dropped."""
        self._thread.shutdown(wait=True, cancel_futures=True)
