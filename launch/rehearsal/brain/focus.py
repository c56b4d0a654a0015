"""What of a picture, a clip or a sound a question is about."""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import Literal

from launch.rehearsal.brain.hear import Heard
from launch.rehearsal.brain.number_words import in_figures
from launch.rehearsal.brain.scene import Scene, Sensed
from launch.rehearsal.brain.see import Seen
from launch.rehearsal.brain.watch import Watched

Kind = Literal["second", "quadrant", "words", "speech", "change", "colours", "size", "length", "brightness", "all"]
QUADRANTS = (
    re.compile(r"左上|(top|upper)[ -]left", re.I),
    re.compile(r"右上|(top|upper)[ -]right", re.I),
    re.compile(r"左下|(bottom|lower)[ -]left", re.I),
    re.compile(r"右下|(bottom|lower)[ -]right", re.I),
)
SECOND = re.compile(
    r"第\s*(\d+)\s*秒|\bsecond (\d+)\b|\b(\d+)(?:st|nd|rd|th) second\b|\bat (\d+) ?s(?:econds?)?\b", re.I
)
_KINDS: tuple[tuple[Kind, str], ...] = (
    (
        "words",
        r"写(了|着|的)?(什么|啥)|文字|[几哪什么]+字|的字|有字|标题|牌子"
        r"|\bread\b|\bwritten\b|\btext\b|\bwords\b|\bsign says\b",
    ),
    (
        "speech",
        r"说(了|的|着)?(是)?(什么|啥)|讲(了|的)?什么|听[到见]|转写|听写|台词|声音"
        r"|\bsaid\b|\bsay(s|ing)?\b|\bhear\b|\btranscri|\bsounds?\b|\bspoken\b",
    ),
    ("change", r"变化|变了|变成|区别|不同|差别|比较|对比|\bchang|\bdiffer|\bcompar"),
    ("colours", r"颜色|什么色|色彩|主色|\bcolou?rs?\b"),
    ("size", r"尺寸|分辨率|像素|多大|大小|\bsize\b|\bresolution\b|\bpixels?\b|\bhow (big|large|wide)\b"),
    ("length", r"多长|几秒|时长|多久|多少秒|\bhow long\b|\bduration\b|\bhow many seconds\b"),
    ("brightness", r"亮|暗|\bbright|\bdark"),
    (
        "all",
        r"描述|看到|看见|看看|看一?下|有(些)?什么|(图|画|面|频|里|上|这)是什么|内容|介绍|总结|概括|说说|发生了什么|讲一?讲"
        r"|\bdescri|\bdo you see\b|\bcan you see\b|\bshow|\bwhat('s|’s| is| are) (in|on|this|that|there|here)\b"
        r"|\bwhat happens\b|\bsummar|\btell me (about|what)\b|\blook",
    ),
)
KINDS: tuple[tuple[Kind, re.Pattern[str]], ...] = tuple((kind, re.compile(words, re.I)) for kind, words in _KINDS)
NOUNS = re.compile(
    r"图|照片|相片|画面|画里|视频|片子|录音|音频|那段|这段"
    r"|\bpictures?\b|\bimages?\b|\bphotos?\b|\bvideos?\b|\bclips?\b|\brecording\b|\baudio\b|\bframe\b",
    re.I,
)


@dataclass(frozen=True)
class Focus:
    """``at``: the second, or the quadrant's index in ``Seen.quadrants``."""

    kind: Kind
    at: int = 0


def focus(question: str) -> Focus | None:
    """The first that fits, None when the question asks for something else."""
    figures = in_figures(question)
    if second := SECOND.search(figures):
        return Focus("second", int(next(filter(None, second.groups()))))
    for index, place in enumerate(QUADRANTS):
        if place.search(question):
            return Focus("quadrant", index)
    return next((Focus(kind) for kind, words in KINDS if words.search(question)), None)


def points_back(question: str) -> bool:
    """Whether it names a picture, a clip or a sound, so that it may be about one shown before."""
    return NOUNS.search(question) is not None


def concerns(asked: Focus, thing: Sensed) -> bool:
    """Whether a thing can have what is asked: a recording has no colours, a picture no sound."""
    if asked.kind == "all":
        return True
    if isinstance(thing, Heard):
        return asked.kind in ("speech", "length")
    if isinstance(thing, Watched):
        return asked.kind not in ("quadrant", "brightness")
    return asked.kind not in ("second", "speech", "length")


def asked_of(scene: Scene, question: str) -> tuple[list[Sensed], Focus | None]:
    """What of this turn's media, or of earlier ones that it names, a question wants to know.

    No focus when it wants something else, or all of this turn's media: those are reported anyway.
    """
    asked = focus(question)
    if asked is None or not (scene.last.sensed or points_back(question)):
        return [], None
    if asked.kind == "all" and scene.last.sensed:
        return [], None
    candidates = (scene.last.sensed, scene.shown(), scene.heard())
    things = next((found for some in candidates if (found := [thing for thing in some if concerns(asked, thing)])), [])
    if asked.kind == "change" and isinstance(things[-1] if things else None, Seen) and len(things) < 2:
        return [], None
    return things, asked if things else None
