"""Every container an answer may come in gives the same 24 kHz mono PCM16, at the level it came with."""

import io
import random

import numpy as np
import pytest
import soundfile

from launch.errors import ServerRefused
from tests.ui.turn.asking import pieces, wav
from ui.turn.sound import Format, SpeechDecoder, wav_file

RATE = 24_000
TONE = (np.sin(np.arange(RATE) * 2 * np.pi * 440 / RATE) * 6000).astype("<i2")  # 1 s, peak 6000: not normalised
PCM = TONE.tobytes()


def decoded(packets: list[bytes]) -> tuple[bytes, SpeechDecoder]:
    decoder = SpeechDecoder()
    return b"".join(map(decoder.feed, packets)) + decoder.finish(), decoder


def test_a_whole_file_a_packet() -> None:
    assert decoded([wav(PCM[:24_000]), wav(PCM[24_000:])])[0] == PCM


def test_raw_pcm_cut_at_odd_places() -> None:
    dice = random.Random(5)
    sizes = [dice.randrange(1, 999) for _ in range(60)]
    assert any(size % 2 for size in sizes)
    assert decoded(pieces(PCM, sizes))[0] == PCM


@pytest.mark.parametrize("claim", [0, 0xFFFFFFFF, 48_000, 47_999_999])
def test_one_header_and_then_raw_pcm(claim: int) -> None:
    assert decoded(pieces(wav(PCM, claim=claim), [1044, 301, 7]))[0] == PCM


@pytest.mark.parametrize("first", [4, 5, 8, 11, 12, 20, 43, 44, 45])
def test_a_header_cut_in_two(first: int) -> None:
    assert decoded(pieces(wav(PCM), [first]))[0] == PCM


def test_an_empty_packet_changes_nothing() -> None:
    assert decoded([b"", wav(PCM[:200]), b"", wav(PCM[200:]), b""])[0] == PCM


def test_chunks_around_the_samples_are_no_sound() -> None:
    tail = wav(PCM) + b"LIST\x04\0\0\0INFO"
    head = bytearray(wav(PCM))
    head[36:36] = b"LIST\x05\0\0\0INFO!\0"  # an odd length is padded
    assert decoded([tail, bytes(head)])[0] == PCM * 2


@pytest.mark.parametrize(
    ("rate", "channels", "bits", "tag"),
    [
        (16_000, 1, 16, 1),
        (48_000, 2, 16, 1),
        (22_050, 1, 16, 1),
        (24_000, 2, 8, 1),
        (24_000, 1, 24, 1),
        (24_000, 1, 32, 1),
        (24_000, 1, 32, 3),
        (24_000, 1, 64, 3),
    ],
)
def test_another_form_is_converted_at_its_own_level(rate: int, channels: int, bits: int, tag: int) -> None:
    wave = np.sin(np.arange(rate) * 2 * np.pi * 440 / rate) * 0.25
    packed = np.repeat(wave, channels)
    samples = {
        (8, 1): lambda: (packed * 127 + 128).astype("u1").tobytes(),
        (16, 1): lambda: (packed * 32767).astype("<i2").tobytes(),
        (24, 1): lambda: (packed * (2**23 - 1)).astype("<i4").view("u1").reshape(-1, 4)[:, :3].tobytes(),
        (32, 1): lambda: (packed * (2**31 - 1)).astype("<i4").tobytes(),
        (32, 3): lambda: packed.astype("<f4").tobytes(),
        (64, 3): lambda: packed.astype("<f8").tobytes(),
    }[bits, tag]()
    half = len(samples) // 2 // (channels * bits // 8) * (channels * bits // 8)
    out, decoder = decoded(
        [wav(samples[:half], rate, channels, bits, tag), wav(samples[half:], rate, channels, bits, tag)]
    )
    heard = np.frombuffer(out, "<i2")
    assert len(heard) == pytest.approx(RATE, abs=40)
    middle = heard[2000:-2000].astype(float)
    assert np.abs(middle).max() == pytest.approx(0.25 * 32767, rel=0.03)
    spectrum = np.abs(np.fft.rfft(middle * np.hanning(len(middle))))
    assert np.argmax(spectrum) * RATE / len(middle) == pytest.approx(440, abs=2)
    seam = np.abs(np.diff(middle)).max()
    assert seam < 0.25 * 32767 * 2 * np.pi * 440 / RATE * 1.3 + 300  # no click where two packets meet
    assert decoder.foreign == Format(rate, channels, bits, tag == 3)


def test_our_own_form_is_not_foreign() -> None:
    assert decoded([wav(PCM)])[1].foreign is None


@pytest.mark.parametrize(
    "packet",
    [
        b"fLaC" + bytes(40),
        b"OggS" + bytes(40),
        b"ID3\3" + bytes(40),
        wav(PCM, bits=12),
        wav(PCM, tag=85),
        wav(PCM, channels=6),
        wav(PCM, rate=0),
    ],
)
def test_what_cannot_be_played_is_refused_and_not_played_as_noise(packet: bytes) -> None:
    with pytest.raises(ServerRefused) as caught:
        SpeechDecoder().feed(packet)
    assert caught.value.key == "speech-undecodable"


def test_a_file_of_it_can_be_read() -> None:
    samples, rate = soundfile.read(io.BytesIO(wav_file(bytearray(PCM + b"\1"))), dtype="int16")
    assert rate == RATE
    assert samples.tobytes() == PCM
