"""The conversation as a short list, turn by turn: what will be sent with the next question."""

from __future__ import annotations

import base64
import html
import io

from PIL import Image as Pillow

from ui.tabs.history import Exchange, History, Media
from ui.texts import Texts
from ui.turn.parts import Audio, Image, Text, Video

THUMB_PX = 64  # twice the 32 px it is shown at: sharp on a dense screen, about 2 kB
_PICTURES_SHOWN = 4  # of one question; a video's frames are counted, not all drawn


def view(history: History, t: Texts) -> str:
    """The list as HTML. People's and the model's words stand escaped, under ``data-verbatim``."""
    if not history.exchanges:
        return f'<p class="omni-small">{html.escape(t("multi_turn.empty"))}</p>'
    rows = "".join(_row(exchange, t) for exchange in history.exchanges)
    return f'<h3 class="omni-label">{html.escape(t("multi_turn.sent"))}</h3><ol class="omni-history">{rows}</ol>'


def _row(exchange: Exchange, t: Texts) -> str:
    words = " ".join(part.text for part in exchange.question.parts if isinstance(part, Text))
    dropped = f'<span class="omni-tag">{html.escape(t("multi_turn.dropped"))}</span>' if exchange.dropped else ""
    return (
        f'<li><div class="omni-media">{_media(exchange.media, t)}{dropped}</div>'
        f'<p data-verbatim>{html.escape(words)}</p><p class="omni-reply" data-verbatim>{html.escape(exchange.answer)}</p></li>'
    )


def _media(media: tuple[Media, ...], t: Texts) -> str:
    pictures = [part for part in media if isinstance(part, Image)]
    shown = "".join(_thumbnail(part, t) for part in pictures[:_PICTURES_SHOWN])
    more = (
        f'<span class="omni-tag" data-verbatim>+{len(pictures) - _PICTURES_SHOWN}</span>'
        if len(pictures) > _PICTURES_SHOWN
        else ""
    )
    sounds = sum(part.seconds for part in media if isinstance(part, Audio))
    videos = sum(part.seconds for part in media if isinstance(part, Video))
    return shown + more + _tag(t("kind.audio"), sounds) + _tag(t("kind.video"), videos)


def _tag(word: str, seconds: float) -> str:
    return (
        f'<span class="omni-tag"><span>{html.escape(word)}</span> <span data-verbatim>{seconds:.1f} s</span></span>'
        if seconds
        else ""
    )


def _thumbnail(picture: Image, t: Texts) -> str:
    label = html.escape(t("kind.image"), quote=True)
    return (
        f'<img src="{_small(picture)}" alt="{label}" title="{picture.width}×{picture.height}" width="32" height="32">'
    )


def _small(picture: Image) -> str:
    with Pillow.open(io.BytesIO(picture.data), formats=("JPEG", "PNG")) as whole:
        whole.draft("RGB", (THUMB_PX, THUMB_PX))
        whole.thumbnail((THUMB_PX, THUMB_PX))
        out = io.BytesIO()
        whole.convert("RGB").save(out, "JPEG", quality=80)
    return "data:image/jpeg;base64," + base64.b64encode(out.getvalue()).decode("ascii")
