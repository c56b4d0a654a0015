"""The model's words as subtitles: cut at what was really heard, timed by the recording's clock."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field

from ui.live.heard import PER_MS
from ui.live.moments import SPEECH_RATE

_SENTENCE = re.compile(r"[.!?。！？…]['\"”’）)]*\s*$")
_CUE_S = 6.0  # the longest a subtitle stands, by the usual rules of subtitling
_CUE_WIDTH = 84  # two lines of 42 Latin letters, or of 21 Chinese characters (which count twice)


@dataclass
class Answer:
    """One answer's words and where its sound stands in the recording."""

    response: int
    captions: list[tuple[str, float]] = field(default_factory=list)
    """Words, and the millisecond of the answer's sound by which they are said."""
    runs: list[tuple[int, int, int]] = field(default_factory=list)
    """What was heard: from which sample of the answer, how many, from which sample of the recording."""

    @property
    def heard_ms(self) -> float:
        return 0.0 if not self.runs else (self.runs[-1][0] + self.runs[-1][1]) / PER_MS

    @property
    def heard_at_s(self) -> float | None:
        """Seconds into the recording at which it was first heard."""
        return self.runs[0][2] / SPEECH_RATE if self.runs else None

    def placed(self, first: int, count: int, start: int) -> None:
        """``count`` samples from ``first`` on stand in the recording from ``start`` on."""
        if self.runs:
            begin, length, where = self.runs[-1]
            if begin + length == first and where + length == start:
                self.runs[-1] = (begin, length + count, where)
                return
        self.runs.append((first, count, start))

    def when(self, ms: float) -> float:
        """Seconds into the recording at which this millisecond of the answer was heard (the nearest one that was)."""
        sample = ms * PER_MS
        for first, count, start in self.runs:
            if sample <= first + count:
                return (start + max(0.0, sample - first)) / SPEECH_RATE
        _, count, start = self.runs[-1]
        return (start + count) / SPEECH_RATE

    def heard(self) -> list[tuple[str, float, float]]:
        """The words that were heard, each piece with its begin and end in milliseconds of the answer. A piece that was
        cut is shared out by length, as the server does for its own history (protocol §4.8)."""
        pieces, begin = [], 0.0
        for text, end in self.captions:
            if self.heard_ms >= end - 1:  # a player counts in blocks: a millisecond short is the end
                pieces.append((text, begin, max(begin, end)))
            elif self.heard_ms > begin:
                if spoken := _first_part(text, (self.heard_ms - begin) / (end - begin)):
                    pieces.append((spoken, begin, self.heard_ms))
                break
            else:
                break
            begin = max(begin, end)
        return pieces

    @property
    def text(self) -> str:
        return "".join(text for text, _ in self.captions)

    @property
    def heard_text(self) -> str:
        return "".join(text for text, _, _ in self.heard())


@dataclass(frozen=True)
class Cue:
    """One subtitle; seconds of the recording. ``cut``: the answer was broken off here."""

    begin: float
    end: float
    text: str
    cut: bool = False


def cues(answer: Answer) -> list[Cue]:
    """An answer's subtitles: a sentence each, or less where a sentence is long."""
    found: list[Cue] = []
    words, since = "", 0.0
    heard = answer.heard() if answer.runs else []
    for place, (text, begin, end) in enumerate(heard):
        if not words:
            since = begin
        words += text
        last = place == len(heard) - 1
        long = answer.when(end) - answer.when(since) >= _CUE_S or _width(words) >= _CUE_WIDTH
        if words.strip() and (last or long or _SENTENCE.search(words)):
            cut = last and _cut(answer)
            # of a stall, ``when`` gives the end of the sound before it: that is where the words before it end, too
            found.append(Cue(answer.when(since + 1 if since else 0), answer.when(end), words.strip(), cut))
            words = ""
    return found


def srt(answers: Iterable[Answer]) -> str:
    """All subtitles as SubRip: number, ``HH:MM:SS,mmm --> …``, text, empty line. A cut answer ends with a dash."""
    rows = [cue for answer in answers for cue in cues(answer)]
    return "".join(
        f"{number}\n{_clock(cue.begin, ',')} --> {_clock(max(cue.end, cue.begin + 0.001), ',')}\n{_dashed(cue.text, cue.cut)}\n\n"
        for number, cue in enumerate(rows, 1)
    )


def plain(answers: Sequence[Answer]) -> str:
    """An answer a line: when it was first heard, and the words of it that were heard. A cut answer ends with a dash."""
    rows = ((answer.heard_at_s, " ".join(answer.heard_text.split()), _cut(answer)) for answer in answers)
    return "".join(f"[{_clock(at, '.')}] {_dashed(said, cut)}\n" for at, said, cut in rows if at is not None and said)


def _cut(answer: Answer) -> bool:
    return answer.heard_text.rstrip() != answer.text.rstrip()


def _dashed(text: str, cut: bool) -> str:
    return f"{text} —" if cut else text


def _first_part(text: str, share: float) -> str:
    """About ``share`` of ``text``, never ending inside a word of letters."""
    end = int(len(text) * share)
    part = text[:end]
    if end < len(text) and _letter(text[end]):
        part = re.sub(r"[A-Za-z0-9'À-ɏ]+$", "", part)
    return part


def _letter(character: str) -> bool:
    return character.isalnum() and ord(character) < 0x2E80  # from there on scripts are written without spaces


def _width(text: str) -> int:
    return sum(2 if ord(character) >= 0x2E80 else 1 for character in text)


def _clock(seconds: float, point: str) -> str:
    whole = round(seconds * 1000)
    return f"{whole // 3_600_000:02}:{whole // 60_000 % 60:02}:{whole // 1000 % 60:02}{point}{whole % 1000:03}"
