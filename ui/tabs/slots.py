"""Gradio's own inputs, held back from opening what was uploaded, and from naming example files on the web.

``ui/media`` alone opens media, in its bounds and with its sentences; Gradio's components would decode a picture, or look
for an ffmpeg program, on the event's way in. Their methods are set on the one component and not in a subclass: Gradio
writes a stub file beside the source of every subclass, at each import.
"""

from __future__ import annotations

import secrets
from pathlib import Path
from typing import Any, TypeVar

import gradio as gr
from gradio.components import Component
from gradio.data_classes import FileData

C = TypeVar("C", bound=Component)

SLOT_PX = 190  # as low as a picture can still be told by: Run stays on a laptop's screen


def untouched(slot: C) -> C:
    """``slot`` (an image, audio or video component) gives the path of the file as it was uploaded, ``None`` for nothing."""
    slot.preprocess = lambda payload: None if payload is None else payload.path
    return without_example(slot)


def without_example(component: C) -> C:
    """``component`` offers no example to the endpoints' description; Gradio's own are addresses on the web."""
    component.example_payload = component.example_value = lambda: None
    return component


def shown_as_it_is(video: gr.Video) -> gr.Video:
    """``video`` shows a sample's file without asking ffmpeg programs whether a browser can play it: ours can be."""
    video.postprocess = lambda value: None if value is None else _file(str(value), str(value).rpartition("/")[2])
    return video


def spoken_answer() -> gr.Audio:
    """An output of the endpoints that takes an answer's WAV as bytes; ``None``: nothing was spoken."""
    output = gr.Audio(visible=False, label="wav")

    def kept(value: Any) -> FileData | None:
        if value is None:
            return None
        # A folder of its own: Gradio names cached files by their content, and two equal answers at once would be written
        # over each other while they are fetched.
        folder = Path(output.GRADIO_CACHE, secrets.token_hex(16))
        folder.mkdir(parents=True)
        path = folder / "answer.wav"
        path.write_bytes(value)
        output.temp_files.add(str(path))
        return _file(str(path), path.name)

    output.postprocess = kept
    return without_example(output)


def _file(path: str, name: str) -> FileData:
    return FileData(path=path, orig_name=name)
