"""Clips made here: which picture is taken, how it is turned, what goes to the server."""

from __future__ import annotations

import gc
import io
import struct
from pathlib import Path

import av
import numpy as np
import pytest
from av import AudioFrame, VideoFrame

from launch.errors import MediaError
from tests.ui.media.clips import BITS, SIDE, number_of, numbered, write_clip
from tests.ui.media.corpus import pixels, samples
from ui.media.container import Budget
from ui.media.prepared import Prepared
from ui.media.video import interleaved, original
from ui.media.viewing import reel_of
from ui.turn.parts import Audio, Image, Video

B_PICTURES = {"bf": "3", "g": "250"}


def numbers(prepared: Prepared) -> list[int]:
    return [number_of(pixels(part)) for part in prepared.parts if isinstance(part, Image)]


ENCODINGS = [
    ("mp4", "libx264", B_PICTURES),
    ("mp4", "libx264", {"bf": "2", "g": "7"}),
    ("mp4", "libx264", {"bf": "3", "g": "12", "x264-params": "open-gop=1"}),
    ("mp4", "libx264", {"bf": "0", "g": "1"}),
    ("mkv", "libx264", B_PICTURES),
    ("mp4", "libx265", {"x265-params": "log-level=none:bframes=4"}),
    ("avi", "mpeg4", {"g": "12"}),
    ("avi", "mjpeg", {}),
    ("mpg", "mpeg2video", {"bf": "2", "g": "12"}),
    ("ts", "libx264", B_PICTURES),
    ("flv", "libx264", {"bf": "0"}),
    ("webm", "libvpx", {"g": "30", "auto-alt-ref": "1"}),
    ("gif", "gif", {}),
]


@pytest.mark.parametrize(
    ("suffix", "codec", "options"), ENCODINGS, ids=[f"{s}-{c}-{i}" for i, (s, c, _) in enumerate(ENCODINGS)]
)
def test_the_picture_in_the_middle_of_each_second(suffix: str, codec: str, options: dict, tmp_path: Path) -> None:
    """To the very picture, although most others are never decoded."""
    path = tmp_path / f"clip.{suffix}"
    write_clip(path, seconds=5, rate=25, codec=codec, options=options)
    prepared = interleaved(path)
    assert prepared.frames_1fps == 5
    expected = [int((second + 0.5) * 25) for second in range(5)]
    if (
        suffix == "avi" and codec == "mpeg4"
    ):  # AVI keeps no presentation times: a picture or two beside is as near as it gets
        assert all(abs(seen - wanted) <= 2 for seen, wanted in zip(numbers(prepared), expected, strict=True))
    else:
        assert numbers(prepared) == expected


@pytest.mark.parametrize("gop", [10, 250, 3000])
def test_sixty_four_spread_over_a_long_clip(gop: int, tmp_path: Path) -> None:
    path = tmp_path / "long.mp4"
    write_clip(path, seconds=130, rate=4, options={"bf": "3", "g": str(gop)}, sound=440)
    prepared = interleaved(path)
    assert (prepared.seconds[0], prepared.seconds[-1], len(prepared.seconds)) == (0, 129, 64)
    assert numbers(prepared) == [second * 4 + 2 for second in prepared.seconds]
    sounds = [samples(part) for part in prepared.parts if isinstance(part, Audio)]
    assert len(sounds) == 64
    loudness = [float(np.sqrt(np.mean(np.square(sound[:15500])))) for sound in sounds]
    assert loudness == pytest.approx([0.4 / np.sqrt(2)] * 64, abs=0.02), "sound missing at the start of a second"


def test_variable_rate_is_sampled_by_time(tmp_path: Path) -> None:
    times = [*(i / 30 for i in range(30)), 1.0, 1.4, 2.2, 3.7, 4.6]
    write_clip(tmp_path / "vfr.mkv", seconds=0, times=times, options={"bf": "2"})
    prepared = interleaved(tmp_path / "vfr.mkv")
    assert numbers(prepared) == [15, 31, 32, 32, 33]


