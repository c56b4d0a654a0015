"""One WebSocket to the server: dialled, spoken on, logged, closed."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Mapping
from typing import Any

from websockets.asyncio.client import ClientConnection
from websockets.exceptions import ConnectionClosed, InvalidHandshake, InvalidStatus, InvalidURI

from launch.errors import InputError, OmniError, ServerGone, ServerRefused, ServerSilent
from ui.live.events import ClientEvent, Known, SessionClose, SessionClosed, UnknownEvent, read
from ui.live.frames import decode
from ui.live.setup import Waits

Wire = Mapping[str, Any]
"""One event as it went over the socket, media replaced by their size: ``{"at", "way": "out"|"in", "event": {...}}``."""

_LARGEST = 64 << 20  # bytes of one frame: the server repeats the reference voice in its answer (protocol §4.2)
_MEDIA = 1_000  # characters: longer is sound or a picture in base64; a second of speech is at most 20 tokens of text
_POLITE_S = 1.0  # for the two close frames of a WebSocket, once nothing is left to say
_MEDIA_KEYS = frozenset({"audio", "ref_audio", "video_frames"})
_BY_STATUS = {401: "unauthorized", 403: "duplex-route-absent", 404: "duplex-route-absent"}


def bare(value: Any, key: str = "", *, sound: bool = False) -> Any:
    """An event without its media and tokens: what may stand in a log. ``sound``: ``delta`` is base64."""
    match value:
        case dict():
            sound = sound or str(value.get("type", "")).endswith("audio.delta")
            return {name: bare(each, name, sound=sound) for name, each in value.items()}
        case list():
            return [bare(each, key, sound=sound) for each in value]
        case str() if key == "resume_token":
            return "<token>"
        case str() if len(value) > _MEDIA or (value and (key in _MEDIA_KEYS or (sound and key == "delta"))):
            return f"<{len(value) * 3 // 4} bytes>"
        case _:
            return value


class Link:
    """A socket that is up. ``send`` and ``receive`` raise ``ConnectionClosed`` when it is not any more."""

    def __init__(
        self, socket: ClientConnection, waits: Waits, log: Callable[[str, dict[str, Any]], None] | None
    ) -> None:
        self._socket = socket
        self._waits = waits
        self._log = log

    async def send(self, event: ClientEvent) -> None:
        if self._log:
            self._log("out", decode(event.encoded()))
        await self._socket.send(event.encoded())

    async def receive(self) -> Known | UnknownEvent:
        event = decode(await self._socket.recv())
        if self._log:
            self._log("in", event)
        return read(event)

    async def leave(self) -> None:
        """Ends the session and the socket, politely, in at most ``Waits.close``."""
        try:
            async with asyncio.timeout(self._waits.close):
                await self.send(SessionClose())
                while not isinstance(await self.receive(), SessionClosed):
                    pass
                await self._socket.close()
        except (ConnectionClosed, TimeoutError):
            return
        finally:
            self.cut()

    async def close(self) -> None:
        """Ends the socket, politely for a second at most; a session on the server stays, for its time of grace."""
        try:
            async with asyncio.timeout(min(_POLITE_S, self._waits.close)):
                await self._socket.close()
        except TimeoutError:
            return
        finally:
            self.cut()

    def cut(self) -> None:
        """Ends the socket without a goodbye: nobody there reads it."""
        self._socket.transport.abort()


async def dial(
    url: str,
    connect: Callable[..., Any],
    *,
    api_key: str | None,
    waits: Waits,
    log: Callable[[str, dict[str, Any]], None] | None,
) -> Link:
    """A socket to ``url``. Raises ``OmniError``."""
    try:
        socket = await connect(
            url,
            additional_headers={"Authorization": f"Bearer {api_key}"} if api_key else None,
            proxy=None,  # a proxy from the environment would break loopback
            compression=None,  # costs more time than it saves on loopback or a tunnel, which compresses itself
            max_size=_LARGEST,
            open_timeout=waits.connect,
            close_timeout=waits.close,
            ping_interval=waits.ping,
            ping_timeout=waits.pong,
        )
    except (OSError, InvalidHandshake, InvalidURI, ConnectionClosed) as error:
        raise _refusal(error, url, waits) from error
    return Link(socket, waits, log)


def _refusal(error: Exception, url: str, waits: Waits) -> OmniError:
    detail = f"{url}: {type(error).__name__} {error}".rstrip()
    match error:
        case InvalidStatus():
            status = error.response.status_code
            if status in (502, 503, 504):  # a gateway with nothing behind it
                return ServerGone("server-not-up", detail=detail)
            return ServerRefused(_BY_STATUS.get(status, "gateway-blocks-websocket"), detail=detail)
        case InvalidURI():
            return InputError("server-address", detail=detail, address=url)
        case TimeoutError():
            return ServerSilent("timeout-connect", detail=detail, seconds=f"{waits.connect:g}")
        case InvalidHandshake():
            return ServerRefused("not-an-omni-server", detail=detail)
        case _:
            return ServerGone("server-not-up", detail=detail)
