"""One conversation on disk: what was said and heard, the events, the words, the figures. Written as it goes."""

from __future__ import annotations

import os
import queue
import threading
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

import numpy as np

from launch.errors import OmniError
from ui.live.account import Account, Facts
from ui.live.event_log import EventLog
from ui.live.heard import Heard
from ui.live.moments import Moment, Speech, Spoken
from ui.live.stereo import StereoFile
from ui.live.track import Placed
from ui.live.transcript import plain, srt

NAMES = ("audio.wav", "events.jsonl", "transcript.srt", "transcript.txt", "result.json")
"""Every file of a recording."""
_HOLD_S = 4.0
"""The sound of this many last seconds waits in memory until the reports about it have come: a network that stalls for
longer misplaces a piece by the difference, and a crash costs these seconds."""
_STEP_S = 0.5  # between two writes: two a second cost no disk anything
_JOBS = 5_000
"""Reports that may wait for the disk: over a minute of the busiest conversation (5 frames, 4 marks, tens of events a
second). A disk that hangs longer costs the recording, not the memory."""
_GOODBYE_S = 10.0  # for a slow disk at the end: an hour's last half second and some text


class Recording:
    """The files of ``NAMES`` in ``folder``. All times ``at`` are those of the session's moments: seconds since it was asked for.

    Nothing here blocks but ``finish``: a thread of its own does the work, in order. It holds some seconds of sound and
    the model's words, never the conversation. A failure of the disk ends the recording alone: ``error`` says so from
    then on, and what was written stays readable.

    ``audio.wav``: left the user, right the model as it was *heard*; how exactly, say ``Track`` and ``Heard``.
    """

    def __init__(self, folder: Path, facts: Facts) -> None:
        self.folder = folder
        self.error: OmniError | None = None
        """Why it is not whole; ``None`` while it is."""
        self._account = Account(facts)
        self._heard = Heard()
        self._now = self._written = 0.0
        self._files: tuple[StereoFile, EventLog] | None = None
        self._jobs: queue.Queue[Callable[[], None] | None] = queue.Queue(_JOBS)
        self._closed = False
        self._thread = threading.Thread(target=self._work, name="recording", daemon=True)
        self._thread.start()

    def microphone(self, at: float, pcm: bytes) -> None:
        """Sound of the user, s16le mono 16 kHz, whose last sample came at ``at``."""
        self._do(lambda: self._microphone(at, pcm))

    def moment(self, moment: Moment) -> None:
        """Something happened in the session."""
        self._do(lambda: self._moment(moment))

    def played(self, at: float, response: int, ms: float) -> None:
        """By ``at``, ``ms`` of this answer had been heard."""
        self._do(lambda: self._played(at, response, ms))

    def wire(self, event: Mapping[str, Any]) -> None:
        """An event as it went over the socket, without media."""
        self._do(lambda: self._wire(event))

    def failed(self, error: OmniError) -> None:
        """The conversation is not ``ok`` for a reason of ours."""
        self._do(lambda: self._account.failed(error))

    def finish(self, dropped_frames: int | None = None) -> Path:
        """Write what is left and close the files; the folder. Blocks: call it in a thread. Twice is no error.

        ``dropped_frames``: of the microphone, as the session counted them to its end."""
        if not self._closed:
            self._account.dropped_frames = dropped_frames
            self._do(None)
            self._closed = True
            self._thread.join(_GOODBYE_S)
            if self._thread.is_alive():
                self._lost("the disk hangs")
        return self.folder

    def _do(self, job: Callable[[], None] | None) -> None:
        if self.error is not None or self._closed:
            return
        try:
            self._jobs.put_nowait(job)
        except queue.Full:
            self._lost("the disk does not keep up")

    def _work(self) -> None:
        try:
            self._files = StereoFile(self.folder / "audio.wav"), EventLog(self.folder / "events.jsonl")
            self._write_words()
            while self.error is None:
                job = self._jobs.get()
                if job is None:
                    self._end(*self._files)
                    return
                job()
        except OSError as refused:
            self._lost(refused.strerror or str(refused))
        self._give_up()

    def _microphone(self, at: float, pcm: bytes) -> None:
        sound, _ = self._open()
        sound.user.put(at, np.frombuffer(pcm[: len(pcm) // 2 * 2], "<i2"))
        self._advance(at)

    def _moment(self, moment: Moment) -> None:
        self._account.moment(moment)
        if isinstance(moment, Speech):
            self._heard.speech(moment.response, moment.pcm)
        self._advance(moment.at)
        if isinstance(moment, Spoken):
            self._write_words()

    def _played(self, at: float, response: int, ms: float) -> None:
        sound, _ = self._open()
        if piece := self._heard.mark(at, response, ms):
            sound.model.put(piece.at, piece.samples, (piece.response, piece.first))
        self._advance(at)

    def _wire(self, event: Mapping[str, Any]) -> None:
        _, events = self._open()
        events.write(event)

    def _open(self) -> tuple[StereoFile, EventLog]:
        assert self._files is not None
        return self._files

    def _advance(self, at: float) -> None:
        self._now = max(self._now, at)
        if self._now - self._written < _STEP_S:
            return
        self._written = self._now
        sound, _ = self._open()
        self._placed(sound.write_until(self._now - _HOLD_S))

    def _placed(self, pieces: list[Placed]) -> None:
        for piece in pieces:
            assert isinstance(piece.name, tuple)
            response, first = piece.name
            self._account.answer(response).placed(first, len(piece.samples), piece.start)

    def _end(self, sound: StereoFile, events: EventLog) -> None:
        self._placed(sound.close(self._now))
        events.close()
        self._account.length_s = sound.seconds
        self._account.finished = True
        self._write_words()

    def _write_words(self) -> None:
        answers = self._account.answers
        _replace(self.folder / "transcript.srt", srt(answers))
        _replace(self.folder / "transcript.txt", plain(answers))
        _replace(self.folder / "result.json", self._account.result(self.error).model_dump_json(indent=2) + "\n")

    def _lost(self, reason: str) -> None:
        self.error = self.error or OmniError("live-recording-lost", reason=reason, folder=self.folder.name)

    def _give_up(self) -> None:
        """After a failure: keep what is there, and leave a word beside it if the disk takes that much."""
        if self._files is not None:
            sound, events = self._files
            self._account.length_s = sound.seconds
            sound.abandon()
            events.abandon()
        try:
            self._write_words()
        except OSError:
            return  # the user is told by ``error``


def _replace(path: Path, text: str) -> None:
    """Write ``path`` whole or not at all. Raises ``OSError``."""
    draft = path.with_name(f".{path.name}.part")
    try:
        draft.write_text(text, encoding="utf-8")
        os.replace(draft, path)
    except OSError:
        draft.unlink(missing_ok=True)
        raise
