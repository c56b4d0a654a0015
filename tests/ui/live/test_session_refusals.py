"""How a session does not come about, how it is refused something, and how it ends."""

from __future__ import annotations

import asyncio
import json
from dataclasses import replace

import pytest
from websockets.asyncio.client import connect

from launch.faults import catalogue, explain
from tests.ui.live.asking import QUICK, SETUP, ended, notices, of, rest, until
from tests.ui.live.fake_server import Peer, fake_server
from ui.live.moments import Closed, Moment, Noticed, Opened, Waiting
from ui.live.refusals import KEYS, deploy_file
from ui.live.session import LiveSession

FATAL = {
    "runtime_append_task_failed",
    "runtime_data_plane_stream_failed",
    "multi_api_duplex_unsupported",
    "session_closed",
    "unknown_session",
    "not_found",
}
FULL = {"resource_exhausted", "duplex_session_busy"}
PROTOCOL_4_12 = [
    "bad_event",
    "bad_audio",
    "config_timeout",
    "invalid_json",
    "event_too_large",
    "unknown_event",
    "response_already_active",
    "response_not_active",
    "response_create_without_input",
    "input_audio_buffer_empty",
    "missing_item_id",
    "item_not_found",
    "unsupported_audio_format",
    "unsupported_turn_detection",
    "unsupported_ref_audio_path",
    "ref_audio_required",
    "model_update_unsupported",
    "voice_update_after_audio_unsupported",
    "ref_audio_update_unsupported",
    "native_text_append_unsupported",
    "barge_in_unsupported",
    "invalid_video_frames",
    "unsupported_native_response_options",
    "input_backpressure",
    "invalid_event_ack",
    "session_resume_expired",
    "session_resume_conflict",
    "invalid_session_resume",
    "invalid_resume_token",
    "runtime_resume_failed",
    "unsupported_session_resume",
    "internal_error",
    "runtime_open_failed",
    "runtime_open_unsupported",
    "runtime_append_failed",
    "runtime_append_task_failed",
    "runtime_signal_failed",
    "runtime_close_failed",
    "runtime_abort_failed",
    "runtime_data_plane_stream_failed",
    "runtime_data_plane_text_without_audio",
    "response_error",
    "chat_error",
    "resource_exhausted",
    "duplex_session_busy",
    "stale_fence",
    "not_found",
    "invalid_argument",
    "invalid_capability",
    "timeout",
    "failed_precondition",
]
PROTOCOL_7 = [
    "session_exists",
    "session_closed",
    "unknown_session",
    "engine_error",
    "commit_aborted",
    "server_vad_unavailable",
    "invalid_session_config",
    "realtime_input_failed",
    "multi_api_duplex_unsupported",
    "output_backpressure",
    "semantic_vad_unavailable",
    "playback_item_mismatch",
    "playback_item_not_found",
    "playback_ack_too_late",
]


async def moments_of(url: str, **changes: float) -> list[Moment]:
    """All moments of a session that ends by itself."""
    async with LiveSession(url, SETUP, waits=replace(QUICK, **changes)) as live:
        return await rest(live.moments())


def closed(seen: list[Moment]) -> Closed:
    (last,) = of(Closed, seen)
    return last


@pytest.mark.parametrize("code", [*PROTOCOL_4_12, *PROTOCOL_7])
def test_every_code_has_a_sentence_in_both_languages(code: str) -> None:
    fault = catalogue()[KEYS[code]]
    for language in ("zh", "en"):
        assert fault.cause[language]
        assert fault.cure[language]


@pytest.mark.parametrize("code", sorted(set(KEYS) - FULL))
async def test_a_code_before_the_session_is_open_ends_it(code: str) -> None:
    async def script(peer: Peer) -> None:
        await peer.receive("session.update")
        await peer.error(code, "the server's words")
        peer.cut()

    async with fake_server(script) as server:
        seen = await moments_of(server.url)
        await server.quiet()
    assert ended(seen) == ("refused", KEYS[code])
    error = closed(seen).error
    assert error is not None
    assert error.detail == f"{code}: the server's words"
    assert "{" not in explain(error, "zh").cause + explain(error, "en").cure


@pytest.mark.parametrize("code", sorted(set(KEYS) - {"response_not_active"}))
async def test_a_code_in_an_open_session_is_told_once_or_ends_it(code: str) -> None:
    async def script(peer: Peer) -> None:
        await peer.open()
        await peer.error(code)
        await peer.error(code)
        await peer.closing()

    async with fake_server(script) as server:
        async with LiveSession(server.url, SETUP, waits=QUICK) as live:
            moments = live.moments()
            seen: list[Moment] = []
            await until(moments, Closed if code in FATAL else Noticed, seen)
            if code not in FATAL:
                await asyncio.sleep(0.02)
                await live.close()
                seen += await rest(moments)
        await server.quiet()
        assert server.peers[0].got[-1]["type"] == "session.close"
    assert ended(seen) == ((code, KEYS[code]) if code in FATAL else ("closed", None))
    assert notices(seen) == ([] if code in FATAL else [KEYS[code]])


