"""Looking for the catalogue's signatures in a log of any size.

The whole log is read, block by block. Each line's shape (digits taken out) is searched for the words of the signatures
once, however often it comes; only a line whose shape holds one meets the regular expressions, with its process's lines
around it where a message may be wrapped.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cache, cached_property
from typing import BinaryIO

from launch.faults import Fault, catalogue
from launch.log_text import COLOURS, decode, is_source, split
from launch.prefilter import SHORTEST, words

# What only ever happens in our own app; the rest of the catalogue's text signatures stand in logs, a server's or a
# client's.
NOT_IN_LOGS = frozenset({"media", "rehearsal"})
# The API process says these when it starts, in this order, the first only if it is called `vllm`; a log that was
# appended to holds several runs.
DELEGATING, SERVING = b"delegating entrypoint handling to vllm-omni", b"vllm server version"
BLOCK = 4 << 20  # bytes read at once: large against a line, small against the memory
REACH = 60  # lines around a hit in which its process's neighbours are looked for: stages interleave
NEIGHBOURS = 3  # lines of one message before and after; vLLM wraps its longest over two
KNOWN = 200_000  # lines remembered; then begun anew, which costs time and nothing else
_DIGITS = b"0123456789"


@dataclass(frozen=True)
class Hit:
    """A fault seen in a log: ``line`` from 1, ``text`` as written (colours out), ``run`` from 0 for a log of several
    starts, ``matched``: how many characters its signature took, the measure of how much it says.
    """

    fault: Fault
    line: int
    text: str
    run: int
    matched: int


@dataclass(frozen=True)
class Signature:
    """A fault with its compiled signature. ``spans``: it may match over a line's end, where vLLM wraps a message."""

    fault: Fault
    pattern: re.Pattern[str]
    words: frozenset[str]

    @cached_property
    def spans(self) -> bool:
        return r"\s+" in self.pattern.pattern


@cache
def signatures() -> tuple[Signature, ...]:
    """Every catalogue entry that can stand in a log: those with a signature of text (``cond:`` ones are states, for
    doctor, lint and status).
    """
    return tuple(
        Signature(fault, re.compile(fault.signature, re.IGNORECASE | re.MULTILINE), words(fault.signature))
        for fault in catalogue().values()
        if not fault.signature.startswith("cond:") and fault.where not in NOT_IN_LOGS
    )


def scan(stream: BinaryIO, block_size: int = BLOCK) -> Iterator[Hit]:
    """Every fault of the catalogue in ``stream``, each at its first line of each run; read ``block_size`` bytes at
    once.
    """
    search, first = _Search(), 1
    kept: list[bytes] = []
    for block in _blocks(stream, block_size):
        lines = block.split(b"\n")
        if not lines[-1]:
            lines.pop()
        together = [*kept, *lines]
        yield from search.block(together, first, len(kept))
        kept = together[-REACH:]
        first += len(together) - len(kept)


def _blocks(stream: BinaryIO, size: int) -> Iterator[bytes]:
    """Whole lines, about ``size`` bytes of them at a time."""
    rest = b""
    while data := stream.read(size):
        cut = data.rfind(b"\n") + 1
        if cut:
            yield rest + data[:cut]
            rest = data[cut:]
        else:
            rest += data
    if rest:
        yield rest


