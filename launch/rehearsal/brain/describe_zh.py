"""What was seen, heard and watched, told in Chinese."""

from __future__ import annotations

from launch.rehearsal.brain.focus import Focus
from launch.rehearsal.brain.hear import Heard
from launch.rehearsal.brain.read_text import Reading
from launch.rehearsal.brain.scene import Sensed
from launch.rehearsal.brain.see import Colour, Seen, change
from launch.rehearsal.brain.watch import CHANGED, Watched

COLOURS: dict[Colour, str] = {
    **{"black": "黑色", "white": "白色", "grey": "灰色", "red": "红色", "orange": "橙色", "yellow": "黄色"},
    **{"green": "绿色", "cyan": "青色", "blue": "蓝色", "purple": "紫色", "pink": "粉色", "brown": "棕色"},
}
QUADRANTS = ("左上角", "右上角", "左下角", "右下角")
DARK, BRIGHT = 0.3, 0.72  # mean brightness below and above which it is worth a word
SILENT = 0.003  # loudness below which a sound is as good as none
BRIEF_LINES, BRIEF_LETTERS = 3, 26  # of a picture's words that are read aloud


def quoted(text: str, brief: bool = False) -> str:
    """「…」, cut when it is to be short."""
    words = " ".join(text.split()).strip("。.？?！! ")
    return f"「{words[:BRIEF_LETTERS] + '…' if brief and len(words) > BRIEF_LETTERS else words}」"


def told(thing: Sensed, focus: Focus, brief: bool) -> str:
    """What ``focus`` asks of one thing, a sentence without its full stop. ``brief``: it will be read aloud."""
    if isinstance(thing, Heard):
        return _heard(thing, brief)
    if isinstance(thing, Watched):
        return _watched(thing, focus, brief)
    return _seen(thing, focus, brief)


def _seen(seen: Seen, focus: Focus, brief: bool) -> str:
    match focus.kind:
        case "words":
            return _words(seen.reading, brief) or "图上没有我能认出的文字"
        case "quadrant":
            return f"图的{QUADRANTS[focus.at]}主要是{COLOURS[seen.quadrants[focus.at]]}"
        case "colours":
            return "，".join(filter(None, ["这张图" + _main_colours(seen), _quadrants(seen)]))
        case "size":
            return f"这张图宽{seen.width}像素，高{seen.height}像素"
        case "brightness":
            return f"这张图{_brightness(seen) or '亮度适中'}，平均亮度{round(seen.brightness * 100)}%"
    size = "" if brief else f"{seen.width}×{seen.height}的"
    parts = [f"一张{size}图", _main_colours(seen), _brightness(seen)]
    parts += ["" if brief and seen.reading.lines else _quadrants(seen), _words(seen.reading, brief)]
    return "我看到" + "，".join(part for part in parts if part)


def _main_colours(seen: Seen) -> str:
    return "以" + "和".join(COLOURS[name] for name, _ in seen.colours[:2]) + "为主"


def _quadrants(seen: Seen) -> str:
    names = [COLOURS[name] for name in seen.quadrants]
    if len(set(names)) == 1:
        return ""
    return "、".join(f"{place}{name}" for place, name in zip(QUADRANTS, names, strict=True))


def _brightness(seen: Seen) -> str:
    return "画面偏暗" if seen.brightness < DARK else "画面明亮" if seen.brightness > BRIGHT else ""


def _words(reading: Reading, brief: bool) -> str:
    if not reading.lines:
        return ""
    lines, letters = [], 0
    for line in reading.lines:
        letters += len(line)
        if brief and lines and (len(lines) == BRIEF_LINES or letters > BRIEF_LETTERS):
            break
        lines.append(line)
    left = reading.unread + len(reading.lines) - len(lines)
    return "上面写着" + "".join(f"「{line}」" for line in lines) + (f"，另外还有{left}行字" if left else "")


def _heard(heard: Heard, brief: bool) -> str:
    if heard.text:
        return "我听到" + quoted(heard.text, brief)
    how = "几乎是静音" if heard.loudness < SILENT else "有声音，但没有人说话"
    return f"这段{_seconds(heard.seconds)}的录音{how}"


def _watched(clip: Watched, focus: Focus, brief: bool) -> str:
    words, speech = _words(clip.reading, brief).replace("上面", "画面上"), _speech(clip, brief)
    match focus.kind:
        case "second":
            frame = clip.frames[min(focus.at, len(clip.frames) - 1)]
            if focus.at >= len(clip.frames):
                return f"这段视频只有{_seconds(clip.seconds)}"
            return f"第{focus.at}秒的画面{_main_colours(frame)}"
        case "words":
            return words or "视频里没有我能认出的文字"
        case "speech":
            return speech or "这段视频没有声音"
        case "length":
            return f"这段视频长{_seconds(clip.seconds)}"
        case "size":
            return f"画面宽{clip.size[0]}像素，高{clip.size[1]}像素"
        case "change" | "colours":
            return "视频" + _course(clip)
    parts = [f"我看了一段{_seconds(clip.seconds)}的视频", _course(clip), words, speech]
    return "，".join(part for part in parts if part)


def _speech(clip: Watched, brief: bool) -> str:
    if clip.heard is None:
        return ""
    return "里面有人说" + quoted(clip.heard.text, brief) if clip.heard.text else "里面没有人说话"


def _course(clip: Watched) -> str:
    """How the colours go on, second by second."""
    stretches = clip.stretches
    first, *rest = stretches
    if rest:
        return f"先以{COLOURS[first[1]]}为主" + "".join(f"，第{at}秒起是{COLOURS[name]}" for at, name in rest[:4])
    moving = "、".join(str(at) for at in clip.changes[:4])
    return f"一直以{COLOURS[first[1]]}为主，" + (f"第{moving}秒画面有明显变化" if moving else "画面变化不大")


def _seconds(seconds: float) -> str:
    return f"{round(seconds)}秒" if seconds >= 1.5 else f"{seconds:.1f}秒"


def compared(one: Seen, other: Seen) -> str:
    """How two pictures differ."""
    colours = COLOURS[one.colours[0][0]], COLOURS[other.colours[0][0]]
    if change(one, other) <= CHANGED:
        return "这两张图几乎一样"
    told = (
        f"第一张以{colours[0]}为主，第二张以{colours[1]}为主"
        if colours[0] != colours[1]
        else f"两张都以{colours[0]}为主"
    )
    brighter = one.brightness - other.brightness
    light = "" if abs(brighter) < 0.1 else f"，{'第一' if brighter > 0 else '第二'}张更亮"
    words = [_words(seen.reading, True).replace("上面", "") or "没有文字" for seen in (one, other)]
    return told + light + (f"；第一张{words[0]}，第二张{words[1]}" if words[0] != words[1] else "")