@pytest.mark.parametrize(("picture", "sound", "seconds"), [(2, 4, 4), (4, 2, 4), (3, 3.03, 3)])
def test_one_of_picture_and_sound_is_longer(picture: float, sound: float, seconds: int, tmp_path: Path) -> None:
    write_clip(tmp_path / "uneven.mp4", seconds=picture, sound=440, sound_seconds=sound)
    prepared = interleaved(tmp_path / "uneven.mp4")
    assert prepared.frames_1fps == seconds
    assert [type(part) for part in prepared.parts] == [Image, Audio] * seconds
    assert numbers(prepared) == [min(10 * second + 5, round(picture * 10) - 1) for second in range(seconds)]


# the eight matrices of quarter turns and mirrors (a, b, c, d), and where the picture's top left corner goes: (right?, down?)
MATRICES = {
    "as stored": (1, 0, 0, 1),
    "quarter turn": (0, 1, -1, 0),
    "half turn": (-1, 0, 0, -1),
    "three quarter turns": (0, -1, 1, 0),
    "mirrored": (-1, 0, 0, 1),
    "upside down": (1, 0, 0, -1),
    "transposed": (0, 1, 1, 0),
    "transversed": (0, -1, -1, 0),
}


@pytest.mark.parametrize("name", MATRICES)
def test_the_display_matrix_is_obeyed(name: str, tmp_path: Path) -> None:
    path = tmp_path / "turned.mp4"
    write_clip(path, seconds=1)
    _set_matrix(path, MATRICES[name])
    prepared = interleaved(path)
    a, b, c, d = MATRICES[name]
    picture = pixels(next(part for part in prepared.parts if isinstance(part, Image)))
    width, height = (4 * SIDE, BITS * SIDE) if a == 0 else (BITS * SIDE, 4 * SIDE)
    assert picture.size == (prepared.width, prepared.height) == (width, height)
    # where (1, 1) of the upper left bit is after x' = ax + cy, y' = bx + dy; the picture is shifted back into view
    for place in range(BITS):
        x, y = (place + 0.5) * SIDE, SIDE
        across, down = (a * x + c * y) % width, (b * x + d * y) % height
        assert (picture.convert("L").getpixel((int(across), int(down))) > 127) == bool(5 >> place & 1)


def _set_matrix(path: Path, matrix: tuple[int, int, int, int]) -> None:
    """Overwrites the matrix in the track header (ISO 14496-12, 8.3.2): 16.16 numbers, version 0 of the box."""
    data = bytearray(path.read_bytes())
    at = data.index(b"tkhd") + 4 + 40
    a, b, c, d = (65536 * value for value in matrix)
    data[at : at + 36] = struct.pack(">9i", a, b, 0, c, d, 0, 0, 0, 1 << 30)
    path.write_bytes(data)


def test_of_an_interlaced_picture_one_field_is_taken(tmp_path: Path) -> None:
    """Two fields of two moments, one white and one black: a blend of both would be grey."""
    path = tmp_path / "interlaced.ts"
    with av.open(path, "w") as out:
        stream = out.add_stream("mpeg2video", rate=25, options={"flags": "+ildct+ilme", "qmax": "2"})
        stream.width, stream.height, stream.pix_fmt = 192, 64, "yuv420p"
        comb = np.zeros((64, 192, 3), np.uint8)
        comb[::2] = 255
        for number in range(25):
            frame = VideoFrame.from_ndarray(comb, format="rgb24")
            frame.pts = number
            out.mux(stream.encode(frame))
        out.mux(stream.encode(None))
    with av.open(path) as clip:
        assert next(clip.decode(video=0)).interlaced_frame, "the clip is not what this test needs"
    picture = np.asarray(pixels(next(part for part in interleaved(path).parts if isinstance(part, Image))))
    assert picture.min() > 200


