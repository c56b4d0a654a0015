"""The page's socket: frames both ways, breaks at every event, hostile pages, strangers."""

from __future__ import annotations

import json

from tests.ui.live.scripted import Reader, house, mic, speech
from ui.live.moments import Caption, Speaking, Spoken
from ui.live.page_wire import CAMERA, HEADER

SECOND = bytes(range(256)) * 187 + bytes(128)  # 24,000 samples, no two neighbours alike


async def test_frames_go_both_ways_through_one_port() -> None:
    async with house() as it:
        id = await it.open(instructions="guide", language="zh")
        async with it.socket(id) as socket:
            session, page = await it.session(), Reader()
            await page.until(socket, "state", state="open", wire="0.30", barge_in=True, camera=True)
            assert session.setup.instructions.startswith("你是展台上的讲解员")
            assert session.setup.reference.startswith(b"RIFF")

            picture = b"\xff\xd8\xff" + bytes(1000)
            await socket.send(mic(0, b"\1\2" * 3200))
            await socket.send(HEADER.pack(CAMERA, 0) + picture)
            await socket.send(mic(1, b"\3\4" * 100))
            session.say(Speaking(1.0, 1, "r"), speech(1, SECOND), Caption(1.1, 1, "hello", 1000.0))
            await page.until(socket, "caption", response=1, text="hello")
            assert page.sound == {1: SECOND}
            await socket.send(json.dumps({"type": "played", "response": 1, "ms": 250.5}))
            await socket.send(json.dumps({"type": "interrupt", "by": "stop"}))
            await page.until(socket, "flush", response=1, by="stop")
            assert session.heard == [(b"\1\2" * 3200, None), (b"\3\4" * 100, picture)]
            assert session.acks == [(1, 250.5)]
            session.say(Spoken(1.5, 1, "cancelled", "barge_in", "hello", 1000.0))
            await page.until(socket, "spoken", status="cancelled", text="hello")

            await socket.send(json.dumps({"type": "close"}))
            ended = await page.until(socket, "ended")
            assert (ended["reason"], ended["recording"], page.of("state")[-1]["state"]) == ("stop", False, "closed")
            await socket.wait_closed()
            assert socket.close_code == 1000
            assert session.state == "closed"
        assert not it.lounge._lives
