"""How the server is, and what it serves: plain GETs with short time-outs, cheap enough for a pill."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from dataclasses import dataclass
from typing import Literal

import httpx2

from launch.errors import OmniError, ServerError, ServerGone, ServerRefused, ServerSilent
from ui.turn.refusals import lost
from ui.turn.request import Wire

REHEARSAL_MODEL = "rehearsal"  # the id under which our CPU engine is served; it never claims to be the model
_GLANCE_S = 2.0  # /health answers in milliseconds; two seconds is a stuck loop or a lost tunnel
_NOT_HEALTHY = (404, 503)  # 404: a gateway that passes /v1 only; /v1/models then tells as much (protocol §1.3)
_FRESH_S = 1.0  # pages that ask within the same second share an answer


@dataclass(frozen=True)
class ServerState:
    """``busy``: answering one of our turns, or too occupied to answer a probe. ``error`` says why it is not ready."""

    state: Literal["starting", "ready", "busy", "gone"]
    model: str | None = None
    wire: Wire | None = None
    round_trip_ms: float | None = None
    error: OmniError | None = None

    @property
    def rehearsal(self) -> bool:
        return self.model == REHEARSAL_MODEL


class Probe:
    """Asks ``/health`` and ``/v1/models`` of one server, remembering what it serves until it goes away."""

    def __init__(
        self, base_url: str, http: httpx2.AsyncClient, clock: Callable[[], float], *, patience_s: float
    ) -> None:
        self._base_url = base_url
        self._http = http
        self._clock = clock
        self._patience_s = patience_s
        self._model: str | None = None
        self._wire: Wire | None = None
        self._was_ready = False
        self._last: tuple[float, ServerState] | None = None
        self._asking = asyncio.Lock()

    @property
    def served(self) -> tuple[str | None, Wire | None]:
        """Model id and wire as last read."""
        return self._model, self._wire

    async def model(self, *, anew: bool = False) -> str:
        """The first id of ``/v1/models``, as remembered or ``anew``. Raises ``ServerError``."""
        if self._model is None or anew:
            response = await self._get("/v1/models", self._patience_s)
            try:
                self._model = str(response.json()["data"][0]["id"])
            except (ValueError, LookupError, TypeError) as error:
                raise ServerRefused("not-an-omni-server", detail=response.text[:200]) from error
        return self._model

    async def wire(self) -> Wire | None:
        """By the body of ``/health``: empty up to 0.26, JSON from 0.30 on (protocol §7). ``None`` while not healthy."""
        if self._wire is None:
            self._see(await self._get("/health", self._patience_s, accept=_NOT_HEALTHY))
        return self._wire

    async def state(self, *, busy: bool) -> ServerState:
        """The state, at most a second old."""
        async with self._asking:
            if self._last is None or self._clock() - self._last[0] > _FRESH_S:
                self._last = (self._clock(), await self.fresh(busy=busy))
            return self._last[1]

    async def fresh(self, *, busy: bool) -> ServerState:
        """The state, asked now. ``busy``: turns of ours are under way."""
        asked = self._clock()
        try:
            response = await self._get("/health", _GLANCE_S, accept=_NOT_HEALTHY)
            round_trip_ms = (self._clock() - asked) * 1000
            if response.status_code == 503:  # our engine while it loads; vLLM in the seconds after a stage has died
                if self._was_ready:
                    raise ServerGone("stage-dead", detail="/health answers 503")
                return ServerState("starting", round_trip_ms=round_trip_ms)
            self._see(response)
            model = await self.model()
        except ServerSilent as error:
            return ServerState("busy" if self._was_ready or busy else "starting", self._model, self._wire, None, error)
        except ServerError as error:
            self._was_ready = self._was_ready and error.key == "stage-dead"  # else the next 503 would look like a start
            self._model = self._wire = None  # it may serve something else when it comes back
            error.server = self._base_url
            return ServerState("gone", error=error)
        self._was_ready = True
        return ServerState("busy" if busy else "ready", model, self._wire, round_trip_ms)

    def _see(self, response: httpx2.Response) -> None:
        if response.status_code == 200:
            self._was_ready = True
            self._wire = "0.30" if response.content.strip() else "0.26"

    async def _get(self, path: str, patience_s: float, accept: tuple[int, ...] = ()) -> httpx2.Response:
        url = self._base_url + path
        try:
            async with asyncio.timeout(patience_s):
                response = await self._http.get(url)
        except TimeoutError as error:
            raise ServerSilent("timeout-connect", detail=url, seconds=f"{patience_s:g}") from error
        except httpx2.RequestError as error:
            raise lost(error, url, seconds=patience_s) from error
        if response.status_code == 401:
            raise ServerRefused("unauthorized", detail=f"{url}: 401")
        if response.status_code in (502, 503, 504) and response.status_code not in accept:
            raise ServerGone("server-not-up", detail=f"{url}: {response.status_code}")
        if response.status_code != 200 and response.status_code not in accept:
            raise ServerRefused("not-an-omni-server", detail=f"{url}: {response.status_code}")
        return response
