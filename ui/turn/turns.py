"""The turns of the app: who owns them, which run, and how many are kept."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from functools import partial
from pathlib import Path

from launch.errors import OmniError
from ui.turn.client import ServerClient
from ui.turn.record import TurnRecord
from ui.turn.request import Request
from ui.turn.timing import Figures
from ui.turn.turn import Turn

# An ended turn stays for replay, download and "save this turn". 32 are more than anyone scrolls back; the bytes bound
# what a long run of videos may hold (the app's budget is 350 MB, and Python with Gradio takes most of it).
_KEEP = 32
_KEEP_BYTES = 64 << 20
_FOREVER_S = 3600.0  # a bound only: whoever waits for a change asks again


class Turns:
    """Starts turns and owns their tasks. Belongs to one event loop; ``close`` ends all of them.

    ``runs_dir``: where records are written, ``None``: nowhere. An ended turn is forgotten when ``keep`` newer ones have
    ended, or when the kept ones hold more than ``keep_bytes``; its record stays on disk.
    """

    def __init__(
        self, client: ServerClient, runs_dir: Path | None, keep: int = _KEEP, keep_bytes: int = _KEEP_BYTES
    ) -> None:
        self._client = client
        self._runs_dir = runs_dir
        self._keep = keep
        self._keep_bytes = keep_bytes
        self._turns: dict[str, Turn] = {}  # running ones as started, ended ones as ended
        self._lives: set[asyncio.Task[None]] = set()  # end by themselves, a stop hurries them
        self._afterlives: dict[str, asyncio.Task[None]] = {}  # end when the turn is forgotten
        self._closed = False

    def start(self, request: Request, owner: str, what: str = "text") -> Turn:
        """Asks ``request`` for ``owner``. While a turn of the same owner and ``what`` (a tab) runs, returns that one: a
        double click sends one request. ``what`` names the record's folder: ASCII letters, digits, ``_``, ``-``, else
        ``ValueError``. To be called on the event loop."""
        if not what.isascii() or not what.replace("_", "").replace("-", "").isalnum():
            raise ValueError(f"what: {what!r}")
        if self._closed:
            raise RuntimeError("these turns are closed")
        for turn in self._turns.values():
            if turn.running and (turn.owner, turn.what) == (owner, what):
                return turn
        turn = Turn(request, owner, what)
        self._turns[turn.id] = turn
        life = asyncio.create_task(self._live(turn), name=f"turn {turn.id[:6]}")
        self._lives.add(life)
        life.add_done_callback(self._lives.discard)
        return turn

    def get(self, turn_id: str, owner: str) -> Turn | None:
        """The turn, if it is still kept and belongs to ``owner``."""
        turn = self._turns.get(turn_id)
        return turn if turn is not None and turn.owner == owner else None

    async def stop(self, turn_id: str, owner: str) -> None:
        """Ends a turn; nothing happens if it has ended or is not ``owner``'s."""
        if (turn := self.get(turn_id, owner)) is not None:
            await turn.stop()

    async def leave(self, owner: str) -> None:
        """``owner`` has gone: ends whatever still runs for them, so that no request is left on the server."""
        await asyncio.gather(*(turn.stop() for turn in self._turns.values() if turn.owner == owner))

    async def close(self) -> None:
        """Ends every turn, and waits until the last record is written. The client is its maker's to close."""
        self._closed = True
        await asyncio.gather(*(turn.stop() for turn in self._turns.values()))
        await asyncio.gather(*self._lives)
        afterlives = list(self._afterlives.values())
        for afterlife in afterlives:
            afterlife.cancel()
        await asyncio.gather(*afterlives, return_exceptions=True)

    async def _live(self, turn: Turn) -> None:
        await turn.run(self._client)
        self._turns[turn.id] = self._turns.pop(turn.id)
        known = _late(turn)
        folder = await self._record(turn)
        afterlife = asyncio.create_task(self._live_on(turn, folder, known), name=f"turn {turn.id[:6]} after")
        self._afterlives[turn.id] = afterlife
        self._forget_old()

    async def _live_on(self, turn: Turn, folder: Path | None, known: Late) -> None:
        """What an ended turn still learns: whether the server survived a stop, and what the player measured."""
        watching = asyncio.create_task(turn.look_after(self._client)) if turn.state == "stopped" else None
        version = 0
        try:
            while True:
                version = await turn.changed(version, _FOREVER_S)
                if folder is not None and known != _late(turn):
                    known = _late(turn)
                    folder = await self._written(turn, partial(_write_late, turn, folder))
        finally:
            if watching is not None:
                watching.cancel()
                await asyncio.wait([watching])

    async def _record(self, turn: Turn) -> Path | None:
        runs_dir = self._runs_dir
        if runs_dir is None:
            return None
        return await self._written(turn, lambda: TurnRecord.of(turn).write(runs_dir, turn.wav()))

    async def _written(self, turn: Turn, write: Callable[[], Path]) -> Path | None:
        """Runs ``write`` in a thread; a disk that fails costs the record and not the turn."""
        try:
            return await asyncio.to_thread(write)
        except OSError as error:
            turn.notice(OmniError("record-not-written", detail=str(error), folder=str(self._runs_dir)))
            return None

    def _forget_old(self) -> None:
        ended = [turn for turn in self._turns.values() if turn.id in self._afterlives]
        held = sum(map(_weight, ended))
        while len(ended) > self._keep or (len(ended) > 1 and held > self._keep_bytes):
            old = ended.pop(0)
            held -= _weight(old)
            del self._turns[old.id]
            self._afterlives.pop(old.id).cancel()


Late = tuple[Figures, int]


def _late(turn: Turn) -> Late:
    """What of an ended turn may still change in its record."""
    return turn.figures, len(turn.notices)


def _write_late(turn: Turn, folder: Path) -> Path:
    return TurnRecord.of(turn).write_late(folder)


def _weight(turn: Turn) -> int:
    """Bytes an ended turn holds; its sound stands in ``pcm`` and in its events."""
    media = sum(len(getattr(part, "data", b"")) for message in turn.request.messages for part in message.parts)
    return media + 2 * len(turn.pcm)
