"""The page's socket of a conversation, ``/live/{id}/socket``: frames in, frames out, nothing kept here.

Both ways are bounded. From the page: reading stops while a frame is handled, the session's own queue drops its oldest
microphone frames and counts them, and a page that floods is closed. To the page: what it does not read waits in the
conversation's outbox; when one frame has waited ``Limits.send_s`` the socket is closed (4408), and the page comes back
for the rest.
"""

from __future__ import annotations

import asyncio
import time
from dataclasses import dataclass

from fastapi import WebSocket, WebSocketDisconnect
from starlette.types import Message

from ui.live.conversation import Conversation
from ui.live.page_wire import (
    CAMERA,
    HEADER,
    JPEG_MOST,
    MIC_MOST,
    MICROPHONE,
    TEXT_MOST,
    Alive,
    page_word,
)
from ui.live.visit import STOPPED_READING, TAKEN_OVER

POLICY, TOO_LONG = 1008, 1009
_JPEG = b"\xff\xd8\xff"


@dataclass(frozen=True)
class Limits:
    """Seconds and frames. ``send_s``: a page that takes nothing for so long is asleep. ``alive_s``: the page takes its
    socket for dead after three of these without a word. ``rate``, ``burst``: messages a second of a page, and how many it
    may send at once: it makes ten a second, and a tunnel that stalls for 20 s lets go of 200 together. ``wrong``:
    messages nobody can read, after which the page is none of ours. ``close_s``: for the close frame of a stuck socket.
    """

    send_s: float = 10.0
    alive_s: float = 5.0
    rate: float = 60.0
    burst: float = 300.0
    wrong: int = 50
    close_s: float = 1.0


class _Bucket:
    """Lets ``rate`` things a second pass, and ``burst`` at once."""

    def __init__(self, rate: float, burst: float) -> None:
        self._rate, self._burst = rate, burst
        self._left, self._at = burst, time.monotonic()

    def take(self) -> bool:
        now = time.monotonic()
        self._left = min(self._burst, self._left + (now - self._at) * self._rate) - 1
        self._at = now
        return self._left >= 0


async def visit(socket: WebSocket, conversation: Conversation, after: int | None, limits: Limits) -> None:
    """One visit of a page on an accepted socket, until either side goes. ``after``: the last frame the page has."""
    page, number = conversation.attach(after)
    sending = asyncio.create_task(_send(socket, conversation, number, limits), name=f"to page {conversation.id[:6]}")
    listening = asyncio.create_task(_listen(socket, conversation, limits), name=f"from page {conversation.id[:6]}")
    code = None
    try:
        done, _ = await asyncio.wait({sending, listening, page.left}, return_when=asyncio.FIRST_COMPLETED)
        code = next((it.result() for it in (page.left, sending, listening) if it in done), None)
    finally:
        for task in (sending, listening):
            task.cancel()
        await asyncio.wait({sending, listening})
        conversation.detach(page)
    if code is not None:
        await _close(socket, code, limits)


async def _send(socket: WebSocket, conversation: Conversation, number: int, limits: Limits) -> int | None:
    """Sends what comes after frame ``number``. Returns the close code; ``None`` when the page has gone."""
    box = conversation.outbox
    try:
        while True:
            if (following := box.next(number)) is None:
                if conversation.ended is not None:
                    return TAKEN_OVER if conversation.ended.reason == "taken-over" else 1000
                try:
                    async with asyncio.timeout(limits.alive_s):
                        await box.more(number)
                except TimeoutError:
                    box.say(Alive())
                continue
            number, frame = following
            async with asyncio.timeout(limits.send_s):
                if isinstance(frame.data, bytes):
                    await socket.send_bytes(frame.data)
                else:
                    await socket.send_text(frame.data)
            box.took(number)
    except TimeoutError:
        return STOPPED_READING
    except (WebSocketDisconnect, RuntimeError):
        return None  # RuntimeError is what Starlette raises when the page went between two sends


async def _listen(socket: WebSocket, conversation: Conversation, limits: Limits) -> int | None:
    """Hands on what the page says. Returns the close code for one that is none of ours; ``None`` when it has gone."""
    bucket = _Bucket(limits.rate, limits.burst)
    wrong = 0
    while True:
        message = await socket.receive()
        if message["type"] == "websocket.disconnect":
            return None
        if not bucket.take():
            return POLICY
        code = _heard(message, conversation)
        if code == TOO_LONG:
            return code
        wrong += code != 0
        if wrong > limits.wrong:
            return POLICY


def _heard(message: Message, conversation: Conversation) -> int:
    """Hands on one message. 0, or the code of what is wrong with it."""
    data = message.get("bytes")
    if data is None:
        text = message["text"]
        if len(text) > TEXT_MOST:
            return TOO_LONG
        try:
            conversation.word(page_word(text))
        except ValueError:
            return POLICY
        return 0
    size = len(data) - HEADER.size
    if size > JPEG_MOST:
        return TOO_LONG
    if size <= 0:
        return POLICY
    kind, number = HEADER.unpack_from(data)
    if kind == MICROPHONE and size % 2 == 0 and size <= MIC_MOST:
        conversation.microphone(number, data[HEADER.size :])
    elif kind == CAMERA and data.startswith(_JPEG, HEADER.size):
        conversation.camera(data[HEADER.size :])
    else:
        return POLICY
    return 0


async def _close(socket: WebSocket, code: int, limits: Limits) -> None:
    """Says goodbye; a socket that is stuck does not keep us."""
    try:
        async with asyncio.timeout(limits.close_s):
            await socket.close(code)
    except (TimeoutError, RuntimeError, WebSocketDisconnect):
        return
