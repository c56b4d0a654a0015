"""The client of one vLLM-Omni server: what it serves, how it is, and the events of an answer. On the OpenAI SDK."""

from __future__ import annotations

import asyncio
import time
from collections.abc import AsyncGenerator, Awaitable, Callable
from contextlib import aclosing
from dataclasses import dataclass
from typing import Any, TypeVar

import httpx2
import openai

from launch.errors import InputError, OmniError, ServerGone, ServerRefused, ServerSilent
from ui.turn.events import Failed, TurnEvent
from ui.turn.probe import Probe, ServerState
from ui.turn.recipes import split_for_sdk
from ui.turn.refusals import error_message, from_sdk, lost, refused
from ui.turn.request import Body, Request, Wire
from ui.turn.stream import ChunkReader

T = TypeVar("T")


@dataclass(frozen=True)
class Timeouts:
    """Seconds. ``connect_s``: loopback or a tunnel answers in milliseconds. ``first_event_s``: with speech the server
    sends nothing before the *whole* text is there, and a long video is read first. ``between_events_s``: packets hold
    about 1 s of speech, so a minute is RTF 60."""

    connect_s: float = 5
    first_event_s: float = 120
    between_events_s: float = 60


class ServerClient:
    """One server, many turns at a time. Belongs to one event loop; whoever makes it calls ``close``.

    A cancelled ``stream`` closes its connection at once, which is how the server is told to stop (protocol §3).
    ``transport`` and ``clock`` (seconds, monotonic) are seams for tests.
    """

    def __init__(
        self,
        base_url: str,
        *,
        api_key: str | None = None,
        timeouts: Timeouts = Timeouts(),
        transport: httpx2.AsyncBaseTransport | None = None,
        clock: Callable[[], float] = time.perf_counter,
    ) -> None:
        self.base_url = _address(base_url)
        self.clock = clock
        self.needs_key = api_key is not None
        self._timeouts = timeouts
        # No proxy from the environment: it would break loopback. Reading is timed by us, event by event.
        self._http = httpx2.AsyncClient(
            trust_env=False,
            transport=transport,
            timeout=httpx2.Timeout(timeouts.first_event_s, connect=timeouts.connect_s, read=None),
            headers={"Authorization": f"Bearer {api_key}"} if api_key else None,
        )
        # The SDK insists on a key; a server started without --api-key does not look at it.
        self._sdk = openai.AsyncOpenAI(
            base_url=f"{self.base_url}/v1", api_key=api_key or "none", http_client=self._http, max_retries=0
        )
        self._create: Any = self._sdk.chat.completions.create  # imports half of the SDK: now, not in the first turn
        self._probe = Probe(self.base_url, self._http, clock, patience_s=timeouts.connect_s)
        self._streams = 0

    async def model(self) -> str:
        """The id that ``/v1/models`` gives, read once and again after a 404 or a time away. Raises ``ServerError``."""
        return await self._probe.model()

    async def wire(self) -> Wire | None:
        """Which wire the server speaks; ``None`` when ``/health`` cannot be asked. Raises ``ServerError``."""
        return await self._probe.wire()

    @property
    def served(self) -> tuple[str | None, Wire | None]:
        """Model id and wire as last read, without asking."""
        return self._probe.served

    async def state(self) -> ServerState:
        """How the server is now, for the pill. Never raises; callers within a second share one answer."""
        return await self._probe.state(busy=self._streams > 0)

    async def check(self) -> ServerState:
        """As ``state``, but asked anew."""
        return await self._probe.fresh(busy=self._streams > 0)

    async def close(self) -> None:
        await self._http.aclose()

    async def stream(self, request: Request) -> AsyncGenerator[TurnEvent, None]:
        """The events of the answer to ``request``; the last is ``Finished`` or ``Failed``. Raises nothing itself."""
        self._streams += 1
        sent_at = self.clock()
        try:
            model, wire = await self.model(), await self.wire()
            try:
                body = await asyncio.to_thread(request.body, model, wire)
                sent_at = self.clock()
                response = await self._send(body, request)
            except ServerRefused as error:
                if error.key != "model-id-mismatch":
                    raise
                # The server came back under another name; nothing has been shown yet, so asking once more is safe.
                self._probe.forget()
                if (renamed := await self.model()) == model:
                    raise
                sent_at = self.clock()
                response = await self._send(body | {"model": renamed}, request)
            async with response, aclosing(self._read(response, request, sent_at)) as events:
                async for event in events:
                    yield event
        except OmniError as error:
            yield Failed(self.clock() - sent_at, error)
        finally:
            self._streams -= 1

    async def _send(self, body: Body, request: Request) -> openai.AsyncStream[Any]:
        named, extra = split_for_sdk(body)
        started = self._create(**named, extra_body=extra)
        return await self._awaited(started, request, self._timeouts.first_event_s, "timeout-first-event", begun=False)

    async def _read(
        self, stream: openai.AsyncStream[Any], request: Request, sent_at: float
    ) -> AsyncGenerator[TurnEvent, None]:
        reader = ChunkReader()
        if not stream.response.headers.get("content-type", "").startswith("text/event-stream"):
            whole = await self._awaited(
                stream.response.aread(), request, self._timeouts.first_event_s, "timeout-first-event"
            )
            for event in reader.read_whole(_completion(stream.response, whole, request), self.clock() - sent_at):
                yield event
        else:
            limit, key = self._timeouts.first_event_s, "timeout-first-event"
            while True:
                try:
                    chunk = await self._awaited(anext(stream), request, limit, key)
                except StopAsyncIteration:
                    break
                except ServerGone:
                    if reader.reason is None:
                        raise
                    break  # only the usage or the [DONE] was lost
                for event in reader.read(chunk, self.clock() - sent_at):
                    yield event
                limit, key = self._timeouts.between_events_s, "timeout-between-events"
            if reader.reason is None:  # the server always gives one (§2.5); a gateway may end a stream early, politely
                raise ServerGone("stream-broken-midway", detail="the stream ended without a finish_reason")
        for event in reader.end():
            yield event

    async def _awaited(self, step: Awaitable[T], request: Request, limit: float, key: str, begun: bool = True) -> T:
        """``step``, in at most ``limit`` seconds, with the failures of SDK and transport told as ours."""
        try:
            async with asyncio.timeout(limit):
                return await step
        except TimeoutError as error:
            raise ServerSilent(key, seconds=f"{limit:g}") from error
        except (openai.APIConnectionError, httpx2.RequestError) as error:
            raise lost(
                error.__cause__ or error, self.base_url, seconds=self._timeouts.connect_s, begun=begun
            ) from error
        except openai.APIError as error:
            raise from_sdk(error, request) from error
        except ValueError as error:  # a chunk that is no JSON
            raise ServerGone("stream-broken-midway", detail=f"a chunk cannot be read: {error}") from error


def _address(typed: str) -> str:
    """The root of the server, from what people type: without a scheme, or with the ``/v1`` of OpenAI's base URLs.

    Raises ``InputError``.
    """
    try:
        url = httpx2.URL(typed if "://" in typed else f"http://{typed}")
    except httpx2.InvalidURL as error:
        raise InputError("server-address", detail=str(error), address=typed) from error
    if url.scheme not in ("http", "https") or not url.host:
        raise InputError("server-address", address=typed)
    return str(url).rstrip("/").removesuffix("/v1")


def _completion(response: httpx2.Response, whole: bytes, request: Request) -> dict[str, Any]:
    """The answer that came in one piece. Raises ``ServerRefused`` when it is an error, or no answer of ours at all."""
    try:
        body = response.json()
    except ValueError as error:
        raise ServerRefused("not-an-omni-server", detail=whole[:200].decode("utf-8", "replace")) from error
    if isinstance(body, dict) and body.get("error"):
        raise refused(None, error_message(body), request)
    if not isinstance(body, dict) or not body.get("choices"):
        raise ServerRefused("not-an-omni-server", detail=whole[:200].decode("utf-8", "replace"))
    return body