@pytest.mark.parametrize("code", ["tool_not_found", "something_new", None])
async def test_a_code_nobody_knows_is_told_with_the_servers_word(code: str | None) -> None:
    async def script(peer: Peer) -> None:
        await peer.open()
        await peer.bare("error", error={"message": "so it is", **({"code": code} if code else {})})
        await peer.closing()

    async with fake_server(script) as server, LiveSession(server.url, SETUP, waits=QUICK) as live:
        noticed = await until(live.moments(), Noticed)
    assert noticed.notice.key == ("live-event-refused" if code == "tool_not_found" else "live-server-error")
    assert "so it is" in noticed.notice.detail


async def test_a_full_server_is_asked_again_until_there_is_a_place() -> None:
    async def full(peer: Peer) -> None:
        await peer.receive("session.update")
        await peer.error("resource_exhausted", "duplex_session_capacity_exhausted: limit=2")
        peer.cut()

    async def free(peer: Peer) -> None:
        await peer.open()
        await peer.closing()

    async with fake_server(full, full, free) as server, LiveSession(server.url, SETUP, waits=QUICK) as live:
        seen: list[Moment] = []
        await until(live.moments(), Opened, seen)
    assert [(each.attempt, each.retry_s) for each in of(Waiting, seen)] == [(1, 0.01), (2, 0.02)]


async def test_a_server_that_stays_full_is_given_up_in_the_stated_time() -> None:
    async def full(peer: Peer) -> None:
        await peer.receive("session.update")
        await peer.error("resource_exhausted")
        peer.cut()

    async with fake_server(full) as server:
        seen = await moments_of(server.url)
        assert ended(seen) == ("full", "live-full")
        assert 0.4 <= closed(seen).at <= 0.7  # limit 0.5 s


async def test_leaving_while_waiting_for_a_place_is_at_once() -> None:
    async def full(peer: Peer) -> None:
        await peer.receive("session.update")
        await peer.error("resource_exhausted")
        peer.cut()

    async with fake_server(full) as server:
        async with LiveSession(server.url, SETUP, waits=replace(QUICK, full_first=30, full_limit=60)) as live:
            moments = live.moments()
            await until(moments, Waiting)
            async with asyncio.timeout(0.5):
                await live.close()
            assert ended(await rest(moments)) == ("closed", None)
        await server.quiet()


async def test_a_turn_server_of_0_26_greets_as_a_transcriber() -> None:
    async def script(peer: Peer) -> None:
        await peer.bare("session.created", id="sess-1", created=1)
        await peer.receive()
        await peer.bare("error", error="Missing required field", code="invalid_event")

    async with fake_server(script) as server:
        seen = await moments_of(server.url)
        await server.quiet()
    assert ended(seen) == ("refused", "live-turn-only")
    error = closed(seen).error
    assert error is not None
    assert (error.facts["wire"], error.facts["file"]) == ("0.26", "deploy/0.26/duplex.yaml")
    assert "deploy/0.26/duplex.yaml" in explain(error, "zh").cure


async def test_a_turn_server_of_0_30_refuses_and_closes_before_it_is_asked() -> None:
    async def script(peer: Peer) -> None:
        await peer.socket.send(
            json.dumps({"type": "error", "code": "unsupported", "error": "VAD realtime is not enabled"})
        )
        await peer.socket.close(1008)

    async with fake_server(script) as server:
        seen = await moments_of(server.url)
    assert ended(seen) == ("refused", "live-turn-only")
    error = closed(seen).error
    assert error is not None
    assert "deploy/0.30/duplex.yaml" in explain(error, "en").cure


def test_the_deploy_files_named_are_there() -> None:
    from launch.loader_keys import DEPLOY

    for wire in ("0.26", "0.30"):
        assert (DEPLOY.parent / deploy_file(wire)).is_file()


async def test_a_dead_server_is_not_a_turn_server() -> None:
    async with fake_server(_only_open) as server:
        url = server.url
    assert ended(await moments_of(url)) == ("refused", "server-not-up")


