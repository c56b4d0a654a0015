"""Bytes from one address to another and back, as plainly as asyncio can: ``python -m tests.bench.pipe PORT TO_PORT``.

What the relay is measured against, and what cuts a connection in the middle (``Pipe.cut``).
"""

from __future__ import annotations

import asyncio
import sys


class Pipe:
    def __init__(self, port: int, to_port: int) -> None:
        self.port = port
        self._to_port = to_port
        self._writers: set[asyncio.StreamWriter] = set()

    async def start(self) -> asyncio.Server:
        return await asyncio.start_server(self._connected, "127.0.0.1", self.port)

    def cut(self) -> None:
        """Every connection ends at once, without a goodbye."""
        for writer in self._writers:
            writer.transport.abort()

    async def _connected(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        there, thither = await asyncio.open_connection("127.0.0.1", self._to_port)
        self._writers |= {writer, thither}
        await asyncio.gather(_copy(reader, thither), _copy(there, writer))
        self._writers -= {writer, thither}


async def _copy(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
    try:
        while data := await reader.read(65_536):
            writer.write(data)
            await writer.drain()
    except ConnectionError:
        pass  # cut
    finally:
        writer.close()


async def main(port: int, to_port: int) -> None:
    async with await Pipe(port, to_port).start() as server:
        await server.serve_forever()


if __name__ == "__main__":
    asyncio.run(main(int(sys.argv[1]), int(sys.argv[2])))
