"""Gradio's own inputs, held back from opening what was uploaded: ``ui/media`` alone opens media, in its bounds and with its sentences."""

from __future__ import annotations

from typing import Any

import gradio as gr
from gradio import processing_utils
from gradio.data_classes import FileData

SLOT_PX = 190  # as low as a picture can still be told by: Run stays on a laptop's screen


class PictureSlot(gr.Image):
    """A picture by upload, paste or camera, handed on as the path of the untouched file. Gradio's own decodes it on the event's way in."""

    is_template = True  # the front end's component stays Gradio's

    def preprocess(self, payload: Any) -> str | None:
        return None if payload is None else payload.path


class VideoSlot(gr.Video):
    """A video by upload or camera, as the path of the untouched file."""

    is_template = True

    def preprocess(self, payload: Any) -> str | None:
        return None if payload is None else payload.path

    def postprocess(self, value: Any) -> FileData | None:
        # Gradio's own looks for ffmpeg programs to make a file playable; our samples are.
        return None if value is None else FileData(path=str(value), orig_name=str(value).rpartition("/")[2])


class SpokenAnswer(gr.Audio):
    """An answer's WAV as an output of the API. ``None``: nothing was spoken."""

    is_template = True

    def postprocess(self, value: Any) -> FileData | None:
        if value is None:
            return None
        path = processing_utils.save_bytes_to_cache(value, "answer.wav", cache_dir=self.GRADIO_CACHE)
        return FileData(path=path, orig_name="answer.wav")
