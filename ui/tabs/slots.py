"""Gradio's own inputs, held back from opening what was uploaded: ``ui/media`` alone opens media, in its bounds and with
its sentences. And from naming example files on the web, which no page of ours should."""

from __future__ import annotations

from typing import Any

import gradio as gr
from gradio import processing_utils
from gradio.data_classes import FileData

SLOT_PX = 190  # as low as a picture can still be told by: Run stays on a laptop's screen


def _none(_: Any) -> None:
    return None


def _path(_: Any, payload: Any) -> str | None:
    return None if payload is None else payload.path


class PictureSlot(gr.Image):
    """A picture by upload, paste or camera, handed on as the path of the untouched file.

    Gradio's own decodes it on the event's way in.
    """

    is_template = True  # the front end's component stays Gradio's
    preprocess = _path
    example_payload = example_value = _none  # type: ignore[assignment]


class SoundSlot(gr.Audio):
    """A sound by upload or microphone, as the path of the untouched file."""

    is_template = True
    preprocess = _path  # type: ignore[assignment]
    example_payload = example_value = _none  # type: ignore[assignment]


class VideoSlot(gr.Video):
    """A video by upload or camera, as the path of the untouched file."""

    is_template = True
    preprocess = _path
    example_payload = example_value = _none  # type: ignore[assignment]

    def postprocess(self, value: Any) -> FileData | None:
        # Gradio's own looks for ffmpeg programs to make a file playable; our samples are.
        return None if value is None else FileData(path=str(value), orig_name=str(value).rpartition("/")[2])


class MessageBox(gr.MultimodalTextbox):
    """Words, files and the microphone in one."""

    is_template = True
    example_payload = example_value = _none  # type: ignore[assignment]


class Attachments(gr.File):
    """Files, for the endpoint of a conversation."""

    is_template = True
    example_payload = example_value = _none  # type: ignore[assignment]


class SpokenAnswer(gr.Audio):
    """An answer's WAV as an output of the API. ``None``: nothing was spoken."""

    is_template = True
    example_payload = example_value = _none  # type: ignore[assignment]

    def postprocess(self, value: Any) -> FileData | None:
        if value is None:
            return None
        path = processing_utils.save_bytes_to_cache(value, "answer.wav", cache_dir=self.GRADIO_CACHE)
        return FileData(path=path, orig_name="answer.wav")
