"""The server's audio packets, whatever their container, as one stream of s16le mono PCM at 24 kHz. Levels stay."""

from __future__ import annotations

import io
import struct
import wave
from dataclasses import dataclass

import av
import numpy as np

from launch.errors import ServerRefused
from ui.turn.events import SAMPLE_RATE

_COMPRESSED = (b"fLaC", b"OggS", b"ID3")  # never asked for; played as PCM they would be noise at full scale
_EXTENSIBLE = 0xFFFE
_FLOAT = 3
_PLAIN = 1
_BITS = {_PLAIN: (8, 16, 24, 32), _FLOAT: (32, 64)}


@dataclass(frozen=True)
class Format:
    """How samples are written. The default is what code2wav speaks (protocol §2.4)."""

    rate: int = SAMPLE_RATE
    channels: int = 1
    bits: int = 16
    float_: bool = False

    @property
    def frame(self) -> int:
        """Bytes of one sample of all channels."""
        return self.channels * self.bits // 8


class SpeechDecoder:
    """Takes packets in order: whole WAV files, one header and then raw PCM, or raw PCM, cut anywhere (protocol §2.5).

    A packet that starts with a RIFF header starts anew; one that does not goes on in the last known format.
    ``foreign``: the first format met that was not ours, for a notice.
    """

    def __init__(self) -> None:
        self.foreign: Format | None = None
        self._format = Format()
        self._held = b""  # an unfinished header, or the bytes of an unfinished frame
        self._in_header = False
        self._resampler: av.AudioResampler | None = None

    def feed(self, packet: bytes) -> bytes:
        """The PCM of one packet, possibly empty. Raises ``ServerRefused`` for a container we did not ask for."""
        if packet[:4] == b"RIFF" and b"WAVE".startswith(packet[8:12]):
            self._held, self._in_header = b"", True
        elif packet.startswith(_COMPRESSED) and not self._held:
            raise ServerRefused("speech-undecodable", detail=f"an audio chunk begins with {packet[:4]!r}")
        data = self._held + packet
        if self._in_header:
            opened = _open_wav(data)
            if opened is None:
                self._held = data
                return b""
            fresh, data = opened
            tail = self._change(fresh)
            self._in_header = False
        else:
            tail = b""
        whole = len(data) - len(data) % self._format.frame
        self._held = data[whole:]
        return tail + self._convert(data[:whole])

    def finish(self) -> bytes:
        """What the resampler still holds; empty when the server spoke our format."""
        return self._drain()

    def _change(self, fresh: Format) -> bytes:
        if fresh == self._format:
            return b""
        tail = self._drain()
        self._format = fresh
        if fresh != Format() and self.foreign is None:
            self.foreign = fresh
        return tail

    def _convert(self, data: bytes) -> bytes:
        if self._format == Format() or not data:
            return data
        if self._resampler is None:
            self._resampler = av.AudioResampler(format="s16", layout="mono", rate=SAMPLE_RATE)
        samples, name = _samples(data, self._format)
        layout = "mono" if self._format.channels == 1 else "stereo"
        frame = av.AudioFrame.from_ndarray(samples.reshape(1, -1), format=name, layout=layout)
        frame.sample_rate = self._format.rate
        return b"".join(out.to_ndarray().tobytes() for out in self._resampler.resample(frame))

    def _drain(self) -> bytes:
        if self._resampler is None:
            return b""
        out = b"".join(frame.to_ndarray().tobytes() for frame in self._resampler.resample(None))
        self._resampler = None
        return out


def wav_file(pcm: bytes | bytearray) -> bytes:
    """``pcm`` (s16le mono 24 kHz) as a RIFF/WAV file."""
    out = io.BytesIO()
    with wave.open(out, "wb") as wav:
        wav.setparams((1, 2, SAMPLE_RATE, 0, "NONE", "not compressed"))
        wav.writeframes(bytes(pcm[: len(pcm) // 2 * 2]))
    return out.getvalue()


def _open_wav(data: bytes) -> tuple[Format, bytes] | None:
    """Format and samples of a RIFF file, or ``None`` while its header is not complete.

    A ``data`` chunk that claims more than is there (a streamed header: 0, 0xFFFFFFFF, the final length) gives it all.
    """
    form = Format()
    at = 12
    while at + 8 <= len(data):
        name, size = data[at : at + 4], struct.unpack_from("<I", data, at + 4)[0]
        start = at + 8
        if name == b"data":
            return form, data[start : start + size] if size else data[start:]
        if start + size > len(data):
            return None
        if name == b"fmt ":
            tag, channels, rate, _, _, bits = struct.unpack_from("<HHIIHH", data, start)
            if tag == _EXTENSIBLE and size >= 26:
                tag = struct.unpack_from("<H", data, start + 24)[0]
            if bits not in _BITS.get(tag, ()) or channels not in (1, 2) or not rate:
                what = f"WAV tag {tag}, {channels} channels, {bits} bit, {rate} Hz"
                raise ServerRefused("speech-undecodable", detail=what)
            form = Format(rate, channels, bits, tag == _FLOAT)
        at = start + size + size % 2
    return None


def _samples(data: bytes, form: Format) -> tuple[np.ndarray, str]:
    """``data`` as interleaved samples, and the name of their format in PyAV."""
    if form.float_:
        return (np.frombuffer(data, "<f4"), "flt") if form.bits == 32 else (np.frombuffer(data, "<f8"), "dbl")
    match form.bits:
        case 8:
            return np.frombuffer(data, "u1"), "u8"
        case 16:
            return np.frombuffer(data, "<i2"), "s16"
        case 24:
            wide = np.zeros((len(data) // 3, 4), "u1")
            wide[:, 1:] = np.frombuffer(data, "u1").reshape(-1, 3)
            return wide.reshape(-1).view("<i4"), "s32"
        case _:
            return np.frombuffer(data, "<i4"), "s32"