class _Search:
    """What is still looked for in this run of the log, and what is known to be clean."""

    def __init__(self) -> None:
        self.run = -1
        self.known: dict[int, frozenset[str | None]] = {}  # shape of a line -> what its words may belong to
        self.tried: set[int] = set()  # lines that held a word and yet did not match
        self.announced: bytes | None = None
        self._begin_run()

    def _begin_run(self) -> None:
        """Everything is looked for again. What is known of lines stays true: the words are the same."""
        self.run += 1
        self.open = {signature.fault.id: signature for signature in signatures()}

    def _mark(self, line: bytes) -> None:
        """A start was announced. What came before the first announcement belongs to it, and its second is no other."""
        mark = DELEGATING if DELEGATING in line else SERVING
        if self.announced is not None and not (mark is SERVING and self.announced is DELEGATING):
            self._begin_run()
        self.announced = mark

    def block(self, lines: Sequence[bytes], first: int, seen: int) -> Iterator[Hit]:
        """Search ``lines``; the first of them has the number ``first``. The first ``seen`` were searched before, with
        less after them.
        """
        plain = [COLOURS.sub(b"", line).lower() if b"\x1b" in line else line.lower() for line in lines]
        for index, found in self._candidates(plain):
            if None in found and index >= seen:
                self._mark(plain[index])
            hopeful = [self.open[id] for id in found if id in self.open]
            if hopeful:
                yield from self._try(lines, index, hopeful, first)

    def _candidates(self, plain: Sequence[bytes]) -> Iterator[tuple[int, set[str | None]]]:
        """The lines that hold a word, with the ids of the faults it may belong to (None: the mark of a new run)."""
        whole = b"\n".join(plain)
        shapes = _shape(whole).split(b"\n")
        if len(self.known) > KNOWN:
            self.known.clear()
        self._learn({hash(shape): shape for shape in shapes if hash(shape) not in self.known})
        numbers: dict[int, set[str | None]] = {}
        for word, ids in _words().numbers.items():
            for index in _lines_with(word, whole):
                numbers.setdefault(index, set()).update(ids)
        unfiltered = _words().unfiltered
        for index, shape in enumerate(shapes):
            found = self.known[hash(shape)]
            if found or unfiltered or index in numbers:
                yield index, {*found, *unfiltered, *numbers.get(index, ())}

    def _learn(self, fresh: Mapping[int, bytes]) -> None:
        """Search shapes not met before for every word, all of them at once."""
        places = list(fresh)
        text = b"\n".join(fresh.values())
        found: dict[int, set[str | None]] = {}
        for word, ids in _words().shapes.items():
            for place in _lines_with(word, text):
                found.setdefault(places[place], set()).update(ids)
        self.known.update(dict.fromkeys(places, frozenset()))
        self.known.update({shape: frozenset(ids) for shape, ids in found.items()})

    def _try(self, lines: Sequence[bytes], index: int, hopeful: Sequence[Signature], first: int) -> Iterator[Hit]:
        who, text = split(decode(lines[index]))
        for signature in hopeful:
            tried = hash((signature.fault.id, text))
            if tried in self.tried and not signature.spans:
                continue
            matched = signature.pattern.search(text) or (
                signature.spans and signature.pattern.search("\n".join(_message(lines, index, who)))
            )
            if not matched or is_source(text, _before(lines, index, who)):
                if len(self.tried) > KNOWN:
                    self.tried.clear()
                self.tried.add(tried)
                continue
            del self.open[signature.fault.id]
            yield Hit(signature.fault, first + index, decode(lines[index]), self.run, len(matched.group()))


@dataclass(frozen=True)
class _Words:
    """Word -> ids of the faults whose signatures need it. ``shapes``: digits taken out, as from a line's shape;
    ``numbers``: words that are mostly digits, looked for as they stand; ``unfiltered``: faults without a word, tried
    on every line.
    """

    shapes: dict[bytes, set[str | None]]
    numbers: dict[bytes, set[str | None]]
    unfiltered: set[str | None]


@cache
def _words() -> _Words:
    shapes: dict[bytes, set[str | None]] = {_shape(mark): {None} for mark in (DELEGATING, SERVING)}
    numbers: dict[bytes, set[str | None]] = {}
    for signature in signatures():
        for word in map(str.encode, signature.words):
            table, key = (shapes, _shape(word)) if len(_shape(word)) >= SHORTEST else (numbers, word)
            table.setdefault(key, set()).add(signature.fault.id)
    return _Words(shapes, numbers, {signature.fault.id for signature in signatures() if not signature.words})


def _shape(line: bytes) -> bytes:
    return line.translate(None, _DIGITS)


def _lines_with(word: bytes, text: bytes) -> Iterator[int]:
    """The index of each line of ``text`` that holds ``word``."""
    line, counted, place = 0, 0, text.find(word)
    while place >= 0:
        line += text.count(b"\n", counted, place)
        counted = place
        yield line
        end = text.find(b"\n", place)
        place = text.find(word, end) if end >= 0 else -1


def _message(lines: Sequence[bytes], index: int, who: str) -> list[str]:
    """The line at ``index`` with its process's lines around it, so that a message wrapped over lines reads as one."""
    above = _neighbours(lines, range(index - 1, max(-1, index - REACH), -1), who, NEIGHBOURS)
    below = _neighbours(lines, range(index + 1, min(len(lines), index + REACH)), who, NEIGHBOURS)
    return [*reversed(above), split(decode(lines[index]))[1], *below]


def _before(lines: Sequence[bytes], index: int, who: str) -> str:
    """The line that the same process wrote before the one at ``index``."""
    return "".join(_neighbours(lines, range(index - 1, max(-1, index - REACH), -1), who, 1))


def _neighbours(lines: Sequence[bytes], places: Iterable[int], who: str, most: int) -> list[str]:
    """The first ``most`` lines at ``places`` that ``who`` wrote."""
    found: list[str] = []
    for place in places:
        writer, text = split(decode(lines[place]))
        if writer == who:
            found.append(text)
            if len(found) == most:
                break
    return found
