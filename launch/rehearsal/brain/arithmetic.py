"""Arithmetic in a sentence: finds it, in figures or in words, and works it out exactly."""

from __future__ import annotations

import ast
import operator
import re
from dataclasses import dataclass
from fractions import Fraction

from launch.rehearsal.brain.number_words import in_figures

SIGNS = (  # how an operator is said, Chinese and English; longer forms first
    (r"加上|加|\bplus\b|\badded to\b|＋", "+"),
    (r"减去|减掉|减|\bminus\b|－|−|—", "-"),
    (r"乘以|乘上|乘|\btimes\b|\bmultiplied by\b|×|✕|·|(?<=[\d\s])[xX](?=[\d\s])", "*"),
    (r"除以|\bdivided by\b|÷", "/"),
    (r"的平方|\bsquared\b", "**2"),
    (r"的立方|\bcubed\b", "**3"),
    (r"的(\d+)次方", r"**\1"),
    (r"\bto the power of\b|\^", "**"),
    (r"(\d+(?:\.\d+)?)\s*的\s*(\d+(?:\.\d+)?)\s*[%％]", r"\1*\2/100"),
    (r"(\d+(?:\.\d+)?)\s*(?:%|percent)\s+of\s+(\d+(?:\.\d+)?)", r"\2*\1/100"),
    (r"[（]", "("),
    (r"[）]", ")"),
)
NUMBER = r"\d+(?:\.\d+)?"
TERM = rf"\(*\s*-?\s*{NUMBER}\s*\)*"
SUM = re.compile(rf"{TERM}(?:\s*(?:\*\*|[-+*/])\s*{TERM})+")
ASKED = re.compile(r"[=＝?？]|等于|多少|得几|是几|算|calculate|compute", re.I)
NAMED = re.compile(r"[=＝]|等于|多少|算|how much|what is|what's|calculate|compute|equal", re.I)
AMBIGUOUS = re.compile(r"\d+[-/]\d+")  # a range, years, a ratio: arithmetic only when it is named as such
FOLLOW_UP = re.compile(
    rf"^\W*(?:那么?|再|然后|结果|and|then|now)*\s*再?\s*([-+*/])\s*({NUMBER})\W*(?:呢|等于.*|是.*)?\W*$", re.I
)
RESULT = re.compile(rf"[=≈]\s*(-?{NUMBER})")
DATE = re.compile(r"\d{4}-\d{1,2}-\d{1,2}")
NEARLY_ALL = 0.8  # of a text: then it is an exercise and needs no question word
LONGEST = 80  # characters of an expression, and
LARGEST_POWER = 64  # of an exponent: beyond them it is a riddle, not a question
LARGEST = 10**16  # of a result: beyond it nobody follows the digits
DECIMALS = 4  # of a result that does not end
OPERATORS = {ast.Add: operator.add, ast.Sub: operator.sub, ast.Mult: operator.mul, ast.Div: operator.truediv}


@dataclass(frozen=True)
class Calculation:
    """``written``: the expression in figures, "12 × 7". ``result`` is None when it divides by zero."""

    written: str
    result: Fraction | None

    @property
    def equation(self) -> str:
        """ "12 × 7 = 84", "1 ÷ 3 ≈ 0.3333"."""
        if self.result is None:
            return self.written
        shown = round(self.result, DECIMALS)
        sign = "=" if shown == self.result else "≈"
        return f"{self.written} {sign} {int(shown) if shown.denominator == 1 else float(shown)}"


def calculation(text: str, before: str = "") -> Calculation | None:
    """The arithmetic that ``text`` asks for, or None. ``before``: the last answer, whose result "再加五" goes on with."""
    plain = in_figures(text)
    for words, sign in SIGNS:
        plain = re.sub(words, sign, plain, flags=re.I)
    if (follow := FOLLOW_UP.match(plain)) and (results := RESULT.findall(before)):
        return _worked_out(f"{results[-1]}{follow[1]}{follow[2]}")
    found = SUM.search(plain)
    if not found or len(found[0]) > LONGEST:
        return None
    cue = NAMED if AMBIGUOUS.fullmatch(found[0].strip()) else ASKED
    is_all = len(found[0].strip()) > NEARLY_ALL * len(plain.strip())
    if not (cue.search(text) or is_all) or DATE.search(found[0]):
        return None
    return _worked_out(found[0])


def _worked_out(expression: str) -> Calculation | None:
    balanced = expression.strip()
    balanced += ")" * (balanced.count("(") - balanced.count(")"))
    try:
        tree = ast.parse(re.sub(r"\s|(?<![\d.])0+(?=\d)", "", balanced), mode="eval").body
        result = _value(tree)
        return Calculation(_written(balanced), result) if abs(result) < LARGEST else None
    except ZeroDivisionError:
        return Calculation(_written(balanced), None)
    except (SyntaxError, ValueError):
        return None


def _value(node: ast.AST) -> Fraction:
    if isinstance(node, ast.Constant):
        return Fraction(str(node.value))
    if isinstance(node, ast.UnaryOp) and isinstance(node.op, ast.USub):
        return -_value(node.operand)
    if isinstance(node, ast.BinOp):
        left, right = _value(node.left), _value(node.right)
        if isinstance(node.op, ast.Pow) and right.denominator == 1 and abs(right) <= LARGEST_POWER:
            return Fraction(left) ** int(right)
        if type(node.op) in OPERATORS:
            return OPERATORS[type(node.op)](left, right)
    raise ValueError("not arithmetic")


def _written(expression: str) -> str:
    tight = re.sub(r"\s", "", expression).replace("**2", "²").replace("**3", "³").replace("**", "^")
    spaced = re.sub(r"(?<=[\d)²³])([-+*/])", r" \1 ", tight)
    return spaced.replace("*", "×").replace("/", "÷")
