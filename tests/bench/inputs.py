"""What the bench asks about: made here, so that no figure depends on a sample of the page."""

from __future__ import annotations

from pathlib import Path

import av
import numpy as np
import soundfile
from PIL import Image, ImageDraw

SPEECH_RATE = 24_000


def picture(folder: Path) -> Path:
    """A 1280x960 photograph-sized picture with a shape and a line of text."""
    image = Image.new("RGB", (1280, 960), (232, 236, 240))
    draw = ImageDraw.Draw(image)
    draw.ellipse((160, 160, 720, 720), fill=(200, 60, 50))
    draw.text((780, 420), "GATE 27", fill=(20, 20, 20), font_size=90)
    path = folder / "picture.jpg"
    image.save(path, quality=90)
    return path


def speech(text: str) -> np.ndarray:
    """``text`` spoken by the rehearsal engine's English voice; float32 mono at ``SPEECH_RATE``."""
    from launch.rehearsal.brain.voice_en import EnglishVoice
    from launch.rehearsal.weights import weights_dir

    return EnglishVoice(weights_dir() / "voice-en")(text)


def question(folder: Path) -> Path:
    """A spoken question, stretched with silence to 5 s."""
    sound = speech("Could you please tell me what I should pack for a long walk in the mountains?")
    whole = np.zeros(5 * SPEECH_RATE, np.float32)
    whole[: min(len(sound), len(whole))] = sound[: len(whole)]
    path = folder / "question.wav"
    soundfile.write(path, whole, SPEECH_RATE)
    return path


def clip(folder: Path, seconds: int = 8, rate: int = 10) -> Path:
    """A clip that changes its colour every second and carries a tone."""
    path = folder / "clip.mp4"
    colours = [(200, 40, 40), (40, 160, 60), (40, 80, 200), (230, 200, 60)]
    with av.open(str(path), "w") as out:
        video = out.add_stream("libx264", rate=rate)
        video.width, video.height, video.pix_fmt = 320, 240, "yuv420p"
        sound = out.add_stream("aac", rate=SPEECH_RATE)
        for n in range(seconds * rate):
            frame = av.VideoFrame.from_ndarray(
                np.full((240, 320, 3), colours[n // rate % len(colours)], np.uint8), "rgb24"
            )
            out.mux(video.encode(frame))
        tone = (0.2 * np.sin(2 * np.pi * 440 * np.arange(seconds * SPEECH_RATE) / SPEECH_RATE)).astype(np.float32)
        wave = av.AudioFrame.from_ndarray(tone[None], "fltp", "mono")
        wave.sample_rate = SPEECH_RATE
        out.mux(sound.encode(wave))
        out.mux(video.encode(None))
        out.mux(sound.encode(None))
    return path
