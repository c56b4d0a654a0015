import io

import numpy as np
import pytest
import soundfile

from launch.rehearsal.brain.brain import UndecodableMedia
from launch.rehearsal.brain.melspectrogram import log_mel
from launch.rehearsal.brain.sound import EAR_RATE, decode, resample, to_pcm
from launch.rehearsal.brain.speak import trimmed


def sine(hz: float, seconds: float, rate: int, level: float = 0.5) -> np.ndarray:
    return (level * np.sin(2 * np.pi * hz * np.arange(round(seconds * rate)) / rate)).astype(np.float32)


@pytest.mark.parametrize("hz", [200, 1000, 5000, 9000])
def test_resampling_keeps_the_wave_and_its_length(hz: int) -> None:
    wave = resample(sine(hz, 1, 22050), 22050, 24000)
    inside = slice(500, -500)
    error = wave[inside] - sine(hz, 1, 24000)[inside]
    assert wave.size == 24000
    assert np.sqrt(np.mean(error**2)) < 1e-4


@pytest.mark.parametrize(("container", "channels"), [("WAV", 1), ("FLAC", 2), ("OGG", 2)])
def test_any_file_becomes_mono_for_the_ear(container: str, channels: int) -> None:
    file = io.BytesIO()
    soundfile.write(file, np.stack([sine(440, 0.5, 44100)] * channels, axis=1), 44100, format=container)
    wave = decode(file.getvalue(), "audio")
    assert wave.size == pytest.approx(0.5 * EAR_RATE, abs=0.03 * EAR_RATE)
    assert np.abs(wave).max() == pytest.approx(0.5, abs=0.03)
    assert np.abs(np.fft.rfft(wave[: EAR_RATE // 4])).argmax() * 4 == 440


@pytest.mark.parametrize(
    "data",
    [
        b"",
        b"junk" * 99,
        b"#EXTM3U\n#EXTINF:1,\nfile:///etc/hostname\n#EXT-X-ENDLIST\n",
        b"ffconcat version 1.0\nfile /etc/hostname\n",
    ],
)
def test_what_is_no_sound_is_said_and_playlists_open_nothing(data: bytes) -> None:
    with pytest.raises(UndecodableMedia):
        decode(data, "audio")


def test_a_loud_wave_is_turned_down_and_not_clipped() -> None:
    pcm = np.frombuffer(to_pcm(sine(100, 0.1, 24000, level=3.0)), "<i2")
    assert 30000 < np.abs(pcm.astype(int)).max() < 32000
    assert np.count_nonzero(np.abs(pcm.astype(int)) > 31000) < pcm.size / 5


def test_edges_are_trimmed_without_a_click() -> None:
    wave = np.concatenate([np.zeros(9000, np.float32), sine(300, 0.2, 24000), np.zeros(9000, np.float32)])
    kept = trimmed(wave)
    assert kept.size == pytest.approx(0.24 * 24000, abs=100)
    assert kept[0] == kept[-1] == 0
    assert trimmed(np.zeros(100, np.float32)).size == 0


def test_the_spectrogram_shows_a_tone_in_its_band() -> None:
    spectrogram = log_mel(sine(1000, 1, EAR_RATE), 2)
    assert spectrogram.shape == (80, 200)
    tone, silence = spectrogram[:, 10:90], spectrogram[:, 120:]
    assert set(tone.argmax(axis=0)) == {
        26
    }  # 1 kHz is mel 15 of 45.25 on Slaney's scale, in 81 steps: its peak is band 25.9
    assert silence.max() < tone.max() - 1
