"""What the text of an option must be: ``type=`` for argparse. A text that is none of it is told in words, not by a function's name."""

from __future__ import annotations

import argparse
import math
from pathlib import Path


def port(text: str) -> int:
    """A TCP port; 0 stands for a free one."""
    if not text.isdecimal() or not 0 <= (number := int(text)) <= 65535:
        raise argparse.ArgumentTypeError(f"{text}: a port is 0 to 65535")
    return number


def count(text: str) -> int:
    """How many: at least one."""
    if not text.isdecimal() or (number := int(text)) < 1:
        raise argparse.ArgumentTypeError(f"{text}: a number, 1 or more")
    return number


def seconds(text: str) -> float:
    """A time to wait, finite and more than none."""
    try:
        number = float(text)
    except ValueError:
        number = math.nan
    if not 0 < number < math.inf:
        raise argparse.ArgumentTypeError(f"{text}: a number of seconds, more than 0")
    return number


def key(text: str) -> str:
    """The API key in the file ``text``: one word, since it becomes a line of an HTTP request."""
    try:
        words = Path(text).expanduser().read_text(encoding="ascii").split()
    except OSError as unreadable:
        raise argparse.ArgumentTypeError(f"{text}: {unreadable.strerror}") from unreadable
    except UnicodeDecodeError:
        words = []
    if len(words) != 1:
        raise argparse.ArgumentTypeError(f"{text}: the key and nothing else")
    return words[0]
