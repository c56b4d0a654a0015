"""Gradio's own inputs, held back from opening what was uploaded: ``ui/media`` alone opens media, in its bounds and with its sentences."""

from __future__ import annotations

from typing import Any

import gradio as gr
from gradio import processing_utils
from gradio.data_classes import FileData

from gradio.events import Dependency

class PictureSlot(gr.Image):
    """A picture by upload, paste or camera, handed on as the path of the untouched file.

    Gradio's own decodes it on the event's way in.
    """

    is_template = True  # the front end's component stays Gradio's
    preprocess = _path
    example_payload = example_value = _none
    from typing import Callable, Literal, Sequence, Any, TYPE_CHECKING
    from gradio.blocks import Block
    if TYPE_CHECKING:
        from gradio.components import Timer
        from gradio.components.base import Component


class VideoSlot(gr.Video):
    """A video by upload or camera, as the path of the untouched file."""

    is_template = True
    preprocess = _path
    example_payload = example_value = _none  # type: ignore[assignment]

    def postprocess(self, value: Any) -> FileData | None:
        # Gradio's own looks for ffmpeg programs to make a file playable; our samples are.
        return None if value is None else FileData(path=str(value), orig_name=str(value).rpartition("/")[2])
    from typing import Callable, Literal, Sequence, Any, TYPE_CHECKING
    from gradio.blocks import Block
    if TYPE_CHECKING:
        from gradio.components import Timer
        from gradio.components.base import Component


class SpokenAnswer(gr.Audio):
    """An answer's WAV as an output of the API. ``None``: nothing was spoken."""

    is_template = True
    example_payload = example_value = _none  # type: ignore[assignment]

    def postprocess(self, value: Any) -> FileData | None:
        if value is None:
            return None
        path = processing_utils.save_bytes_to_cache(value, "answer.wav", cache_dir=self.GRADIO_CACHE)
        return FileData(path=path, orig_name="answer.wav")
    from typing import Callable, Literal, Sequence, Any, TYPE_CHECKING
    from gradio.blocks import Block
    if TYPE_CHECKING:
        from gradio.components import Timer
        from gradio.components.base import Component
class SoundSlot(gr.Audio):
    """A sound by upload or microphone, as the path of the untouched file."""

    is_template = True
    preprocess = _path  # type: ignore[assignment]
    example_payload = example_value = _none
    from typing import Callable, Literal, Sequence, Any, TYPE_CHECKING
    from gradio.blocks import Block
    if TYPE_CHECKING:
        from gradio.components import Timer
        from gradio.components.base import Component

    
class MessageBox(gr.MultimodalTextbox):
    """Words, files and the microphone in one."""

    is_template = True
    example_payload = example_value = _none
    from typing import Callable, Literal, Sequence, Any, TYPE_CHECKING
    from gradio.blocks import Block
    if TYPE_CHECKING:
        from gradio.components import Timer
        from gradio.components.base import Component

    
class Attachments(gr.File):
    """Files, for the endpoint of a conversation."""

    is_template = True
    example_payload = example_value = _none
    from typing import Callable, Literal, Sequence, Any, TYPE_CHECKING
    from gradio.blocks import Block
    if TYPE_CHECKING:
        from gradio.components import Timer
        from gradio.components.base import Component

    