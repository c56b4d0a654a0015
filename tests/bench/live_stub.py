"""A realtime server that only says and counts: ``python -m tests.bench.live_stub PORT [seconds between units]``.

It speaks as much of protocol §4 as a session needs (open, append, answers of one-second units, resume from a journal,
close). The first eight bytes of each sound are the time it was sent (``time.monotonic_ns``, one clock for all processes
of a machine); how long a microphone frame took is kept for ``GET /took``, which also empties it.
"""

from __future__ import annotations

import asyncio
import base64
import json
import struct
import sys
import time
from contextlib import suppress
from http import HTTPStatus
from typing import Any

import websockets
from websockets.asyncio.server import ServerConnection, serve
from websockets.http11 import Request, Response

UNITS = 20  # of one second: a long answer, below the 64 s after which a session ends one
SILENCE = bytes(9_600 - 8)
STAMP = struct.Struct("<q")


class Talk:
    """One session: its answers go into a journal, and to the socket that is attached."""

    def __init__(self, id: str, every_s: float) -> None:
        self.id = id
        self.journal: list[str] = []
        self.news = asyncio.Event()
        self.task = asyncio.create_task(self._speak(every_s))

    def put(self, type: str, **fields: Any) -> None:
        event = {"type": type, "event_id": "e", "server_event_seq": len(self.journal) + 1} | fields
        self.journal.append(json.dumps(event))
        self.news.set()

    async def _speak(self, every_s: float) -> None:
        self.put("session.updated")
        number = 0
        while True:
            number += 1
            id = f"resp-{number}"
            ids = {"response_id": id, "item_id": f"item_{id}", "output_index": 0, "content_index": 0}
            self.put("response.listen", response={"status": "listening", "metadata": {"reason": "model_listen"}})
            self.put("response.created", response_id=id, response={"id": id, "status": "in_progress"})
            for unit in range(1, UNITS + 1):
                await asyncio.sleep(every_s)
                sound = (STAMP.pack(time.monotonic_ns()) + SILENCE) * 5
                delta = base64.b64encode(sound).decode()
                meta = {"audio_duration_ms": unit * 1000, "model_speak": True}
                self.put(
                    "response.audio.delta", **ids, delta=delta, format="pcm16", sample_rate_hz=24_000, metadata=meta
                )
                self.put("response.audio_transcript.delta", **ids, delta="word ")
            done = {"id": id, "status": "completed", "status_details": None, "output": []}
            self.put("response.done", response_id=id, response=done)


class Stub:
    def __init__(self, every_s: float) -> None:
        self._every_s = every_s
        self._talks: dict[str, Talk] = {}
        self._took_ms: list[float] = []

    async def http(self, connection: ServerConnection, request: Request) -> Response | None:
        path = request.path.partition("?")[0]
        if path == "/v1/realtime":
            return None
        body: Any = {}
        if path == "/v1/models":
            body = {"object": "list", "data": [{"id": "stub", "object": "model"}]}
        elif path == "/took":
            body, self._took_ms = self._took_ms, []
        response = connection.respond(HTTPStatus.OK, json.dumps(body))
        del response.headers["content-type"]
        response.headers["content-type"] = "application/json"
        return response

    async def socket(self, socket: ServerConnection) -> None:
        first = json.loads(await socket.recv())
        if first["type"] == "session.resume":
            talk, sent = self._talks[first["session_id"]], first["last_received_server_event_seq"]
            opened: dict[str, Any] = {"type": "session.resumed", "session_id": talk.id}
        else:
            talk, sent = Talk(f"duplex-{len(self._talks)}", self._every_s), 0
            self._talks[talk.id] = talk
            opened = {
                "type": "session.created",
                "session": {"id": talk.id, "capabilities": {}, "idle_timeout_s": 300.0},
            }
        opened |= {"event_id": "e", "incarnation": 0, "attachment_generation": 1, "resume_token": "t"}
        await socket.send(json.dumps(opened))
        sending = asyncio.create_task(self._send(socket, talk, sent))
        try:
            while True:
                frame = await socket.recv()
                now = time.monotonic_ns()
                event = json.loads(frame)
                if event["type"] == "input_audio_buffer.append":
                    (sent_ns,) = STAMP.unpack(base64.b64decode(event["audio"])[:8])
                    if sent_ns:
                        self._took_ms.append((now - sent_ns) / 1e6)
                elif event["type"] == "session.heartbeat":
                    talk.put("session.heartbeat_ack")
                elif event["type"] == "session.close":
                    talk.task.cancel()
                    talk.put("session.closed", event={"type": "session.closed"})
                    await asyncio.sleep(0.1)
                    return
        except websockets.ConnectionClosed:
            return  # cut; it may come back
        finally:
            sending.cancel()

    async def _send(self, socket: ServerConnection, talk: Talk, sent: int) -> None:
        with suppress(websockets.ConnectionClosed):
            while True:
                while sent < len(talk.journal):
                    await socket.send(talk.journal[sent])
                    sent += 1
                talk.news.clear()
                await talk.news.wait()


async def main(port: int, every_s: float) -> None:
    stub = Stub(every_s)
    how: dict[str, Any] = {"process_request": stub.http, "compression": None, "max_size": 64 << 20}
    async with serve(stub.socket, "127.0.0.1", port, **how) as server:
        await server.serve_forever()


if __name__ == "__main__":
    asyncio.run(main(int(sys.argv[1]), float(sys.argv[2]) if len(sys.argv) > 2 else 1.0))
