"""How numbers, dates, times and units are read aloud in Chinese. Everything else in a text is left as it stands."""

from __future__ import annotations

import re

DIGITS = "零一二三四五六七八九"
PLACES = ((1000, "千"), (100, "百"), (10, "十"), (1, ""))
GROUPS = ((10**12, "万亿"), (10**8, "亿"), (10**4, "万"), (1, ""))
BEYOND = 10**16  # from here on digit by digit
TELEPHONE = 11  # digits of a Chinese mobile number, whose 1 is read 幺
# Before these words 2 is read 两 and not 二.
COUNTED = "[个天位张只种本条句段秒幅块件辆台杯口周倍斤米层页岁遍首名枚部点]|次(?!方)|年(?!级)|分钟|小时|公[里斤]|[厘毫]米|毫秒"
UNITS = {
    "℃": "摄氏度",
    "°C": "摄氏度",
    "°": "度",
    "km/h": "公里每小时",
    "km": "公里",
    "kg": "公斤",
    "cm": "厘米",
    "mm": "毫米",
    "ms": "毫秒",
    "m": "米",
    "s": "秒",
}
OPERATORS = {
    **{"+": "加", "-": "减", "−": "减", "×": "乘以", "*": "乘以"},
    **{"÷": "除以", "/": "除以", "=": "等于", "＝": "等于"},
}
NUMBER = r"\d+(?:,\d{3})*(?:\.\d+)?"
START = r"(?<![\d.])"  # a number begins here, not in the middle of another


def integer(value: int) -> str:
    """A quantity: 10500 → 一万零五百, 12 → 十二, 0 → 零."""
    if value == 0 or value >= BEYOND:
        return by_digit(str(value))
    said, gap = "", False
    for unit, name in GROUPS:
        group = value // unit % 10_000
        if group:
            said += "零" if said and (gap or group < 1000) else ""
            said += ("两" if group == 2 and name else _below_ten_thousand(group)) + name
        gap = not group
    return said.removeprefix("一") if said.startswith("一十") else said


def _below_ten_thousand(value: int) -> str:
    said, gap = "", False
    for unit, name in PLACES:
        digit = value // unit % 10
        if digit:
            said += ("零" if said and gap else "") + ("两" if digit == 2 and name == "千" else DIGITS[digit]) + name
        gap = not digit
    return said


def by_digit(digits: str) -> str:
    """2026 → 二零二六."""
    return "".join(DIGITS[int(digit)] for digit in digits)


def number(written: str) -> str:
    """A written number without sign: "1,234.50" → 一千二百三十四点五零; "007" and telephone numbers digit by digit."""
    whole, _, rest = written.replace(",", "").partition(".")
    if rest:
        return integer(int(whole)) + "".join("点" + by_digit(part) for part in rest.split("."))
    if len(whole) == TELEPHONE and whole.startswith("1") and "," not in written:
        return by_digit(whole).replace("一", "幺")
    return by_digit(whole) if len(whole) > 1 and whole.startswith("0") else integer(int(whole))


def _date(match: re.Match[str]) -> str:
    year, month, day = match.groups()
    if not (1 <= int(month) <= 12 and 1 <= int(day) <= 31):
        return match[0]
    return f"{by_digit(year)}年{integer(int(month))}月{integer(int(day))}日"


def _time(match: re.Match[str]) -> str:
    hour, minute, second = match.groups()
    if int(hour) > 24 or int(minute) > 59 or int(second or 0) > 59:
        return match[0]
    said = ("两" if int(hour) == 2 else integer(int(hour))) + "点"
    if minute == "00" and not second:
        return said + "整"
    said += (by_digit(minute) if minute.startswith("0") else integer(int(minute))) + "分"
    return said + (integer(int(second)) + "秒" if second else "")


def _operator(match: re.Match[str]) -> str:
    left, sign, right = match.groups()
    is_range = sign == "-" and not left and not right and "=" not in match.string  # 3-5, but 3 - 5 or 7-2=5
    return "到" if is_range else OPERATORS[sign]


def _fraction(match: re.Match[str]) -> str:
    return f"{number(match[2])}分之{number(match[1])}"


RULES = (
    (re.compile(r"\^(\d+)"), lambda m: f"的{number(m[1])}次方"),
    (re.compile(r"[²³]"), lambda m: "的平方" if m[0] == "²" else "的立方"),
    (re.compile(r"\s*≈\s*"), lambda m: "约等于"),
    (re.compile(rf"{START}(\d{{4}})[-/.](\d{{1,2}})[-/.](\d{{1,2}})(?![\d.])"), _date),
    (re.compile(rf"{START}(\d{{4}})(?=年)"), lambda m: by_digit(m[1])),
    (re.compile(rf"{START}(\d{{1,2}}):(\d{{2}})(?::(\d{{2}}))?(?!\d)"), _time),
    (re.compile(r"(?<=\d):(?=\d)"), lambda m: "比"),
    (re.compile(rf"{START}({NUMBER})\s*[%％]"), lambda m: "百分之" + number(m[1])),
    (re.compile(rf"[¥￥]\s*({NUMBER})"), lambda m: number(m[1]) + "元"),
    (re.compile(rf"\$\s*({NUMBER})"), lambda m: number(m[1]) + "美元"),
    (re.compile(rf"{START}(\d+)/(\d+)(?![\d/])"), _fraction),
    (re.compile(rf"(^|[^\w\s.)）])(\s*)[-−](?={NUMBER})"), lambda m: m[1] + m[2] + "负"),
    (re.compile(r"(?<=[\d)）方])(\s*)([-+−×*÷/=＝])(\s*)(?=[-−负(（]?\d)"), _operator),
    (re.compile(r"(?<=\d)\s*[~～–—]\s*(?=\d)"), lambda m: "到"),
    (re.compile(rf"({NUMBER})\s*({'|'.join(UNITS)})(?![A-Za-z])"), lambda m: m[1] + UNITS[m[2]]),
    (re.compile(rf"(?<![\d.第])2(?=\s*(?:{COUNTED}))"), lambda m: "两"),
    (re.compile(r"\d+(?:,\d{3})+(?:\.\d+)?|\d+(?:\.\d+)*"), lambda m: number(m[0])),
)


def readable(text: str) -> str:
    """The text with its numbers in characters as they are read: "25%" → 百分之二十五, "2个" → 两个, "3:05" → 三点零五分."""
    for pattern, reading in RULES:
        text = pattern.sub(reading, text)
    return text
