"""The rehearsal's brain: small models that really hear, see, think and speak, on two CPU cores."""

from __future__ import annotations

import asyncio
import re
from collections.abc import AsyncIterator, Callable, Sequence
from dataclasses import replace
from datetime import datetime
from pathlib import Path

from launch.rehearsal.brain import think_en, think_zh
from launch.rehearsal.brain.brain import Progress, Said, Sampling, Token
from launch.rehearsal.brain.clauses import is_chinese
from launch.rehearsal.brain.detect import SileroDetector
from launch.rehearsal.brain.known import Known
from launch.rehearsal.brain.prompt import messages
from launch.rehearsal.brain.scene import Scene
from launch.rehearsal.brain.senses import Senses
from launch.rehearsal.brain.speak import Speaker
from launch.rehearsal.brain.talk import Manner, ModelError, Talker
from launch.rehearsal.brain.tokens import Writer
from launch.rehearsal.brain.worker import Channel, Worker
from launch.rehearsal.weights import WeightsError, missing, weights_dir

OUR_MODEL = "smollm2/SmolLM2-135M-Instruct.Q4_1.gguf"
# Open answers, (spoken, written). A spoken one is made whole before its first sound: 32 tokens take about a second.
# Our model states facts best without a penalty, but loops in longer texts; one of half a billion loops in short ones too.
OURS = (Manner(32, 1.0), Manner(120, 1.1))
YOURS = (Manner(60, 1.15), Manner(300, 1.15))
SENTENCE_END = re.compile(r"(?<![A-Z])[.!?。！？][\"”’)]?\s*$")
CLAUSE_END = re.compile(r"[.!?。！？,;，；](?=\s|[\u3400-\u9fff])")
WARM_UP = ("好的。", "Good.")  # a first call of each voice builds its buffers, which takes a second


def _now() -> datetime:
    return datetime.now().astimezone()


class SmallBrain:
    """``weights``: the folder of ``launch.rehearsal.weights``; ``model``: a GGUF of the user's own that thinks in both
    languages; ``now``: the clock that it tells the time by. All work is done on one thread, a turn after the other."""

    def __init__(
        self, weights: Path | None = None, *, model: Path | None = None, now: Callable[[], datetime] = _now
    ) -> None:
        self._weights = weights or weights_dir()
        self._own_model = model
        self._now = now
        self._worker = Worker()
        self._talker: Talker | None = None

    async def load(self, progress: Progress) -> None:
        """Loads and warms everything. Raises ``WeightsError`` with a sentence when a file is missing or no model."""
        await self._worker.run(lambda: self._load(progress))

    def _load(self, progress: Progress) -> None:
        if absent := missing(self._weights):
            raise WeightsError(
                f"{len(absent)} files of the weights are missing in {self._weights}, {absent[0]} the first. "
                "Fetch them with `python -m launch.rehearsal.weights`."
            )
        if self._own_model is not None and not self._own_model.is_file():
            raise WeightsError(f"There is no model file {self._own_model}.")
        progress("ears and eyes", 0.0)
        self._senses = Senses(self._weights)
        progress("voices", 0.3)
        self._speaker = Speaker(self._weights)
        progress("language model", 0.5)
        try:
            self._talker = Talker(self._own_model or self._weights / OUR_MODEL)
        except ModelError as error:
            raise WeightsError(str(error)) from error
        progress("warm-up", 0.8)
        for text in WARM_UP:
            list(self._speaker(text))
        self._talker([{"role": "user", "content": "Hello"}], lambda piece: False, manner=Manner(2, 1.0))
        self._senses.warm_up()
        progress("ready", 1.0)

    def think(self, conversation: Sequence[Said], sampling: Sampling, *, spoken: bool) -> AsyncIterator[Token]:
        return self._worker.stream(lambda channel: self._think(conversation, sampling, spoken, channel))

    def speak(self, text: str) -> AsyncIterator[bytes]:
        return self._worker.stream(lambda channel: self._speak(text, channel))

    def _speak(self, text: str, channel: Channel[bytes]) -> None:
        for breath in self._speaker(text):
            channel.send(breath)

    def _think(self, conversation: Sequence[Said], sampling: Sampling, spoken: bool, channel: Channel[Token]) -> None:
        scene = self._senses.perceive(conversation, channel.step)
        channel.step()
        writer = Writer(channel.send, sampling.max_tokens)
        chinese = scene.language == "zh"
        thinker = think_zh if chinese else think_en
        known = thinker.known(scene, self._now(), spoken)
        sentences = [thinker.opening(scene)]
        has_model = self._own_model is not None or not chinese
        if self._own_model is None or known.answered:
            sentences += known.sentences  # else the model tells them in its own words
        if known.is_open and not has_model:
            sentences += think_zh.without_model(scene, spoken)
        writer.write(thinker.joined(sentences))
        if has_model and not known.answered and (known.is_open or self._own_model is not None):
            self._talk(scene, known, sampling, spoken, writer, channel)

    def _talk(
        self, scene: Scene, known: Known, sampling: Sampling, spoken: bool, writer: Writer, channel: Channel[Token]
    ) -> None:
        """Lets the model answer what is open: a whole short sentence when it is spoken, token by token when not."""
        manner = (OURS if self._own_model is None else YOURS)[0 if spoken else 1]
        if writer.left is not None:
            manner = replace(manner, max_tokens=min(manner.max_tokens, writer.left))
        said = "" if scene.language == "zh" else " "

        def take(piece: str) -> bool:
            nonlocal said
            said += piece
            if spoken:
                return channel.is_left or SENTENCE_END.search(said) is not None
            if not channel.is_left:
                writer.token(piece if said != " " + piece else said)
            return channel.is_left or writer.is_full

        assert self._talker is not None, "think before load"
        self._talker(
            messages(scene, scene.language, known.sentences, brief=spoken, persona=self._own_model is not None),
            take,
            manner=manner,
            temperature=sampling.temperature,
            seed=sampling.seed,
        )
        channel.step()
        if spoken:
            writer.write(whole(said))

    def detector(self) -> SileroDetector:
        return SileroDetector()

    async def close(self) -> None:
        """Waits for the work at hand and gives the models back."""
        await asyncio.to_thread(self._worker.close)
        if self._talker is not None:
            self._talker.close()


def whole(said: str) -> str:
    """An answer that was cut off, back to its last sentence or clause."""
    if SENTENCE_END.search(said):
        return said
    if ends := list(CLAUSE_END.finditer(said, len(said) // 2)):
        stop = "。" if is_chinese(said) else "."
        return said[: ends[-1].start()] + stop
    return said.rstrip() + "…"
