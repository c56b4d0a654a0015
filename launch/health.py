"""Whether a server really answers, over the wire: reached, healthy, its models, its version, a spoken word, a duplex
session opened and closed.
"""

from __future__ import annotations

import time
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from typing import Any

import httpx

from launch.duplex_probe import DuplexCheck, check_duplex
from launch.explain import explain_text
from launch.findings import Finding
from launch.output import launch_line
from launch.spoken_word import SpeechCheck, check_speech

_CONNECT_S = 5.0  # through an ssh tunnel round the world a connection takes a second
_ANSWER_S = 120.0  # a first spoken answer on a cold server takes half a minute


@dataclass(frozen=True)
class Health:
    """``wire``: "0.26" or "0.30" (and later). ``latency_ms``: by question. ``speech``, ``duplex``: None where it was not
    come to.
    """

    url: str
    reached: bool = False
    healthy: bool = False
    models: tuple[str, ...] = ()
    wire: str | None = None
    speech: SpeechCheck | None = None
    duplex: DuplexCheck | None = None
    latency_ms: Mapping[str, float] = field(default_factory=dict)
    findings: tuple[Finding, ...] = ()


def check(url: str, key: str | None = None, duplex_layout: str | None = None) -> Health:
    """Ask the server at ``url`` everything, and say what is wrong. ``key``: its API key. ``duplex_layout``: the layout
    it was started with, when that is one for live conversations.
    """
    url = url.rstrip("/").removesuffix("/v1")
    headers = {"Authorization": f"Bearer {key}"} if key else {}
    timeout = httpx.Timeout(_ANSWER_S, connect=_CONNECT_S)
    with httpx.Client(base_url=url, headers=headers, timeout=timeout, trust_env=False) as client:
        try:
            return _ask(client, Health(url), key, duplex_layout)
        except httpx.ConnectTimeout:
            return Health(url, findings=(Finding("timeout-connect", {"seconds": round(_CONNECT_S)}),))
        except httpx.ConnectError:
            return Health(url, findings=(Finding("server-not-up"),))
        except (httpx.InvalidURL, httpx.UnsupportedProtocol):
            return Health(url, findings=(Finding("server-address"),))


def _ask(client: httpx.Client, health: Health, key: str | None, duplex_layout: str | None) -> Health:
    latency: dict[str, float] = {}
    try:
        began = time.monotonic()
        answer = client.get("/health", timeout=_CONNECT_S)
        latency["health"] = _ms_since(began)
        health = replace(health, reached=True, healthy=answer.status_code == 200, latency_ms=latency)
        if answer.status_code == 404:
            return _with(health, Finding("not-an-omni-server"))
        if not health.healthy:
            return _with(health, Finding("health-not-200", {"status": answer.status_code}))
        # Empty before 0.30, {"status": "healthy"} since (protocol §7).
        health = replace(health, wire="0.30" if answer.content.strip() else "0.26")
        began = time.monotonic()
        answer = client.get("/v1/models")
        latency["models"] = _ms_since(began)
        if answer.status_code != 200:
            return _with(health, _told(answer.status_code, answer.text))
        health = replace(health, models=tuple(_models(answer)))
        if not health.models:
            return _with(health, Finding("not-an-omni-server"))
        speech = check_speech(client, health.models[0])
        health = _with(replace(health, speech=speech), *_about_speech(speech))
    except (httpx.ReadTimeout, httpx.PoolTimeout, httpx.WriteTimeout):
        health = _with(replace(health, reached=True), Finding("timeout-first-event", {"seconds": round(_ANSWER_S)}))
    except (httpx.RemoteProtocolError, httpx.ReadError):
        return _with(replace(health, reached=True), Finding("closed-before-answer"))
    duplex = check_duplex(health.url, health.models[0] if health.models else "", key)
    found = [_told(0, duplex.error)] if duplex.state == "failed" else []
    if duplex.state == "open":
        latency["duplex_open"] = duplex.open_ms or 0.0
    if duplex_layout is not None and duplex.state == "turn":
        found.append(_in_turn_mode(duplex_layout, health.wire))
    return _with(replace(health, duplex=duplex), *found)


def _in_turn_mode(layout: str, wire: str | None) -> Finding:
    """Which of the package's files speaks duplex: a file of its own before 0.30, every file but ``_turn`` since."""
    file = "minicpmo_4_5.yaml" if wire == "0.30" else "minicpmo_4_5_duplex.yaml"
    command = launch_line("up", "--layout", "duplex")
    return Finding("server-in-turn-mode", {"layout": layout, "file": file, "command": command})


def _about_speech(speech: SpeechCheck) -> list[Finding]:
    if speech.error:
        return [_told(speech.status, speech.error)]
    if not speech.seconds:
        return [Finding("no-audio-in-answer" if speech.rate_hz is None else "speech-undecodable")]
    found = []
    if (speech.rate_hz, speech.channels, speech.bits) != (24_000, 1, 16):
        facts = {"rate": speech.rate_hz, "channels": speech.channels, "bits": speech.bits}
        found.append(Finding("speech-format", facts))
    if speech.silent:
        found.append(Finding("speech-silent"))
    return found


def _told(status: int, words: str) -> Finding:
    """What the server's own words mean, by the catalogue."""
    if status == 401:
        return Finding("unauthorized")
    hits = [hit for hit in explain_text(words) if hit.fault.severity != "harmless"]
    return Finding(hits[0].fault.id) if hits else Finding("health-refused", {"status": status, "words": words[:300]})


def _models(answer: httpx.Response) -> list[str]:
    try:
        document: Any = answer.json()
        return [str(model["id"]) for model in document["data"]]
    except (ValueError, KeyError, TypeError):
        return []


def _with(health: Health, *findings: Finding) -> Health:
    return replace(health, findings=(*health.findings, *findings))


def _ms_since(began: float) -> float:
    return round((time.monotonic() - began) * 1000, 1)
