"""Makes the samples again: ``python -m assets.samples.make [NAME ...] [--kokoro FOLDER]``. Without names, all of them.

Pictures come out the same to the byte; speech does not, for both voices draw their manner by chance.
"""

from __future__ import annotations

import argparse
from collections.abc import Callable
from functools import cache
from pathlib import Path

import numpy as np

from assets.samples.make import clips, pictures, recordings, scenes
from assets.samples.make.sound import RATE, levelled

SAMPLES = Path(__file__).resolve().parent.parent
VOICES = SAMPLES.parent / "voices"
Say = Callable[[str], np.ndarray]


def main() -> None:
    parser = argparse.ArgumentParser(prog="python -m assets.samples.make", description=__doc__.splitlines()[0])
    parser.add_argument("names", nargs="*", metavar="NAME", help="which to make; without one, all")
    parser.add_argument("--kokoro", type=Path, help="folder of Kokoro's voices (*.bin), for whatever speaks Chinese")
    options = parser.parse_args()

    @cache
    def kokoro() -> Callable[[str, str], np.ndarray]:
        from assets.samples.make.chinese import Chinese  # its packages serve nothing else

        if options.kokoro is None:
            parser.error("this one speaks Chinese: give --kokoro (see the README of the samples)")
        return Chinese(options.kokoro)

    def woman(text: str) -> np.ndarray:
        return levelled(kokoro()(text, "zf_xiaobei"))

    def man(text: str) -> np.ndarray:
        return levelled(kokoro()(text, "zm_yunxi"))

    @cache
    def joe() -> Say:
        from launch.rehearsal.brain.sound import resample
        from launch.rehearsal.brain.voice_en import EnglishVoice
        from launch.rehearsal.weights import weights_dir

        voice = EnglishVoice(weights_dir() / "voice-en")
        return lambda text: levelled(resample(voice(text), voice.rate, RATE))

    def clip(name: str, scene: scenes.Scene) -> None:
        clips.save(SAMPLES / f"{name}.mp4", scene.seconds, scene.draw, scene.track)

    makers: dict[str, Callable[[], None]] = {
        "receipt": lambda: pictures.receipt(SAMPLES),
        "visitors": lambda: pictures.visitors(SAMPLES),
        "photographs": lambda: pictures.photographs(SAMPLES),
        "beeps": lambda: recordings.beeps(SAMPLES),
        "questions": lambda: recordings.questions(SAMPLES, woman, joe()),
        "message": lambda: recordings.message(SAMPLES, man),
        "traffic-light": lambda: clip("traffic-light", scenes.traffic_light(woman)),
        "growing-chart": lambda: clip("growing-chart", scenes.growing_chart(joe())),
        "make-tea": lambda: clip("make-tea", scenes.make_tea(woman)),
        "ball-and-box": lambda: clip("ball-and-box", scenes.ball_and_box(joe())),
        "reference": lambda: recordings.reference(VOICES, joe()),
    }
    if unknown := set(options.names) - makers.keys():
        parser.error(f"no such sample: {', '.join(sorted(unknown))}; there are {', '.join(makers)}")
    for name in options.names or makers:
        print(name, flush=True)
        makers[name]()


if __name__ == "__main__":
    main()
