"""The English voice: text → phonemes by espeak-ng → a Piper VITS model on onnxruntime → a wave."""

from __future__ import annotations

import ctypes
import json
import re
import unicodedata
from pathlib import Path

import espeakng_loader
import numpy as np
import onnxruntime

THREADS = 2  # the machine to serve has two cores
RETRIEVAL, UTF8, IPA = 1, 1, 2  # espeak-ng's speak_lib.h: AUDIO_OUTPUT_RETRIEVAL, espeakCHARS_UTF8, phoneme mode "IPA"
START, END, PAD = "^", "$", "_"  # Piper's alphabet: around a sentence, and between any two phonemes
MARK = re.compile(r"(?P<text>.+?)(?:(?P<mark>[,.;:!?])+(?=\s|$)|$)", re.S)  # not the point of 3.5 or the colon of 3:05
# Signs that espeak-ng drops or spells.
SIGNS = (
    (re.compile(r"(?<=[\d)])\s+[-−]\s+(?=[\d(-])"), " minus "),
    (re.compile(r"\s*÷\s*"), " divided by "),
    (re.compile(r"\s*×\s*"), " times "),
    (re.compile(r"\s*≈\s*"), " is about "),
    (re.compile(r"\^"), " to the power of "),
    (re.compile(r"²"), " squared"),
    (re.compile(r"³"), " cubed"),
    (re.compile(r"\$(\d[\d,.]*\d|\d)"), r"\1 dollars"),
)


class Phonemes:
    """espeak-ng's reading of English. One per process: the library keeps its voice in globals."""

    def __init__(self) -> None:
        self._library = ctypes.CDLL(espeakng_loader.get_library_path())
        self._library.espeak_TextToPhonemes.restype = ctypes.c_char_p
        self._library.espeak_TextToPhonemes.argtypes = [ctypes.POINTER(ctypes.c_char_p), ctypes.c_int, ctypes.c_int]
        if self._library.espeak_Initialize(RETRIEVAL, 0, espeakng_loader.get_data_path().encode(), 0) <= 0:
            raise OSError("espeak-ng finds no voice data")
        self._library.espeak_SetVoiceByName(b"en-us")

    def __call__(self, text: str) -> str:
        """IPA with the punctuation the voice pauses at, which espeak-ng itself drops."""
        for sign, words in SIGNS:
            text = sign.sub(words, text)
        parts = (part for part in MARK.finditer(text) if re.search(r"\w", part["text"]))
        return " ".join(self._phrase(part["text"]) + (part["mark"] or "") for part in parts)

    def _phrase(self, text: str) -> str:
        left = ctypes.c_char_p(text.encode())
        said = []
        while left.value:  # the library moves the pointer on by a clause at a time, and sets it to NULL at the end
            said.append(self._library.espeak_TextToPhonemes(ctypes.byref(left), UTF8, IPA).decode())
        return " ".join(said).strip()


class EnglishVoice:
    """Speaks a clause of English."""

    def __init__(self, folder: Path) -> None:
        voice = json.loads((folder / "joe.json").read_text(encoding="utf-8"))
        self.rate: int = voice["audio"]["sample_rate"]
        self._ids: dict[str, list[int]] = voice["phoneme_id_map"]
        manner = voice["inference"]
        self._scales = np.array([manner["noise_scale"], manner["length_scale"], manner["noise_w"]], np.float32)
        options = onnxruntime.SessionOptions()
        options.intra_op_num_threads = THREADS
        options.add_session_config_entry("session.intra_op.allow_spinning", "0")  # idle threads would eat a core
        options.enable_cpu_mem_arena = False  # clauses differ in length: the arena would only grow
        model = str(folder / "joe.onnx")
        self._model = onnxruntime.InferenceSession(model, options, providers=["CPUExecutionProvider"])
        self._phonemes = Phonemes()

    def __call__(self, text: str) -> np.ndarray:
        """The clause as float32 at ``rate``; empty when nothing in it can be read."""
        phonemes = unicodedata.normalize("NFD", self._phonemes(text))
        known = [self._ids[phoneme] for phoneme in phonemes if phoneme in self._ids]
        if not any(character.isalpha() for character in phonemes):
            return np.zeros(0, np.float32)
        pad = self._ids[PAD]
        ids = [*self._ids[START], *pad]
        for one in known:
            ids += [*one, *pad]
        ids += self._ids[END]
        inputs = {
            "input": np.array([ids], np.int64),
            "input_lengths": np.array([len(ids)], np.int64),
            "scales": self._scales,
        }
        return np.asarray(self._model.run(None, inputs)[0]).ravel()