@pytest.mark.parametrize(
    ("status", "key"),
    [
        (401, "unauthorized"),
        (403, "duplex-route-absent"),
        (404, "duplex-route-absent"),
        (502, "server-not-up"),
        (400, "gateway-blocks-websocket"),
    ],
)
async def test_a_handshake_that_is_refused_says_by_whom(status: int, key: str) -> None:
    async def answer(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        await reader.readuntil(b"\r\n\r\n")
        writer.write(f"HTTP/1.1 {status} No\r\nContent-Length: 0\r\nConnection: close\r\n\r\n".encode())
        await writer.drain()
        writer.close()

    server = await asyncio.start_server(answer, "127.0.0.1", 0)
    async with server:
        seen = await moments_of(f"http://127.0.0.1:{server.sockets[0].getsockname()[1]}")
    assert ended(seen) == ("refused", key)


async def test_something_else_than_http_is_no_server_of_ours() -> None:
    async def answer(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        writer.write(b"SSH-2.0-OpenSSH_9.6\r\n")
        await writer.drain()
        await reader.read()
        writer.close()

    server = await asyncio.start_server(answer, "127.0.0.1", 0)
    async with server:
        seen = await moments_of(f"http://127.0.0.1:{server.sockets[0].getsockname()[1]}")
    assert ended(seen) == ("refused", "not-an-omni-server")


async def test_an_address_that_is_none_is_said() -> None:
    assert ended(await moments_of("http://:::")) == ("refused", "server-address")


@pytest.mark.parametrize("step", ["tcp", "http", "session"])
async def test_a_server_that_accepts_and_never_answers_is_given_up(step: str) -> None:
    async def silent(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        await reader.read(-1) if step == "tcp" else await reader.readuntil(b"\r\n\r\n")
        writer.close()

    async def mute(peer: Peer) -> None:
        await peer.receive("session.close")

    if step == "session":
        async with fake_server(mute) as server:
            seen = await moments_of(server.url, open=0.2, close=0.2)
            await server.quiet()
        assert ended(seen) == ("refused", "live-no-open")
        assert closed(seen).at < 0.8  # open, then the goodbye
        return
    raw = await asyncio.start_server(silent, "127.0.0.1", 0)
    async with raw:
        url = f"http://127.0.0.1:{raw.sockets[0].getsockname()[1]}"
        seen = await moments_of(url, connect=0.2)
    assert ended(seen) == ("refused", "timeout-connect" if step == "tcp" else "not-an-omni-server")
    assert closed(seen).at < 0.5


@pytest.mark.parametrize(
    ("event", "reason", "key"),
    [
        ({"type": "session.replaced", "session_id": "duplex-1"}, "replaced", "live-replaced"),
        ({"type": "session.expired", "reason": "idle_ttl_expired"}, "expired", "live-expired"),
        ({"type": "session.closed", "event": {"reason": "timeout"}}, "timeout", "live-expired"),
        ({"type": "session.closed", "reason": "server_shutdown"}, "server_shutdown", "live-ended"),
        ({"type": "session.closed"}, "closed by the server", "live-ended"),
    ],
)
async def test_the_servers_end_is_the_end(event: dict[str, str], reason: str, key: str) -> None:
    async def script(peer: Peer) -> None:
        await peer.open()
        await peer.begin("r1")
        await peer.socket.send(json.dumps(event))
        peer.cut()

    async with fake_server(script) as server:
        seen = await moments_of(server.url)
        assert len(server.peers) == 1  # nothing is fought for
        await server.quiet()
    assert ended(seen) == (reason, key)


async def test_closing_twice_and_before_anything_is_no_fault() -> None:
    live = LiveSession("http://127.0.0.1:1", SETUP, waits=QUICK)
    await live.close()
    async with fake_server(_only_open) as server, LiveSession(server.url, SETUP, waits=QUICK) as live:
        await until(live.moments(), Opened)
        await asyncio.gather(live.close(), live.close())
        await live.close()
        assert live.idle_left_s is None


async def test_a_server_that_does_not_answer_a_goodbye_holds_nobody_up() -> None:
    async def deaf(peer: Peer) -> None:
        await peer.open()
        await peer.socket.wait_closed()

    async with fake_server(deaf) as server:
        began = asyncio.get_running_loop().time()
        async with LiveSession(server.url, SETUP, waits=replace(QUICK, close=0.1)) as live:
            await until(live.moments(), Opened)
        assert asyncio.get_running_loop().time() - began < 1


async def test_proxies_of_the_environment_are_not_asked(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("HTTP_PROXY", "http://127.0.0.1:9")
    monkeypatch.setenv("ALL_PROXY", "http://127.0.0.1:9")
    monkeypatch.delenv("NO_PROXY", raising=False)
    asked = {}

    def seam(url: str, **options: object):
        asked.update(options)
        return connect(url, **options)  # type: ignore[arg-type]

    async with fake_server(_only_open) as server, LiveSession(server.url, SETUP, waits=QUICK, connect=seam) as live:
        await until(live.moments(), Opened)
    assert asked["proxy"] is None
    assert asked["max_size"] == 64 * 1024 * 1024


async def _only_open(peer: Peer) -> None:
    await peer.open()
    await peer.closing()
