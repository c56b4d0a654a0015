"""An application on a socket, with what uvicorn lacks: a port known beforehand, and connections cut on request."""

from __future__ import annotations

import asyncio
import socket

import uvicorn
from starlette.types import ASGIApp, Receive, Scope, Send
from uvicorn.protocols.http.h11_impl import H11Protocol
from uvicorn.protocols.websockets.websockets_sansio_impl import WebSocketsSansIOProtocol

from launch.rehearsal.wire.connection import DROP
from launch.rehearsal.wire.realtime.attachment import FREEZE, HANG_UP

GRACE_S = 1  # for answers under way when the engine is told to stop


class CuttableProtocol(H11Protocol):
    """Lets the application cut its connection, which ASGI has no word for."""

    def connection_made(self, transport: asyncio.Transport) -> None:  # type: ignore[override]
        super().connection_made(transport)
        app = self.app

        async def with_drop(scope: Scope, receive: Receive, send: Send) -> None:
            scope.setdefault("extensions", {})[DROP] = transport.abort
            await app(scope, receive, send)

        self.app = with_drop


class CuttableSocket(WebSocketsSansIOProtocol):
    """The same for a WebSocket; it can also end without a close frame, and fall silent with the line still up."""

    def connection_made(self, transport: asyncio.Transport) -> None:  # type: ignore[override]
        super().connection_made(transport)
        app = self.app
        means = {DROP: transport.abort, HANG_UP: transport.close, FREEZE: transport.pause_reading}

        async def with_means(scope: Scope, receive: Receive, send: Send) -> None:
            scope.setdefault("extensions", {}).update(means)
            await app(scope, receive, send)

        self.app = with_means


def listen(host: str, port: int) -> socket.socket:
    """A bound socket; port 0 takes a free one. Raises ``OSError`` when it is taken."""
    family = socket.AF_INET6 if ":" in host else socket.AF_INET
    return socket.create_server((host, port), family=family)


class Server(uvicorn.Server):
    def __init__(self, app: ASGIApp, sock: socket.socket) -> None:
        config = uvicorn.Config(
            app,
            http=CuttableProtocol,
            ws=CuttableSocket,
            log_level="warning",
            timeout_graceful_shutdown=GRACE_S,
        )
        super().__init__(config)
        self.sock = sock

    async def run_here(self) -> None:
        await self.serve(sockets=[self.sock])

    def cut(self) -> None:
        """End as a killed process would look from outside: the port closes and every connection is cut."""
        for server in self.servers:
            server.close()
        for connection in list(self.server_state.connections):
            connection.transport.abort()  # type: ignore[union-attr]
        self.force_exit = True
        self.should_exit = True
