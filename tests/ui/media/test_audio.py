"""Sounds made here, for what the corpus does not hold."""

from __future__ import annotations

from fractions import Fraction
from itertools import pairwise
from pathlib import Path

import av
import numpy as np
import pytest
import soundfile
from av import AudioFrame, AudioResampler

from launch.errors import MediaError
from tests.ui.media.clips import tone, write_clip
from tests.ui.media.corpus import samples
from ui.media.audio import cuts, prepare
from ui.media.sound import RATE, Mono16k, levelled
from ui.turn.parts import Audio


def heard(path: Path) -> np.ndarray:
    return np.concatenate([samples(part) for part in prepare(path).parts if isinstance(part, Audio)])


def keys(path: Path) -> list[str]:
    return [notice.key for notice in prepare(path).notices]


def test_what_is_already_right_goes_through_sample_by_sample(tmp_path: Path) -> None:
    pcm = np.random.default_rng(1).integers(-32768, 32767, 20000).astype(np.int16)
    soundfile.write(tmp_path / "a.wav", pcm, RATE)
    assert np.array_equal(heard(tmp_path / "a.wav") * 32768, pcm)
    assert keys(tmp_path / "a.wav") == []


@pytest.mark.parametrize("subtype", ["PCM_U8", "PCM_16", "PCM_24", "PCM_32", "FLOAT", "DOUBLE"])
def test_loud_stereo_is_averaged_without_wrapping(subtype: str, tmp_path: Path) -> None:
    left = 0.98 * tone(440, 1, 48000)
    soundfile.write(tmp_path / "a.wav", np.stack([left, left], axis=1), 48000, subtype=subtype)
    peak = np.abs(heard(tmp_path / "a.wav")[1000:-1000]).max()
    assert abs(peak - 0.98) < 0.02


def test_opposed_channels_are_told_apart_from_silence(tmp_path: Path) -> None:
    left = 0.5 * tone(440, 1, RATE)
    soundfile.write(tmp_path / "opposed.wav", np.stack([left, -left], axis=1), RATE)
    soundfile.write(tmp_path / "one.wav", np.stack([left, 0 * left], axis=1), RATE)
    soundfile.write(tmp_path / "none.wav", 0 * left, RATE)
    assert keys(tmp_path / "opposed.wav") == ["media-note-opposed-channels"]
    assert keys(tmp_path / "one.wav") == []
    assert keys(tmp_path / "none.wav") == ["media-note-silent"]


def test_a_click_over_full_scale_does_not_turn_the_rest_down() -> None:
    sound = 0.5 * tone(440, 1, RATE)
    sound[100] = 40.0
    level = levelled(sound)
    assert level.max() == 1
    assert np.array_equal(level[200:], sound[200:])
    assert np.abs(levelled(3 * sound[200:])).max() <= 1


def test_a_hole_in_the_time_stamps_is_not_closed() -> None:
    mono = Mono16k()
    blocks = [block for start in (0.0, 0.5, 3.0) for block in mono.feed(_frame(start, 0.5))] + list(mono.finish())
    ends = [(block.start, block.start + len(block.samples) / RATE) for block in blocks if block.start is not None]
    assert ends[0][0] == 0
    assert max(end for _, end in ends if end < 2) == pytest.approx(1.0, abs=0.001)
    assert min(start for start, _ in ends if start > 2) == 3.0
    assert ends[-1][1] == pytest.approx(3.5, abs=0.001)


def test_a_change_of_rate_within_a_file_is_followed() -> None:
    mono = Mono16k()
    frames = [_frame(0, 0.5, 44100), _frame(0.5, 0.5, 22050)]
    sound = np.concatenate(
        [block.samples for frame in frames for block in mono.feed(frame)] + [b.samples for b in mono.finish()]
    )
    assert len(sound) == pytest.approx(RATE, abs=10)


def _frame(start: float, seconds: float, rate: int = 48000) -> AudioFrame:
    frame = AudioFrame.from_ndarray(tone(440, seconds, rate)[np.newaxis], format="flt", layout="mono")
    frame.sample_rate, frame.time_base, frame.pts = rate, Fraction(1, rate), round(start * rate)
    return frame


