"""The hostile files and what each must become. One judge for the whole shared corpus and for the dozen files copied to tests/data."""

from __future__ import annotations

import io
import json
import wave
from dataclasses import dataclass
from pathlib import Path

import numpy as np
from PIL import Image as Pillow

from launch.errors import MediaError
from ui.media.prepared import Prepared
from ui.media.report import PREPARE
from ui.turn.parts import Audio, Image

REPO = Path(__file__).resolve().parents[3]
SHARED = REPO.parent / "shared" / "corpus"
COPIED = REPO / "tests" / "data" / "media"
QUADRANTS = {"tl": (0.25, 0.25), "tr": (0.75, 0.25), "bl": (0.25, 0.75), "br": (0.75, 0.75)}
ORANGE = (247, 130, 19)  # the marker square, as measured in the manifest


@dataclass(frozen=True)
class Item:
    """One row of a manifest."""

    row: dict
    folder: Path

    @property
    def id(self) -> str:
        return self.row["id"]

    @property
    def kind(self) -> str:
        return self.row["kind"]

    @property
    def expect(self) -> dict:
        return self.row["expect"]

    @property
    def path(self) -> Path:
        return self.folder / self.row["path"]

    def allows(self, kind: str) -> bool:
        """Whether refusing the file with this error kind is right."""
        outcomes = [self.expect, *self.row.get("also_acceptable", [])]
        return any(not outcome["ok"] and outcome["error_kind"] == kind for outcome in outcomes)


def items(folder: Path) -> list[Item]:
    manifest = folder / "manifest.json"
    if not manifest.is_file():
        return []
    return [Item(row, folder) for row in json.loads(manifest.read_text(encoding="utf-8"))["items"]]


def judge(item: Item, path: Path | None = None) -> None:
    """Asserts that the file, given to the box of its kind, becomes what the manifest expects, value by value."""
    try:
        prepared = PREPARE[item.kind](path or item.path, item.row.get("upload_name"))
    except MediaError as refusal:
        _judge_refusal(refusal, item)
        return
    assert item.expect["ok"], f"taken, where it is to be refused as {item.expect['error_kind']}"
    assert prepared.kind == item.kind
    {"image": _judge_image, "audio": _judge_audio, "video": _judge_video}[item.kind](prepared, item.expect)


def _judge_refusal(refusal: MediaError, item: Item) -> None:
    kind = refusal.key.removeprefix("media-").replace("-", "_")
    assert item.allows(kind), f"refused as {kind}"
    for side in ("width", "height"):
        assert refusal.facts.get(side) == item.expect.get(side)


def _judge_image(prepared: Prepared, expect: dict) -> None:
    (part,) = prepared.parts
    assert isinstance(part, Image)
    picture = pixels(part)
    assert (prepared.width, prepared.height) == (expect["width"], expect["height"])
    assert picture.size == (part.width, part.height)
    assert picture.width * picture.height <= 1_800_000
    if "min_side_sent" in expect:
        assert min(picture.size) >= expect["min_side_sent"]
    else:
        shape = (picture.width / picture.height) / (expect["width"] / expect["height"])
        assert abs(shape - 1) <= expect.get("aspect_tol", 0.01)
    for name, (across, down) in QUADRANTS.items():
        if colour := expect.get("solid") or expect.get("quadrants", {}).get(name):
            assert_colour(picture, across, down, colour, expect["tol"])


def _judge_audio(prepared: Prepared, expect: dict) -> None:
    assert all(isinstance(part, Audio) and 0.1 <= part.seconds <= 30 for part in prepared.parts)
    if len(prepared.parts) > 1:
        assert min(part.seconds for part in prepared.parts) > 10, "a stump"
    assert prepared.duration_s is not None
    assert abs(prepared.duration_s - expect["duration_s"]) <= expect["duration_tol_s"]
    sound = np.concatenate([samples(part) for part in prepared.parts])
    for second, tone in enumerate(expect.get("tones_hz", [])):
        assert_tone(sound[second * 16000 : (second + 1) * 16000], tone, expect)
    peak = float(np.abs(sound).max())
    if "peak" in expect:
        assert abs(peak - expect["peak"]) < 0.02
    assert expect.get("mono_peak_min", 0) <= peak <= expect.get("peak_max", 1)


