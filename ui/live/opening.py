"""How a session comes about on a socket: opened anew, or resumed."""

from __future__ import annotations

import asyncio
import base64
from collections.abc import Callable
from contextlib import suppress
from typing import Any

from websockets.exceptions import ConnectionClosed

from launch.errors import ServerGone, ServerRefused, ServerSilent
from ui.live.attachment import Attachment
from ui.live.events import (
    ClientEvent,
    ErrorEvent,
    ResyncRequired,
    SessionClosed,
    SessionCreated,
    SessionExpired,
    SessionResumed,
    SessionUpdate,
)
from ui.live.link import Link, dial
from ui.live.moments import Opened
from ui.live.refusals import FULL, RETRY, told, turn_only
from ui.live.setup import Setup, Waits

_Answer = SessionCreated | SessionResumed | ErrorEvent | ResyncRequired | SessionClosed | SessionExpired


class Full(Exception):
    """Every place on the server is taken."""

    def __init__(self, error: ServerRefused) -> None:
        self.error = error


class Gone(Exception):
    """The session cannot be resumed, now or later."""


class Opening:
    """Opens sessions at one server. ``url``: http(s):// or ws(s):// base."""

    def __init__(
        self,
        url: str,
        setup: Setup,
        connect: Callable[..., Any],
        *,
        api_key: str | None,
        waits: Waits,
        log: Callable[[str, dict[str, Any]], None] | None,
    ) -> None:
        self._url = address(url)
        self._setup = setup
        self._connect = connect
        self._key = api_key
        self._waits = waits
        self._log = log

    async def fresh(self) -> tuple[Link, SessionCreated]:
        """A new session. Raises ``Full``, ``OmniError``."""
        link, answer = await self._ask("", SessionUpdate(session=wish(self._setup)), self._waits.open)
        match answer:
            case SessionCreated(session=None):
                await link.close()
                raise turn_only("0.26", "session.created without a session: the transcription protocol")
            case SessionCreated():
                return link, answer
            case ErrorEvent():
                await link.close()
                error = told(answer)
                raise Full(error) if answer.name in FULL and isinstance(error, ServerRefused) else error
            case _:
                await link.close()
                raise ServerGone("live-closed-at-open", detail=answer.type)

    async def resume(self, attachment: Attachment) -> Link:
        """The same session on a new socket. Raises ``Gone``, ``OmniError`` when it may be tried again."""
        link, answer = await self._ask("&resume=1", attachment.resume(), self._waits.connect)
        if isinstance(answer, SessionResumed):
            attachment.renew(answer)
            return link
        await link.close()
        if isinstance(answer, ErrorEvent) and answer.name in RETRY:
            raise told(answer)
        raise Gone

    async def _ask(self, query: str, first: ClientEvent, patience_s: float) -> tuple[Link, _Answer]:
        link = await dial(
            f"{self._url}/v1/realtime?duplex=1&autostart=0{query}",
            self._connect,
            api_key=self._key,
            waits=self._waits,
            log=self._log,
        )
        try:
            async with asyncio.timeout(patience_s):
                with suppress(ConnectionClosed):  # a turn server says so and closes before it is asked
                    await link.send(first)
                while True:
                    event = await link.receive()
                    if isinstance(event, _Answer):
                        return link, event
        except TimeoutError as error:
            if isinstance(first, SessionUpdate):
                await link.leave()
            else:
                link.cut()  # said no goodbye: the session is to be asked for again
            raise ServerSilent("live-no-open", seconds=f"{patience_s:g}") from error
        except ConnectionClosed as error:
            raise ServerGone("live-closed-at-open", detail=str(error)) from error
        except BaseException:  # cancelled: the server may have made the session by now
            await link.leave()
            raise


def address(url: str) -> str:
    """ws(s):// base, without /v1."""
    return ("ws" + url.removeprefix("http") if url.startswith("http") else url).rstrip("/").removesuffix("/v1")


def opened(created: SessionCreated, at: float, setup: Setup) -> Opened:
    """What is to be told of a session that has been created. Only 0.26 counts incarnations (§7)."""
    assert created.session is not None
    capabilities = created.session.capabilities
    return Opened(
        at=at,
        session_id=created.session.id,
        wire="0.30" if created.incarnation is None else "0.26",
        barge_in=capabilities.get("supports_barge_in") is True,
        camera=isinstance(more := capabilities.get("optional_input_modalities"), list) and "video" in more,
        idle_s=created.session.idle_timeout_s or setup.idle_s,
        capabilities=capabilities,
    )


def wish(setup: Setup) -> dict[str, Any]:
    """The session that ``session.update`` asks for (protocol §4.2): one wording for both versions (§7.1)."""
    asked: dict[str, Any] = {
        "model": setup.model,
        "modalities": ["audio", "text"],
        "instructions": setup.instructions,
        "input_audio_format": "pcm16",
        "output_audio_format": "pcm16",
        "turn_detection": None,
        "overlap_policy": "listen_only",
        "playback_commit_policy": "ack_only",
        "idle_timeout_s": setup.idle_s,
        "extra_body": {"minicpmo45_native_duplex": True, "auto_response": True, "force_listen_count": 0},
    }
    if setup.reference:
        asked["ref_audio"] = f"data:audio/wav;base64,{base64.b64encode(setup.reference).decode('ascii')}"
    if setup.temperature is not None:
        asked["temperature"] = setup.temperature
    return asked


def hearing_over(on: bool) -> SessionUpdate:
    """Switches the server's own ear for the user talking over an answer, in an open session (0.30)."""
    detection = {"type": "server_vad", "interrupt_response": True} if on else None
    policy = "barge_in_on_speech" if on else "listen_only"
    return SessionUpdate(session={"turn_detection": detection, "overlap_policy": policy})
