"""What real servers said, said again to a session."""

from __future__ import annotations

import asyncio
import json
from pathlib import Path

import pytest

from tests.ui.live import captures
from tests.ui.live.asking import QUICK, SETUP, ended, of, rest
from tests.ui.live.fake_server import Peer, fake_server
from ui.live.moments import Listening, Noticed, Opened, Speaking, Speech, Spoken, Unknown
from ui.live.session import LiveSession

# What a session makes of the captures in which the probe was refused, or ended, on purpose.
ENDS = {
    "duplex_realtime_err_ref_audio_required": "live-reference-missing",
    "ws_append_before_create": "live-reference-missing",
    "ws_autostart": "live-reference-missing",
    "ws_barge_in_without_vad": "live-setup-refused",
    "ws_busy_third_rejected": "live-full",
    "ws_invalid_first_event": {"0.26": "live-event-refused", "0.30": "live-reference-missing"},
    "ws_invalid_first_json": "live-event-refused",
    "ws_no_ref_audio": "live-reference-missing",
    "ws_realtime_without_duplex": "live-reference-missing",
    "ws_ref_audio_bad": "live-reference-unreadable",
    "ws_ref_audio_path": "live-reference-missing",
    "ws_resume_after_close": "live-no-resume",
    "ws_takeover_bad_token": "live-no-resume",
    "ws_vad_bad_type": "live-setup-refused",
    "ws_vad_conflict": "live-setup-refused",
    "turn_ws_realtime_no_query": "live-turn-only",
    "turn_ws_realtime_without_duplex": "live-turn-only",
    "turn_ws_v1_duplex_alias": "live-turn-only",
}
# The native dialect, and sockets that only resume: no session of ours begins so.
NOT_OURS = {("0.26", "ws_v1_duplex"), ("0.30", "ws_v1_duplex"), *((w, "ws_resume_2") for w in ("0.26", "0.30"))}
NOT_OURS.add(("0.30", "ws_resume_full_2"))
OURS = [path for path in captures.ALL if (path.parent.name, path.stem) not in NOT_OURS]


@pytest.mark.parametrize("path", OURS, ids=captures.name)
async def test_a_capture_becomes_the_moments_it_tells_of(path: Path) -> None:
    said = captures.served(path)
    closes = any(row["dir"] == ">" and row["event"] == {"type": "session.close"} for row in captures.rows(path))
    played = asyncio.Event()

    async def script(peer: Peer) -> None:
        await peer.receive()
        for event in said:
            if event["type"] == "session.closed":
                played.set()
                await peer.receive("session.close")
            await peer.socket.send(json.dumps(event))
        if path.stem not in ENDS and (not closes or said[-1]["type"] != "session.closed"):
            played.set()
            await peer.receive("session.close")
        peer.cut()

    async with fake_server(script) as server:
        async with LiveSession(server.url, SETUP, waits=QUICK) as live, asyncio.timeout(5):
            seen = []
            reading = asyncio.create_task(rest(live.moments()))
            waiting = asyncio.create_task(played.wait())
            await asyncio.wait([reading, waiting], return_when=asyncio.FIRST_COMPLETED)
            waiting.cancel()
            await asyncio.sleep(0.02)
            await live.close()
            seen = await reading
        await server.quiet()

    expected = ENDS.get(path.stem)
    if isinstance(expected, dict):
        expected = expected[path.parent.name]
    assert ended(seen)[1] == expected
    assert of(Unknown, seen) == []
    if expected:
        assert of(Opened, seen) == []
        return
    (opened,) = of(Opened, seen)
    assert opened.wire == path.parent.name
    assert opened.barge_in == opened.camera == (path.parent.name == "0.30")
    counted = {kind: [event for event in said if event["type"] == kind] for kind in {event["type"] for event in said}}
    assert len(of(Listening, seen)) == len(counted.get("response.listen", []))
    done = counted.get("response.done", [])
    begun = counted.get("response.created", [])
    assert [each.id for each in of(Speaking, seen)] == [each["response_id"] for each in begun]
    told = of(Spoken, seen)
    assert [each.response for each in told] == [each.response for each in of(Speaking, seen)]
    assert all(each.status == "cancelled" for each in told[len(done) :])  # the probe left in the middle of it
    for spoken, event in zip(told, done, strict=False):
        assert spoken.status == event["response"]["status"]
        deltas = [each for each in said if each.get("response_id") == event["response_id"] and "delta" in each]
        words = "".join(each["delta"] for each in deltas if "transcript" in each["type"])
        sounds = [each for each in deltas if "transcript" not in each["type"]]
        assert spoken.text == words
        assert spoken.duration_ms == max((each["metadata"]["audio_duration_ms"] for each in sounds), default=0)
        assert len([each for each in of(Speech, seen) if each.response == spoken.response]) == len(sounds)
    codes = {event["error"]["code"] for event in counted.get("error", [])} - {"response_not_active"}
    assert {each.notice.facts["code"] for each in of(Noticed, seen)} == codes
