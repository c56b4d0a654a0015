"""The app's side of a live conversation as a script: `python -m tests.browser.live_stub` prints its address.

The page is the real tab; behind ``/live`` somebody listens, and answers what the test posted to ``/script`` before:
``{"answers": [{"at": s, "text": ..., "seconds": s, "pace": rtf, "in_turn": bool}], "open": {...}, "before": [...],
"cut_after": frames, "socket": "refuse", "refusal": {...}, "state": {...}}``. ``in_turn``: not before the last one was interrupted.
``GET /heard`` tells everything that came from the page, ``GET /mic`` the microphone's samples in order.
"""

from __future__ import annotations

import asyncio
import json
import time
from typing import Any

import gradio as gr
from fastapi import FastAPI, Request, Response, WebSocket, WebSocketDisconnect
from fastapi.responses import JSONResponse

from tests.browser.stub import serve, signal
from ui.gateway import Gateway
from ui.guard import Guard, SessionCookies
from ui.head import head
from ui.live.page_wire import HEADER, MICROPHONE, SPEECH, SPEECH_MOST
from ui.stage import BROWSER_PATH, BrowserFiles
from ui.tabs.duplex import build_duplex
from ui.texts import texts
from ui.theme import theme

OPEN = {"type": "state", "state": "open", "wire": "0.30", "barge_in": True, "camera": True, "idle_s": 300.0}
STATE = {
    "limit": 2,
    "running": 0,
    "queued": 0,
    "free": 2,
    "mine": None,
    "server": None,
    "voices": [{"id": "asset:assistant-en", "name": {"zh": "助手", "en": "Assistant"}, "seconds": 4.2}],
    "manners": [
        {"id": "friend", "name": {"zh": "朋友", "en": "A friend"}, "says": {"zh": "像朋友一样。", "en": "Be a friend."}}
    ],
}


class Talker:
    """One conversation: keeps every frame it sent, so that a page may come back for them."""

    def __init__(self, script: dict[str, Any]) -> None:
        self.script = script
        self.frames: list[str | bytes] = []
        self.news = asyncio.Condition()
        self.words: list[dict[str, Any]] = []
        self.mic: dict[int, bytes] = {}
        self.cameras = 0
        self.sockets = 0
        self.flushed = 0
        self.sent: dict[int, int] = {}
        self.done = False
        self.began = time.monotonic()
        self.task: asyncio.Task[None] | None = None

    async def put(self, frame: dict[str, Any] | bytes) -> None:
        async with self.news:
            self.frames.append(
                frame if isinstance(frame, bytes) else json.dumps({"seq": len(self.frames) + 1, **frame})
            )
            self.news.notify_all()

    async def talk(self) -> None:
        for word in self.script.get("before", []):
            await self.put(word)
            await asyncio.sleep(word.get("wait", 0))
        await self.put(self.script.get("open", OPEN))
        self.began = time.monotonic()
        ticking = asyncio.create_task(self.tick())
        for number, answer in enumerate(self.script.get("answers", []), 1):
            await asyncio.sleep(max(0.0, self.began + answer["at"] - time.monotonic()))
            if answer.get("in_turn"):
                await self.turn(number)
            await self.answer(number, answer)
        await ticking

    async def turn(self, number: int) -> None:
        """Until the answer before was interrupted."""
        async with self.news:
            await self.news.wait_for(lambda: self.flushed >= number - 1)

    async def answer(self, number: int, answer: dict[str, Any]) -> None:
        seconds, pace = answer["seconds"], answer.get("pace", 0.5)
        pcm, words = signal(seconds), answer["text"].split(" ")
        await self.put({"type": "speaking", "response": number})
        await self.put({"type": "latency", "response": number, "since": "last-listen", "ttft_ms": 310, "ttfp_ms": 420})
        began, total = time.monotonic(), len(pcm)
        for at in range(0, total, SPEECH_MOST):
            if self.flushed >= number:
                break
            piece = pcm[at : at + SPEECH_MOST]
            await self.put(HEADER.pack(SPEECH, number) + piece)
            self.sent[number] = at + len(piece)
            done, before = (at + len(piece)) / total, at / total
            text = " ".join(words[round(before * len(words)) : round(done * len(words))])
            if text:
                caption = {"response": number, "text": text + " ", "until_ms": (at + len(piece)) / 48}
                await self.put({"type": "caption", **caption})
            await asyncio.sleep(max(0.0, began + done * seconds * pace - time.monotonic()))
        cut = self.flushed >= number
        status = {"status": "cancelled" if cut else "completed", "reason": "stop" if cut else ""}
        spoken = {"text": answer["text"], "duration_ms": self.sent.get(number, 0) / 48}
        await self.put({"type": "spoken", "response": number, **status, **spoken})

    async def tick(self) -> None:
        second = 0
        while True:
            await asyncio.sleep(1)
            second += 1
            await self.put({"type": "clock", "session_s": second, "idle_left_s": 300 - second, "dropped_frames": 0})
            await self.put({"type": "listen", "at": float(second), "reason": "model_listen"})

    async def hear(self, text: str) -> None:
        word = json.loads(text)
        self.words.append({"at": time.monotonic() - self.began, **word})
        if word["type"] == "interrupt":
            self.flushed = len(self.sent)
            await self.put({"type": "flush", "response": self.flushed, "by": word["by"]})
        elif word["type"] == "close":
            await self.end({"reason": "stop", "recording": False})

    async def end(self, how: dict[str, Any]) -> None:
        if self.task:
            self.task.cancel()
        self.done = True
        await self.put({"type": "ended", **how})


