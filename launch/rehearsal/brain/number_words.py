"""Numbers written in words, Chinese or English, put into figures."""

from __future__ import annotations

import re

ZH_DIGITS = {character: value for value, character in enumerate("零一二三四五六七八九")} | {"〇": 0, "两": 2}
ZH_PLACES = {"十": 10, "百": 100, "千": 1000}
ZH_GROUPS = {"万": 10**4, "亿": 10**8}
ZH_NUMBER = re.compile(r"负?[零〇一二两三四五六七八九十百千万亿]+(?:点[零〇一二三四五六七八九]+)?")
EN_UNITS = (
    "zero", "one", "two", "three", "four", "five", "six", "seven", "eight", "nine", "ten", "eleven", "twelve",
    "thirteen", "fourteen", "fifteen", "sixteen", "seventeen", "eighteen", "nineteen",
)  # fmt: skip
EN_TENS = ("twenty", "thirty", "forty", "fifty", "sixty", "seventy", "eighty", "ninety")
EN_SMALL = {word: value for value, word in enumerate(EN_UNITS)}
EN_SMALL |= {word: value * 10 for value, word in enumerate(EN_TENS, 2)}
EN_LARGE = {"hundred": 100, "thousand": 1000, "million": 10**6}
_EN_WORD = "|".join([*EN_SMALL, *EN_LARGE])
EN_NUMBER = re.compile(rf"\b(?:{_EN_WORD})(?:(?:[\s-]+|\s+and\s+)(?:{_EN_WORD}))*\b", re.I)


def in_figures(text: str) -> str:
    """ "三加二十五" → "3加25", "seventeen plus two hundred and six" → "17 plus 206"."""
    return EN_NUMBER.sub(lambda match: str(_english(match[0])), ZH_NUMBER.sub(lambda match: _chinese(match[0]), text))


def _chinese(words: str) -> str:
    sign = "-" if words.startswith("负") else ""
    whole, _, decimals = words.removeprefix("负").partition("点")
    value = str(_chinese_whole(whole))
    return sign + value + ("." + "".join(str(ZH_DIGITS[one]) for one in decimals) if decimals else "")


def _chinese_whole(words: str) -> int | str:
    if not re.search("[十百千万亿]", words):
        return "".join(str(ZH_DIGITS[one]) for one in words)
    total, group, digit = 0, 0, 0
    for one in words:
        if one in ZH_DIGITS:
            digit = ZH_DIGITS[one]
        elif one in ZH_PLACES:
            group += (digit or 1) * ZH_PLACES[one]
            digit = 0
        elif one == "亿":  # it counts what stands before it, 万 too
            total, group, digit = (total + group + digit) * ZH_GROUPS[one], 0, 0
        else:
            total, group, digit = total + (group + digit) * ZH_GROUPS[one], 0, 0
    return total + group + digit


def _english(words: str) -> int:
    total, group = 0, 0
    for word in re.findall(r"[a-z]+", words.lower()):
        if word in EN_SMALL:
            group += EN_SMALL[word]
        elif word == "hundred":
            group = (group or 1) * 100
        elif word in EN_LARGE:
            total, group = total + (group or 1) * EN_LARGE[word], 0
    return total + group
