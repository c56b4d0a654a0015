"""The sound as it came, in the files of the guide's demo: every packet of its own, and all of them in one."""

from __future__ import annotations

from pathlib import Path

from ui.live.wav_file import WavFile


class Chunks:
    """``output.wav`` (24 kHz mono, all that was received) and ``audio_chunks/chunk_0001.wav``, … in ``folder``.

    Chunks of an earlier run in the same folder are removed, or they would count as this one's."""

    def __init__(self, folder: Path) -> None:
        """Raises ``OSError``."""
        self.count = 0
        self._folder = folder / "audio_chunks"
        self._folder.mkdir(parents=True, exist_ok=True)
        for old in self._folder.glob("chunk_[0-9][0-9][0-9][0-9]*.wav"):
            old.unlink()
        self._all = WavFile(folder / "output.wav", 1)

    def add(self, pcm: bytes) -> None:
        """One packet, s16le. Raises ``OSError``."""
        self.count += 1
        one = WavFile(self._folder / f"chunk_{self.count:04}.wav", 1)
        one.write(pcm)
        one.close()
        self._all.write(pcm)

    @property
    def seconds(self) -> float:
        """Of all sound so far."""
        return self._all.seconds

    def close(self) -> None:
        """Raises ``OSError``."""
        self._all.close()
