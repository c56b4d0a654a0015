"""What a mishearing was meant to be. Whisper writes "三家五" for 三加五: the sounds are right, the characters are not."""

from __future__ import annotations

import re

from pypinyin import Style, lazy_pinyin

from launch.rehearsal.brain.clauses import HAN

# The words that the rules of the dialogue listen for, and that have neighbours of the same sound.
WORDS = (
    "几点", "几号", "几月", "星期几", "日期", "时间", "等于", "多少", "加上", "减去", "乘以", "除以", "颜色", "文字", "图片", "图里",
    "画面", "视频", "声音", "刚才", "之前", "记得", "名字", "叫什么", "变化", "左上", "右上", "左下", "右下", "描述", "做什么",
)  # fmt: skip
OPERATORS = "加减乘"  # single characters: believed only between two numbers
FIGURE = "0-9零一二两三四五六七八九十百千万"


def as_meant(text: str) -> str:
    """The heard text with the words of the rules put back, where it has characters of exactly their sound."""
    sounds = [
        lazy_pinyin(character, style=Style.NORMAL)[0] if re.match(f"[{HAN}]", character) else "" for character in text
    ]
    characters = list(text)
    for word, sound in _SOUNDS.items():
        for start in range(len(sounds) - len(word) + 1):
            if sounds[start : start + len(word)] == sound:
                characters[start : start + len(word)] = word
    for match in re.finditer(rf"(?<=[{FIGURE}])([{HAN}])(?=[{FIGURE}])", text):
        at = match.start()
        if text[at] not in FIGURE:
            characters[at] = next((one for one in OPERATORS if sounds[at] == _SOUNDS_OF_ONE[one]), characters[at])
    return "".join(characters)


_SOUNDS = {word: lazy_pinyin(word, style=Style.NORMAL) for word in WORDS}
_SOUNDS_OF_ONE = {one: lazy_pinyin(one, style=Style.NORMAL)[0] for one in OPERATORS}
