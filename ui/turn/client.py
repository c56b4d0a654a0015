"""The client of one vLLM-Omni server: what it serves, how it is, and the events of an answer. On the OpenAI SDK."""

from __future__ import annotations

import asyncio
import json
import time
from collections.abc import AsyncGenerator, Awaitable, Callable
from contextlib import aclosing
from dataclasses import dataclass
from typing import Any, TypeVar

import httpx2
import openai
from openai.types.chat import ChatCompletionChunk

from launch.errors import InputError, OmniError, ServerError, ServerGone, ServerRefused, ServerSilent
from ui.turn.events import Failed, TurnEvent
from ui.turn.probe import Probe, ServerState
from ui.turn.refusals import error_message, from_sdk, lost, refused
from ui.turn.request import Request, Wire
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
        self._http = httpx2.AsyncClient(
            trust_env=False,  # a proxy from the environment would break loopback
            transport=transport,
            verify=self.base_url.startswith("https:"),  # reading the certificates takes 70 ms; plain http needs none
            timeout=httpx2.Timeout(None, connect=timeouts.connect_s),  # the rest is timed by us, event by event
            # uvicorn drops an idle connection after 5 s; dropped sooner by us, none is lost with a question on it.
            limits=httpx2.Limits(keepalive_expiry=2),
            headers={"Authorization": f"Bearer {api_key}"} if api_key else None,
        )
        # The SDK insists on a key; a server started without --api-key does not look at it.
        self._sdk = openai.AsyncOpenAI(
            base_url=f"{self.base_url}/v1", api_key=api_key or "none", http_client=self._http, max_retries=0
        )
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
                body = await asyncio.to_thread(request.encoded, model, wire)
                sent_at = self.clock()
                answer = await self._send(body, request)
            except ServerRefused as error:
                if error.key != "model-id-mismatch":
                    raise
                # The server came back under another name; nothing has been shown yet, so asking once more is safe.
                if (renamed := await self._probe.model(anew=True)) == model:
                    raise
                body = await asyncio.to_thread(request.encoded, renamed, wire)
                sent_at = self.clock()
                answer = await self._send(body, request)
            async with answer.stream, aclosing(self._read(answer, request, sent_at)) as events:
                async for event in events:
                    yield event
        except OmniError as error:
            if isinstance(error, ServerError):
                error.server = self.base_url
            yield Failed(self.clock() - sent_at, error)
        finally:
            self._streams -= 1

    async def _send(self, body: bytes, request: Request) -> _Answer:
        first = _Patience("timeout-first-event", self._timeouts.first_event_s)
        started = self._sdk.post(
            "/chat/completions",
            content=body,
            cast_to=ChatCompletionChunk,
            stream=True,
            stream_cls=openai.AsyncStream[ChatCompletionChunk],
        )
        stream = await self._awaited(started, request, first, begun=False)
        return _Answer(stream, first)

    async def _read(self, answer: _Answer, request: Request, sent_at: float) -> AsyncGenerator[TurnEvent, None]:
        reader = ChunkReader()
        if answer.streamed:
            async for event in self._read_chunks(answer, request, reader, sent_at):
                yield event
        else:
            whole = await self._awaited(answer.stream.response.aread(), request, answer.first)
            for event in reader.read_whole(_completion(whole, request), self.clock() - sent_at):
                yield event
        for event in reader.end():
            yield event

    async def _read_chunks(
        self, answer: _Answer, request: Request, reader: ChunkReader, sent_at: float
    ) -> AsyncGenerator[TurnEvent, None]:
        patience = answer.first
        while True:
            try:
                chunk = await self._awaited(anext(answer.stream), request, patience)
            except StopAsyncIteration:
                break
            except (ServerGone, ServerSilent):
                if reader.reason is None:
                    raise
                break  # the answer is complete; only the usage or the [DONE] was lost
            for event in reader.read(chunk, self.clock() - sent_at):
                yield event
            patience = _Patience("timeout-between-events", self._timeouts.between_events_s)
        if reader.reason is None:  # the server always gives one (§2.5); a gateway may end a stream early, politely
            raise ServerGone("stream-broken-midway", detail="the stream ended without a finish_reason")

    async def _awaited(self, step: Awaitable[T], request: Request, patience: _Patience, begun: bool = True) -> T:
        """``step``, while ``patience`` lasts, with the failures of SDK and transport told as ours."""
        try:
            async with asyncio.timeout_at(patience.until):
                return await step
        except TimeoutError as error:
            raise ServerSilent(patience.key, seconds=f"{patience.seconds:g}") from error
        except (openai.APIConnectionError, httpx2.RequestError) as error:
            cause = error.__cause__ or error
            raise lost(cause, self.base_url, seconds=self._timeouts.connect_s, begun=begun) from error
        except openai.APIError as error:
            raise from_sdk(error, request) from error
        except ValueError as error:  # a chunk that is no JSON
            raise ServerGone("stream-broken-midway", detail=f"a chunk cannot be read: {error}") from error


class _Patience:
    """How long to wait, from now on, and the fault to name when it is over."""

    def __init__(self, key: str, seconds: float) -> None:
        self.key = key
        self.seconds = seconds
        self.until = asyncio.get_running_loop().time() + seconds


@dataclass(frozen=True)
class _Answer:
    """An answer whose head has come. ``first``: what is left of the patience for its first event."""

    stream: openai.AsyncStream[ChatCompletionChunk]
    first: _Patience

    @property
    def streamed(self) -> bool:
        return self.stream.response.headers.get("content-type", "").startswith("text/event-stream")


def _address(typed: str) -> str:
    """The root of the server, from what people type: without a scheme, or with the ``/v1`` of OpenAI's base URLs.

    Raises ``InputError``.
    """
    try:
        url = httpx2.URL(typed if "://" in typed else f"http://{typed}")
    except httpx2.InvalidURL as error:
        raise InputError("server-address", detail=str(error), address=typed) from error
    if url.scheme not in ("http", "https") or not url.host or url.userinfo:  # a password would end up in records
        raise InputError("server-address", address=typed)
    return str(url).rstrip("/").removesuffix("/v1")


def _completion(whole: bytes, request: Request) -> dict[str, Any]:
    """The answer that came in one piece. Raises ``ServerRefused`` when it is an error, or no answer of ours at all."""
    try:
        body = json.loads(whole)
    except ValueError:
        body = None
    if isinstance(body, dict) and body.get("error"):
        raise refused(None, error_message(body), request)
    if not isinstance(body, dict) or not body.get("choices"):
        raise ServerRefused("not-an-omni-server", detail=whole[:200].decode("utf-8", "replace"))
    return body
