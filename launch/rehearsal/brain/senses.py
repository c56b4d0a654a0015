"""The parts of a conversation → what is perceived of them. A part that was perceived once is remembered by its content."""

from __future__ import annotations

import hashlib
from collections import OrderedDict
from collections.abc import Callable, Iterator, Sequence
from itertools import groupby
from pathlib import Path

import numpy as np
from PIL import Image

from launch.rehearsal.brain.brain import Part, Said
from launch.rehearsal.brain.clauses import is_chinese
from launch.rehearsal.brain.hear import Ear, Language
from launch.rehearsal.brain.read_text import Reader
from launch.rehearsal.brain.scene import Scene, Sensed, Turn
from launch.rehearsal.brain.see import look, open_picture
from launch.rehearsal.brain.sound import EAR_RATE, decode
from launch.rehearsal.brain.watch import watch_file, watch_parts

REMEMBERED = 64  # perceptions kept, some kilobytes each: a long conversation sends all its media again with every turn
READ_PICTURES = 4  # of one message whose words are read, from the last back: each costs one to two seconds
Step = Callable[[], None]
"""Called between two steps of work; raises when nobody waits for the result any more."""


class Senses:
    def __init__(self, weights: Path) -> None:
        self._ear = Ear(weights / "whisper-base")
        self._reader = Reader()
        self._known: OrderedDict[str, Sensed] = OrderedDict()

    def warm_up(self) -> None:
        """A first call of each network builds its buffers, which takes a second or two; better before the first turn."""
        self._ear.transcribe(np.zeros(EAR_RATE, np.float32), "en")
        self._reader(Image.new("RGB", (64, 64), "white"))

    def perceive(self, conversation: Sequence[Said], step: Step) -> Scene:
        """The whole conversation. Sounds of a system message are the voice to speak with, not something said to us.

        Raises ``UndecodableMedia``.
        """
        persona = "\n".join(part.text for said in conversation if said.role == "system" for part in said.parts)
        turns: list[Turn] = []
        for said in conversation:
            if said.role != "system":
                typed = "\n".join(part.text for part in said.parts if part.kind == "text")
                expected: Language = "zh" if is_chinese(typed + persona) or not (typed + persona).strip() else "en"
                turns.append(Turn(said.role, typed, tuple(self._sense(said.parts, expected, step))))
        return Scene(persona.strip(), tuple(turns))

    def _sense(self, parts: Sequence[Part], expected: Language, step: Step) -> Iterator[Sensed]:
        groups = list(grouped([part for part in parts if part.kind != "text"]))
        pictures = sum(len(group) == 1 and group[0].kind == "image" for group in groups)
        for group in groups:
            step()
            reader = None
            if len(group) == 1 and group[0].kind == "image":
                reader = self._reader if pictures <= READ_PICTURES else None
                pictures -= 1
            yield self._remembered(group, expected, reader)

    def _remembered(self, group: Sequence[Part], expected: Language, reader: Reader | None) -> Sensed:
        digest = hashlib.sha256(f"{expected} {reader is None}".encode())
        for part in group:
            digest.update(f"{part.kind} {len(part.data)} ".encode())
            digest.update(part.data)
        key = digest.hexdigest()
        if key not in self._known:
            self._known[key] = self._perceived(group, expected, reader)
        self._known.move_to_end(key)
        if len(self._known) > REMEMBERED:
            self._known.popitem(last=False)
        return self._known[key]

    def _perceived(self, group: Sequence[Part], expected: Language, reader: Reader | None) -> Sensed:
        first = group[0]
        if len(group) > 1:
            pictures = [part.data for part in group if part.kind == "image"]
            sounds = [part.data for part in group if part.kind == "audio"]
            return watch_parts(pictures, sounds, self._ear, self._reader, expected)
        if first.kind == "video":
            return watch_file(first.data, self._ear, self._reader, expected)
        if first.kind == "image":
            return look(open_picture(first.data), reader)
        return self._ear(decode(first.data, "audio"), expected)


def grouped(media: Sequence[Part]) -> Iterator[list[Part]]:
    """Single parts, and the runs of pictures and sounds in turn that are a clip: at least two pictures and two sounds."""
    for is_clip_material, same in groupby(media, lambda part: part.kind in ("image", "audio")):
        run = list(same)
        kinds = "".join("i" if part.kind == "image" else "a" for part in run)
        # the second of sound may be missing at the end, or everywhere but at one place when a clip falls silent
        if is_clip_material and kinds.count("i") >= 2 and kinds.count("a") >= 2 and "aa" not in kinds:
            yield run
        else:
            yield from ([part] for part in run)
