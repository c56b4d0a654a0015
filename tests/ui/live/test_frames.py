"""Whatever a server sends, the session goes on, and what it tells can be logged, recorded and shown."""

from __future__ import annotations

import json
from typing import Any

import pytest

from tests.ui.live.asking import QUICK, SETUP, rest, until
from tests.ui.live.fake_server import Peer, fake_server
from ui.live.frames import decode
from ui.live.moments import Closed, Opened, Spoken
from ui.live.page_wire import AppWord
from ui.live.session import LiveSession
from ui.live.telling import told

NOISE: list[str | bytes] = [
    "",
    "[",
    "null",
    "[]",
    b"\x00\xff\xfe",
    b"RIFF\x00",
    "[" * 100_000,
    '{"a":' * 20_000,
    '{"type":"odd","a":' + "[" * 500 + "]" * 500 + "}",
    '{"type":"odd","number":' + "9" * 5_000 + "}",
]
ODD: list[Any] = [None, True, -1, 10**400, float("nan"), float("inf"), "", "é", "\ud800", "A", [], {}, [1], {"a": 1}]


@pytest.mark.parametrize("frame", NOISE, ids=lambda frame: repr(frame[:12]))
def test_what_is_no_event_is_shown_by_its_beginning(frame: str | bytes) -> None:
    event = decode(frame)
    assert event["type"] == ""
    assert len(event["text"]) < 900


def test_numbers_and_letters_that_nothing_can_hold_are_replaced() -> None:
    assert decode('{"a": NaN, "b": -Infinity, "c": 1e999, "d": 1.5}') == {"a": None, "b": None, "c": None, "d": 1.5}
    assert decode('{"a": "\\ud800 \\ud83d\\ude00"}') == {"a": "? 😀"}


@pytest.mark.parametrize("wire", ["0.26", "0.30"])
async def test_no_frame_of_the_server_ends_a_session(wire: str) -> None:
    logged: list[Any] = []

    async def script(peer: Peer) -> None:
        await peer.open(optional_input_modalities=7)
        for frame in NOISE:
            await peer.socket.send(frame)
        await peer.begin("r1")
        sound = "response.audio.delta" if wire == "0.26" else "response.output_audio.delta"
        words = sound.replace("audio", "audio_transcript")
        for odd in ODD:
            await peer.send(sound, response_id="r1", delta=odd)
            await peer.send(sound, response_id="r1", delta="AAAA", metadata={"audio_duration_ms": odd})
            await peer.send(words, response_id="r1", delta=odd)
            for kind in ("response.listen", "response.speak", "overlap.decision", "playback.acknowledged", "odd"):
                await peer.send(kind, **dict.fromkeys(("response", "reason", "event", "item", "metadata"), odd))
        await peer.say("r1", "good", 200, 200)
        await peer.send("response.done", response_id="r1", response={"id": "r1", "status": "completed"})
        await peer.receive("session.close")
        await peer.send("session.closed")

    async with (
        fake_server(script, wire=wire) as server,
        LiveSession(server.url, SETUP, waits=QUICK, log=logged.append) as live,
    ):
        moments = []
        await until(live.moments(), Spoken, moments)
        await live.close()
        moments += await rest(live.moments())
    assert isinstance(moments[0], Opened)
    assert isinstance(moments[-1], Closed)
    assert moments[-1].error is None
    (spoken,) = [moment for moment in moments if isinstance(moment, Spoken)]
    assert spoken.text.endswith("good")
    shown = [word for moment in moments if isinstance(word := told(moment, live.opened), AppWord)]
    for number, word in enumerate(shown, 1):
        json.loads(word.numbered(number).encode())
    json.dumps(logged, ensure_ascii=False, allow_nan=False).encode()