def test_a_plain_clip_goes_to_the_server_untouched(tmp_path: Path) -> None:
    path = tmp_path / "plain.mp4"
    write_clip(path, seconds=3, options=B_PICTURES, sound=440)
    prepared = original(path)
    (part,) = prepared.parts
    assert isinstance(part, Video)
    assert part.data == path.read_bytes()
    assert (prepared.width, prepared.height, prepared.frames_1fps, prepared.has_audio) == (192, 64, 3, True)


REMADE = [
    ("mkv", "libx264", {}, None),
    ("mp4", "libx265", {"x265-params": "log-level=none"}, None),
    ("avi", "mpeg4", {}, None),
    ("gif", "gif", {}, None),
    ("mp4", "libx264", {}, [*(i / 30 for i in range(30)), 1.0, 1.5, 2.0, 2.5]),
]


@pytest.mark.parametrize(
    ("suffix", "codec", "options", "times"), REMADE, ids=["mkv", "hevc", "avi", "gif", "variable rate"]
)
def test_any_other_is_made_anew(
    suffix: str, codec: str, options: dict, times: list[float] | None, tmp_path: Path
) -> None:
    path = tmp_path / f"clip.{suffix}"
    sound = None if suffix == "gif" else 440
    write_clip(path, seconds=3, rate=20, codec=codec, options=options, times=times, sound=sound)
    prepared = original(path)
    (part,) = prepared.parts
    assert isinstance(part, Video)
    with av.open(io.BytesIO(part.data)) as made:
        pictures = [number_of(frame.to_image()) for frame in made.decode(video=0) if isinstance(frame, VideoFrame)]
        stream = made.streams.video[0]
        assert (stream.codec_context.name, stream.frames, float(stream.average_rate or 0)) == ("h264", 12, 4.0)
        assert len(made.streams.audio) == (sound is not None)
    expected = [(slot + 0.5) / 4 for slot in range(12)]
    if times is None:
        assert all(abs(seen - int(at * 20)) <= 2 for seen, at in zip(pictures, expected, strict=True))
    else:
        assert pictures == [sum(time <= at + 1e-6 for time in times) - 1 for at in expected]
    if sound:
        with av.open(io.BytesIO(part.data)) as made:
            heard = sum(frame.samples for frame in made.decode(audio=0) if isinstance(frame, AudioFrame))
        assert heard / 16000 == pytest.approx(3, abs=0.1)


def test_ten_minutes_are_the_most_that_is_made_anew(tmp_path: Path) -> None:
    write_clip(tmp_path / "slow.gif", seconds=0, codec="gif", times=[0, 300, 620])
    with pytest.raises(MediaError) as refusal:
        original(tmp_path / "slow.gif")
    assert refusal.value.key == "media-too-long"
    assert refusal.value.facts["limit"] == 10
    assert len(interleaved(tmp_path / "slow.gif").seconds) == 64


def test_time_runs_out(tmp_path: Path) -> None:
    write_clip(tmp_path / "clip.mp4", seconds=2)
    ticks = iter(range(1000))
    with pytest.raises(MediaError) as refusal:
        reel_of(tmp_path / "clip.mp4", Budget(seconds=5, clock=lambda: float(next(ticks))))
    assert (refusal.value.key, refusal.value.facts) == ("media-too-slow", {"seconds": 5})


def test_decoded_frames_do_not_wait_for_the_garbage_collector(tmp_path: Path) -> None:
    """A frame in a reference cycle keeps its decoder's memory, some 200 MB for 1080p, until a full collection."""
    write_clip(tmp_path / "clip.mp4", seconds=3, sound=440)
    interleaved(tmp_path / "clip.mp4")
    gc.collect()
    gc.disable()
    try:
        interleaved(tmp_path / "clip.mp4")
        original(tmp_path / "clip.mp4")
        left = [thing for thing in gc.get_objects() if isinstance(thing, VideoFrame | AudioFrame)]
    finally:
        gc.enable()
    assert left == []


def test_the_numbered_pictures_can_be_read() -> None:
    """Or else the tests above would compare nothing."""
    assert [number_of(VideoFrame.from_ndarray(numbered(n), format="rgb24").to_image()) for n in (0, 5, 4095)] == [
        0,
        5,
        4095,
    ]
