"""What was seen, heard and watched, told in English."""

from __future__ import annotations

from launch.rehearsal.brain.describe_zh import BRIGHT, DARK, SILENT
from launch.rehearsal.brain.focus import Focus
from launch.rehearsal.brain.hear import Heard
from launch.rehearsal.brain.read_text import Reading
from launch.rehearsal.brain.scene import Sensed
from launch.rehearsal.brain.see import Seen, change
from launch.rehearsal.brain.watch import CHANGED, Watched

QUADRANTS = ("top left", "top right", "bottom left", "bottom right")
BRIEF_LINES, BRIEF_LETTERS = 3, 64  # of a picture's words that are read aloud


def quoted(text: str, brief: bool = False) -> str:
    """ "…", cut at a word when it is to be short."""
    words = " ".join(text.split()).strip("。.？?！! ")
    if brief and len(words) > BRIEF_LETTERS:
        words = words[:BRIEF_LETTERS].rsplit(" ", 1)[0] + "…"
    return f"“{words}”"


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
            return _capital(_words(seen.reading, brief)) or "There are no words that I can read in the picture"
        case "quadrant":
            return f"The {QUADRANTS[focus.at]} of the picture is mostly {seen.quadrants[focus.at]}"
        case "colours":
            return f"The picture is {_main_colours(seen)}{_quadrants(seen)}"
        case "size":
            return f"The picture is {seen.width} pixels wide and {seen.height} pixels high"
        case "brightness":
            return f"The picture is {_brightness(seen) or 'neither bright nor dark'}, {round(seen.brightness * 100)}% on average"
    size = "" if brief else f" of {seen.width} by {seen.height} pixels"
    light = _brightness(seen)
    text = f"I see a picture{size}, {_main_colours(seen)}" + (f" and {light}" if light else "")
    if not (brief and seen.reading.lines):
        text += _quadrants(seen)
    return text + (f"; {words}" if (words := _words(seen.reading, brief)) else "")


def _main_colours(seen: Seen) -> str:
    return "mostly " + " and ".join(name for name, _ in seen.colours[:2])


def _quadrants(seen: Seen) -> str:
    if len(set(seen.quadrants)) == 1:
        return ""
    return ": " + ", ".join(f"{place} {name}" for place, name in zip(QUADRANTS, seen.quadrants, strict=True))


def _brightness(seen: Seen) -> str:
    return "dark" if seen.brightness < DARK else "bright" if seen.brightness > BRIGHT else ""


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
    more = f", and {left} more line{'s' * (left > 1)}" if left else ""
    return "it says " + ", ".join(f"“{line}”" for line in lines) + more


def _heard(heard: Heard, brief: bool) -> str:
    if heard.text:
        return "I heard " + quoted(heard.text, brief)
    how = "is as good as silent" if heard.loudness < SILENT else "has sound, but nobody speaks"
    return f"This recording of {_seconds(heard.seconds)} {how}"


def _watched(clip: Watched, focus: Focus, brief: bool) -> str:
    words, speech = _words(clip.reading, brief), _speech(clip, brief)
    match focus.kind:
        case "second":
            if focus.at >= len(clip.frames):
                return f"The clip is only {_seconds(clip.seconds)} long"
            return f"At second {focus.at} the picture is {_main_colours(clip.frames[focus.at])}"
        case "words":
            return _capital(words) or "There are no words that I can read in the clip"
        case "speech":
            return _capital(speech) or "The clip has no sound"
        case "length":
            return f"The clip is {_seconds(clip.seconds)} long"
        case "size":
            return f"The clip is {clip.size[0]} pixels wide and {clip.size[1]} pixels high"
        case "change" | "colours":
            return f"The clip is {_course(clip)}"
    parts = [f"I watched a clip of {_seconds(clip.seconds)}, {_course(clip)}", words, speech]
    return "; ".join(part for part in parts if part)


def _speech(clip: Watched, brief: bool) -> str:
    if clip.heard is None:
        return ""
    return "somebody says " + quoted(clip.heard.text, brief) if clip.heard.text else "nobody speaks"


def _course(clip: Watched) -> str:
    """How the colours go on, second by second."""
    stretches = clip.stretches
    first, *rest = stretches
    if rest:
        return f"mostly {first[1]} at first" + "".join(f", {name} from second {at}" for at, name in rest[:4])
    moving = ", ".join(str(at) for at in clip.changes[:4])
    return f"mostly {first[1]} throughout" + (
        f", with a clear change at second {moving}" if moving else " with little change"
    )


def _seconds(seconds: float) -> str:
    return f"{round(seconds)} seconds" if seconds >= 1.5 else f"{seconds:.1f} seconds"


def _capital(text: str) -> str:
    return text[:1].upper() + text[1:]


def compared(one: Seen, other: Seen) -> str:
    """How two pictures differ."""
    colours = one.colours[0][0], other.colours[0][0]
    if change(one, other) <= CHANGED:
        return "The two pictures are almost the same"
    told = f"The first is mostly {colours[0]}, the second mostly {colours[1]}"
    told = told if colours[0] != colours[1] else f"Both are mostly {colours[0]}"
    brighter = one.brightness - other.brightness
    light = "" if abs(brighter) < 0.1 else f", and the {'first' if brighter > 0 else 'second'} is brighter"
    words = [_words(seen.reading, True).removeprefix("it ") or "has no words" for seen in (one, other)]
    return told + light + (f"; the first {words[0]}, the second {words[1]}" if words[0] != words[1] else "")
