"""Nothing says that it is ready before the models are loaded."""

from __future__ import annotations

import asyncio

import httpx
import pytest

from launch.rehearsal.brain.brain import Progress
from launch.rehearsal.wire.app import create_app
from tests.launch.rehearsal.wire.probes import CHAT, ProbeBrain, ask


class _Loading(ProbeBrain):
    def __init__(self) -> None:
        super().__init__()
        self.go_on = asyncio.Event()

    async def load(self, progress: Progress) -> None:
        progress("whisper", 0.5)
        await self.go_on.wait()


@pytest.mark.parametrize(("wire", "healthy"), [("0.26", ""), ("0.30", '{"status":"healthy"}')])
async def test_503_until_the_models_are_loaded(wire: str, healthy: str) -> None:
    brain, ready = _Loading(), asyncio.Event()
    seen: list[tuple[str, float]] = []
    app = create_app(brain, wire=wire, progress=lambda what, share: seen.append((what, share)), ready=ready.set)
    client = httpx.AsyncClient(transport=httpx.ASGITransport(app), base_url="http://engine", trust_env=False)
    async with app.router.lifespan_context(app), client:
        await asyncio.sleep(0)
        health = await client.get("/health")
        assert (health.status_code, health.text) == (503, "")
        assert (await client.get("/ping")).status_code == 503
        assert (await client.get("/version")).status_code == 200
        for answer in (await client.get("/v1/models"), await client.post(CHAT, json=ask())):
            assert answer.status_code == 503
            assert answer.json()["error"]["message"] == "The rehearsal engine is still loading whisper."
        assert seen == [("whisper", 0.5)]
        brain.go_on.set()
        await asyncio.wait_for(ready.wait(), 5)
        health = await client.get("/health")
        assert (health.status_code, health.text) == (200, healthy)
        assert (await client.get("/v1/models")).json()["data"][0]["id"] == "rehearsal"
    assert brain.closed


async def test_stopping_while_loading_leaves_nothing_running() -> None:
    brain = _Loading()
    app = create_app(brain)
    async with app.router.lifespan_context(app):
        await asyncio.sleep(0)
    assert brain.closed
    assert asyncio.all_tasks() == {asyncio.current_task()}


class _Unloadable(ProbeBrain):
    async def load(self, progress: Progress) -> None:
        raise FileNotFoundError("no weights")


async def test_a_failure_to_load_is_told() -> None:
    told: list[Exception] = []
    app = create_app(_Unloadable(), failed=told.append)
    async with app.router.lifespan_context(app):
        await asyncio.sleep(0.01)
    assert [str(error) for error in told] == ["no weights"]
    app = create_app(_Unloadable())
    with pytest.raises(FileNotFoundError):
        async with app.router.lifespan_context(app):
            await asyncio.sleep(0.01)


def test_an_unknown_wire_or_fault_is_refused_before_anything_starts() -> None:
    with pytest.raises(KeyError):
        create_app(ProbeBrain(), wire="0.99")
    with pytest.raises(ValueError, match="no fault"):
        create_app(ProbeBrain(), faults=["nope"])