class Stub:
    def __init__(self) -> None:
        self.guard = Guard()
        self.script: dict[str, Any] = {}
        self.talker: Talker | None = None
        self.wishes: dict[str, Any] = {}
        self.refused = 0

    def app(self) -> Any:
        app = FastAPI()
        app.mount(BROWSER_PATH, BrowserFiles())
        app.post("/script")(self.scripted)
        app.get("/heard")(self.heard)
        app.get("/mic")(self.mic)
        app.get("/server")(lambda: {"state": "ready", "model": "stub", "rehearsal": False, "fault": None})
        app.get("/live/state")(lambda: {**STATE, **self.script.get("state", {})})
        app.post("/live")(self.open)
        app.post("/live/{id}/close")(self.close)
        app.websocket("/live/{id}/socket")(self.socket)
        gr.mount_gradio_app(app, self.blocks(), "/", ssr_mode=False, footer_links=[], theme=theme())
        return SessionCookies(Gateway(app, head=head(texts(), "auto")), self.guard)

    def blocks(self) -> gr.Blocks:
        with gr.Blocks(title="Live", fill_width=True) as blocks:
            gr.HTML(
                '<span id="omni-pill"><b></b><span></span></span><p id="omni-server-card"></p><p id="omni-rehearsal"></p>'
            )
            build_duplex()
        return blocks

    async def scripted(self, request: Request) -> None:
        if self.talker and self.talker.task:
            self.talker.task.cancel()
        self.script = await request.json()
        self.talker = None
        self.refused = 0

    async def open(self, request: Request) -> Any:
        self.wishes = await request.json()
        if refusal := self.script.get("refusal"):
            return JSONResponse({"fault": refusal}, 503)
        self.talker = Talker(self.script)
        return {"id": "one", "socket": "live/one/socket"}

    async def close(self) -> Response:
        if self.talker:
            await self.talker.end({"reason": "stop", "recording": False})
        return Response(status_code=204)

    async def heard(self) -> dict[str, Any]:
        talker = self.talker
        if talker is None:
            return {"wishes": self.wishes, "refused": self.refused}
        return {
            "wishes": self.wishes,
            "words": talker.words,
            "mic": sorted(talker.mic),
            "cameras": talker.cameras,
            "sockets": talker.sockets,
            "sent": talker.sent,
            "done": talker.done,
            "refused": self.refused,
        }

    async def mic(self) -> Response:
        mic = self.talker.mic if self.talker else {}
        return Response(b"".join(mic[number] for number in sorted(mic)), media_type="audio/L16")

    async def socket(self, socket: WebSocket, after: int = 0) -> None:
        talker = self.talker
        if self.script.get("socket") == "refuse":
            self.refused += 1
            await socket.close()
            return
        await socket.accept()
        if talker is None:
            await socket.close(4404)
            return
        talker.sockets += 1
        if talker.task is None:
            talker.task = asyncio.create_task(talker.talk())
        sending = asyncio.create_task(self.send(socket, talker, after))
        try:
            while True:
                message = await socket.receive()
                if message["type"] == "websocket.disconnect":
                    return
                if text := message.get("text"):
                    await talker.hear(text)
                elif data := message.get("bytes"):
                    kind, number = HEADER.unpack_from(data)
                    if kind == MICROPHONE:
                        talker.mic[number] = data[HEADER.size :]
                    else:
                        talker.cameras += 1
        except (WebSocketDisconnect, RuntimeError):
            return
        finally:
            sending.cancel()

    async def send(self, socket: WebSocket, talker: Talker, at: int) -> None:
        cut = self.script.get("cut_after") if talker.sockets == 1 else None
        while True:
            async with talker.news:
                while at == len(talker.frames):
                    await talker.news.wait()
            if at == cut:
                await socket.close(1011)
                return
            frame = talker.frames[at]
            at += 1
            if isinstance(frame, bytes):
                await socket.send_bytes(frame)
            else:
                await socket.send_text(frame)
                if json.loads(frame)["type"] == "ended":
                    await socket.close(1000)
                    return


if __name__ == "__main__":
    serve(Stub().app())
