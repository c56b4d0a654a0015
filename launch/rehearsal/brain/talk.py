"""A language model of the GGUF kind, on xllamacpp."""

from __future__ import annotations

import secrets
import tempfile
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

CONTEXT = 2048  # tokens of prompt and answer: what the prompt's limits need, and small in memory
DECODE_THREADS, PROMPT_THREADS = (
    1,
    2,
)  # llama.cpp's threads spin: a second one slows a busy pair of cores down, measured
TEMPERATURE = 0.1  # small models wander above it
SILENT = -1  # llama.cpp's log level for "nothing"


@dataclass(frozen=True)
class Manner:
    """How long an answer may be, in tokens, and how much a repetition counts against a token (1.0: not at all)."""

    max_tokens: int
    repeat_penalty: float


class ModelError(Exception):
    """A model that cannot be loaded or does not answer; the message is a sentence."""


class Talker:
    """``say`` is called with each piece of the answer and tells, by returning True, that it is enough."""

    def __init__(self, model: Path) -> None:
        # xllamacpp serves HTTP beside its calls. Nobody needs that: it gets a socket in a private folder, and a key.
        llama = _runtime()
        self._folder = tempfile.TemporaryDirectory(prefix="omni-rehearsal-")
        settings = llama.CommonParams()
        settings.hostnames = [f"{self._folder.name}/llama.sock"]
        settings.api_keys = [secrets.token_hex()]
        settings.ui = settings.endpoint_slots = False
        settings.n_threads_http = 1
        settings.model.path = str(model)
        settings.n_ctx, settings.n_parallel = CONTEXT, 1
        settings.cpuparams.n_threads, settings.cpuparams_batch.n_threads = DECODE_THREADS, PROMPT_THREADS
        settings.cache_ram_mib = 0  # else finished prompts pile up in memory, 8 GB of them by default
        settings.verbosity = SILENT
        try:
            self._server: Any = llama.Server(settings)
        except RuntimeError as error:
            raise ModelError(f"{model} cannot be loaded: it is not a GGUF model that llama.cpp knows.") from error

    def __call__(
        self,
        messages: list[dict[str, str]],
        say: Callable[[str], bool],
        *,
        manner: Manner,
        temperature: float | None = None,
        seed: int | None = None,
    ) -> None:
        """Answers the messages (OpenAI's shape), piece by piece. Raises ``ModelError``."""
        failures: list[str] = []

        def on_chunk(chunks: dict | list[dict]) -> bool:
            enough = False
            for chunk in chunks if isinstance(chunks, list) else [chunks]:
                if "error" in chunk:
                    failures.append(chunk["error"]["message"])
                piece = "".join(choice["delta"].get("content") or "" for choice in chunk.get("choices", ()))
                enough = enough or (bool(piece) and say(piece))
            return enough

        request = {
            "messages": messages,
            "max_tokens": manner.max_tokens,
            "temperature": TEMPERATURE if temperature is None else temperature,
            "repeat_penalty": manner.repeat_penalty,
            "stream": True,
        }
        self._server.handle_chat_completions(request | ({} if seed is None else {"seed": seed}), on_chunk)
        if failures:
            raise ModelError(f"The model did not answer: {failures[0]}.")

    def close(self) -> None:
        self._server = None  # its destructor stops the threads
        self._folder.cleanup()


def _runtime() -> Any:
    """xllamacpp. It is the one runtime whose wheel does not bring its OpenMP library, which a bare machine lacks."""
    try:
        import xllamacpp
    except ImportError as error:
        if "libgomp" not in str(error):
            raise
        raise ModelError(
            "The language model needs the system library libgomp. Install the package libgomp1 (Debian, Ubuntu) or libgomp "
            "(openEuler, Fedora), then start again."
        ) from error
    return xllamacpp