@pytest.mark.parametrize("seconds", [30.01, 31, 59.9, 60, 87, 610])
def test_parts_are_even_and_none_is_too_long(seconds: float) -> None:
    sound = np.random.default_rng(2).normal(0, 0.1, round(seconds * RATE)).astype(np.float32)
    pieces = cuts(sound)
    lengths = [(end - start) / RATE for start, end in pieces]
    assert pieces[0][0] == 0
    assert pieces[-1][1] == len(sound)
    assert all(before[1] == after[0] for before, after in pairwise(pieces))
    assert max(lengths) <= 30
    assert min(lengths) > 14
    assert max(lengths) - min(lengths) <= 2


def test_cuts_fall_into_pauses() -> None:
    sound = np.full(40 * RATE, 0.3, np.float32)
    sound[round(20.31 * RATE) : round(20.45 * RATE)] = 0
    assert [20.31 < start / RATE < 20.45 for start, _ in cuts(sound)[1:]] == [True]


def test_half_an_hour_is_the_most(tmp_path: Path) -> None:
    soundfile.write(tmp_path / "long.wav", np.zeros(31 * 60 * 8000, np.int16), 8000, subtype="PCM_U8")
    prepared = prepare(tmp_path / "long.wav")
    assert sum(part.seconds for part in prepared.parts if isinstance(part, Audio)) == pytest.approx(1800, abs=0.01)
    assert len(prepared.parts) <= 64
    assert prepared.duration_s == pytest.approx(1860, abs=0.1)
    cut = {notice.key: notice.facts for notice in prepared.notices}["media-note-sound-cut"]
    assert cut == {"minutes": 30, "total": 31}


def test_the_sound_of_a_clip_and_the_lack_of_it(tmp_path: Path) -> None:
    write_clip(tmp_path / "with.mp4", seconds=2, sound=440)
    write_clip(tmp_path / "without.mp4", seconds=2)
    assert len(heard(tmp_path / "with.mp4")) == pytest.approx(2 * RATE, abs=0.05 * RATE)
    with pytest.raises(MediaError) as refusal:
        prepare(tmp_path / "without.mp4")
    assert refusal.value.key == "media-no-audio-stream"


@pytest.mark.parametrize("rate", [1, 2_000_000_000])
def test_a_wild_rate_is_refused_before_it_is_resampled(rate: int, tmp_path: Path) -> None:
    soundfile.write(tmp_path / "a.wav", 0.5 * tone(440, 1, RATE), RATE)
    wild = bytearray((tmp_path / "a.wav").read_bytes())
    wild[24:28] = rate.to_bytes(4, "little")
    (tmp_path / "a.wav").write_bytes(wild)
    with pytest.raises(MediaError) as refusal:
        prepare(tmp_path / "a.wav")
    assert refusal.value.key == "media-unsupported-format"


@pytest.mark.parametrize(("suffix", "codec", "form"), [("mov", "aac", "fltp"), ("wav", "pcm_s64le", "s64")])
def test_forms_that_libav_must_pack_first(suffix: str, codec: str, form: str, tmp_path: Path) -> None:
    """Eight planar channels crash PyAV's own reader; 64-bit integers it does not know."""
    path = tmp_path / f"a.{suffix}"
    layout = "7.1" if form == "fltp" else "mono"
    with av.open(path, "w") as out:
        stream = out.add_stream(codec, rate=48000, layout=layout)
        resampler = AudioResampler(format=form, layout=layout, rate=48000)
        for start in np.arange(0, 1, 0.02):
            for ready in resampler.resample(_frame(start, 0.02)):
                out.mux(stream.encode(ready))
        out.mux(stream.encode(None))
    with av.open(path) as made:
        frame = next(made.decode(audio=0))
        assert (frame.format.name, frame.layout.name) == (form, layout), "the file is not what this test needs"
    assert prepare(path).duration_s == pytest.approx(1, abs=0.05)
    assert np.abs(heard(path)).max() > 0.05