def _judge_video(prepared: Prepared, expect: dict) -> None:
    pictures = [pixels(part) for part in prepared.parts if isinstance(part, Image)]
    sounds = [samples(part) for part in prepared.parts if isinstance(part, Audio)]
    assert (prepared.width, prepared.height) == (expect["width"], expect["height"])
    assert prepared.duration_s is not None
    assert prepared.frames_1fps is not None
    assert abs(prepared.duration_s - expect["duration_s"]) <= expect["duration_tol_s"]
    low, high = expect.get("frames_1fps_range", [expect["frames_1fps"]] * 2)
    assert low <= prepared.frames_1fps <= high
    assert prepared.has_audio == expect["has_audio"]
    assert len(pictures) == len(prepared.seconds) == min(prepared.frames_1fps, expect.get("max_units", 64))
    assert len(sounds) == (len(pictures) if expect["has_audio"] else 0)
    if prepared.frames_1fps > len(pictures):
        assert (prepared.seconds[0], prepared.seconds[-1]) == (0, prepared.frames_1fps - 1)
    shape = pictures[0].width / pictures[0].height
    assert abs(shape / expect.get("display_aspect", expect["width"] / expect["height"]) - 1) < 0.01
    across, down = QUADRANTS[expect["marker"]]
    for second, picture in zip(prepared.seconds, pictures, strict=True):
        assert min(picture.size) <= 448
        colours = expect["rgb"][second : second + 1]
        if colours and colours[0]:
            assert_colour(picture, 0.25 if "right_colors" in expect else 0.6, 0.7, colours[0], expect["color_tol"])
            assert_colour(picture, across / 5, down / 5, ORANGE, expect["color_tol"])
        if "right_colors" in expect:
            left = expect["colors"].index(expect["right_colors"][second])  # the palette in the left half's own rows
            assert_colour(picture, 0.75, 0.7, expect["rgb"][left], expect["color_tol"])
    for second, sound in zip(prepared.seconds, sounds, strict=False):
        if second < len(expect.get("tones_hz", [])):
            assert_tone(sound, expect["tones_hz"][second], expect)


def pixels(part: Image) -> Pillow.Image:
    return Pillow.open(io.BytesIO(part.data)).convert("RGB")


def samples(part: Audio) -> np.ndarray:
    """Full scale 1; asserts the wire's form on the way."""
    with wave.open(io.BytesIO(part.data)) as file:
        assert (file.getframerate(), file.getnchannels(), file.getsampwidth()) == (16000, 1, 2)
        sound = np.frombuffer(file.readframes(file.getnframes()), "<i2")
    assert len(sound) == round(part.seconds * 16000) > 0
    return sound / 32768


def assert_colour(picture: Pillow.Image, across: float, down: float, colour, tolerance: int) -> None:
    seen = picture.getpixel((int(picture.width * across), int(picture.height * down)))
    assert max(abs(int(a) - int(b)) for a, b in zip(seen, colour, strict=True)) <= tolerance, f"{seen} for {colour}"


def assert_tone(second: np.ndarray, tone: float, expect: dict) -> None:
    """The loudest frequency in 0.12-0.88 of the second, and the share of power within 30 Hz of it."""
    middle = second[int(0.12 * 16000) : int(0.88 * 16000)]
    power = np.abs(np.fft.rfft(middle * np.hanning(len(middle)))) ** 2
    frequency = np.fft.rfftfreq(len(middle), 1 / 16000)
    loudest = frequency[power.argmax()]
    assert abs(loudest - tone) <= expect["tone_tol_hz"], f"{loudest:.0f} Hz for {tone}"
    heard = power[frequency < expect.get("purity_below_hz", 8000)]
    near = power[np.abs(frequency - loudest) < 30]
    assert near.sum() / heard.sum() >= expect.get("purity_min", 0)
    if "alias_hz" in expect:
        alias = power[np.abs(frequency - expect["alias_hz"]) < 30]
        assert alias.sum() < 1e-4 * power.sum()
