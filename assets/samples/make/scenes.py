"""Four clips that show and say something. Each function returns its length, its picture at a second, and its track."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
from PIL import Image, ImageDraw

from assets.samples.make import ink
from assets.samples.make.clips import FINE, HEIGHT, WIDTH, Draw
from assets.samples.make.sound import knock, placed, tone

W, H = WIDTH * FINE, HEIGHT * FINE
Say = Callable[[str], np.ndarray]
"""A voice: the text → float32 at 24 kHz."""


@dataclass(frozen=True)
class Scene:
    seconds: float
    draw: Draw
    track: np.ndarray


def eased(time: float, start: float, seconds: float) -> float:
    """0 before ``start``, 1 after ``start + seconds``, and a soft way between (smoothstep)."""
    x = min(1.0, max(0.0, (time - start) / seconds))
    return x * x * (3 - 2 * x)


def blank(colour: str) -> tuple[Image.Image, ImageDraw.ImageDraw]:
    picture = Image.new("RGB", (W, H), colour)
    return picture, ImageDraw.Draw(picture)


def traffic_light(say: Say) -> Scene:
    """Red, green, amber light up an evening; the car leaves on green. A beep at each change, then the narrator."""
    phases = (
        (0.0, "红灯亮了，停下来", 0, ink.RED, "#d8382d"),
        (2.6, "绿灯亮了，可以走了", 2, ink.GREEN, "#3f9f64"),
        (5.3, "黄灯亮了，等一等", 1, ink.AMBER, "#f2d13c"),
    )

    def draw(time: float) -> Image.Image:
        _, caption, lamp, colour, sky = [phase for phase in phases if time >= phase[0]][-1]
        picture, pen = blank(sky)
        pen.rectangle((0, 500, W, H), "#4a5158")
        for x in range(20, W, 200):
            pen.rectangle((x, 604, x + 110, 616), "#e9ecee")
        pen.rectangle((1048, 330, 1072, 520), "#39424a")
        pen.rounded_rectangle((990, 60, 1130, 400), 28, "#262d34")
        for number in range(3):
            y = 120 + number * 110
            pen.ellipse((1020, y - 40, 1100, y + 40), colour if number == lamp else "#3d464e")
        car(pen, 300 + 1100 * eased(time, 3.0, 2.2))
        pen.text((70, 150), caption, ink.NIGHT if lamp == 1 else ink.PAPER, ink.font(72, bold=True), anchor="ls")
        return picture

    def car(pen: ImageDraw.ImageDraw, x: float) -> None:
        pen.rounded_rectangle((x, 400, x + 220, 480), 30, ink.BLUE)
        pen.rounded_rectangle((x + 50, 350, x + 170, 430), 28, ink.BLUE)
        pen.rounded_rectangle((x + 66, 364, x + 154, 404), 14, "#e6f1fb")
        for wheel in (x + 55, x + 165):
            pen.ellipse((wheel - 28, 452, wheel + 28, 508), "#20262b")

    sounds = [(start, tone(660 + 220 * number, 0.15)) for number, (start, *_) in enumerate(phases)]
    sounds += [(start + 0.4, say(caption + "。")) for start, caption, *_ in phases]
    return Scene(8.0, draw, placed(8.0, *sounds))


def growing_chart(say: Say) -> Scene:
    """Four quarters grow one after another; the narrator tells of the jump and of what came next."""
    quarters = (("Q1", 22, 0.4), ("Q2", 24, 1.2), ("Q3", 48, 2.8), ("Q4", 41, 4.9))

    def draw(time: float) -> Image.Image:
        picture, pen = blank(ink.PAPER)
        pen.text((100, 110), "Sales by quarter", ink.INK, ink.font(64, bold=True), anchor="ls")
        pen.line((100, 620, W - 100, 620), ink.GREY, 4)
        for number, (name, value, start) in enumerate(quarters):
            share = eased(time, start, 0.8)
            middle, roof = 240 + number * 265, 620 - value * 8.6 * share
            pen.rectangle((middle - 80, roof, middle + 80, 620), ink.AMBER if name == "Q3" else ink.TEAL)
            pen.text((middle, 680), name, ink.INK, ink.font(44), anchor="ms")
            if share:
                pen.text((middle, roof - 16), str(round(value * share)), ink.INK, ink.font(52, bold=True), anchor="ms")
        return picture

    spoken = (
        (0.6, "Two quiet quarters."),
        (2.7, "Then sales doubled."),
        (4.8, "Before winter, they slipped a little."),
    )
    return Scene(8.0, draw, placed(8.0, *((start, say(line)) for start, line in spoken)))


def make_tea(say: Say) -> Scene:
    """Three cards with a step, a picture and the narrator reading it."""
    steps = (
        (0.0, "第一步", "先把水烧开", "第一步，先把水烧开。"),
        (2.6, "第二步", "放一把茶叶", "第二步，放一把茶叶。"),
        (4.9, "第三步", "倒进热水，泡三分钟", "第三步，倒进热水，泡三分钟。"),
    )

    def draw(time: float) -> Image.Image:
        number = sum(time >= step[0] for step in steps) - 1
        start, title, what, _ = steps[number]
        picture, pen = blank("#fbf6ec")
        pen.text((90, 170), title, ink.GREY, ink.font(56), anchor="ls")
        pen.text((90, 270), what, ink.INK, ink.font(72, bold=True), anchor="ls")
        (kettle, leaves, cup)[number](pen, time - start)
        for dot in range(3):
            x = 110 + dot * 60
            pen.ellipse((x - 14, 616, x + 14, 644), ink.TEAL if dot <= number else ink.RULE)
        return picture

    def steam(pen: ImageDraw.ImageDraw, x: int, y: int, time: float) -> None:
        for wisp in range(3):
            points = [
                (x + wisp * 44 + 12 * np.sin(step / 3 + time * 6 + wisp), y - step * 8 - 20 * time)
                for step in range(12)
            ]
            pen.line(points, "#b9c2c8", 8, joint="curve")

    def kettle(pen: ImageDraw.ImageDraw, time: float) -> None:
        pen.arc((830, 300, 1050, 520), 180, 360, ink.NIGHT, 18)
        pen.polygon(((760, 420), (800, 400), (860, 500), (850, 560)), ink.TEAL)
        pen.rounded_rectangle((820, 410, 1060, 620), 60, ink.TEAL)
        steam(pen, 730, 390, time)

    def leaves(pen: ImageDraw.ImageDraw, time: float) -> None:
        for number in range(5):
            x, y = 830 + number * 56, 320 + 200 * eased(time, 0.1 * number, 1.2) - 18 * (number % 2)
            pen.ellipse((x - 40, y - 14, x + 40, y + 14), "#3f8f4f")
        pen.rounded_rectangle((790, 540, 1110, 640), 40, "#8a6a4a")

    def cup(pen: ImageDraw.ImageDraw, time: float) -> None:
        pen.arc((1010, 430, 1130, 560), 270, 90, ink.BLUE, 22)
        pen.rounded_rectangle((800, 400, 1070, 610), 50, ink.BLUE)
        level = 590 - 160 * eased(time, 0.2, 1.6)
        pen.rounded_rectangle((822, level, 1048, 592), 34, "#c98a3a")
        steam(pen, 880, 370, time)

    return Scene(8.0, draw, placed(8.0, *((start + 0.2, say(line)) for start, *_, line in steps)))


def ball_and_box(say: Say) -> Scene:
    """A red ball rolls into a blue box; a knock, the ball stops, the box slides on and comes to rest."""
    rolls, hits, rests = 1.3, 2.8, 4.2

    def draw(time: float) -> Image.Image:
        picture, pen = blank("#eef1f3")
        pen.rectangle((0, 560, W, H), "#c8b79a")
        pen.text((70, 110), "Take 3", ink.GREY, ink.font(48), anchor="ls")
        box = 760 + 260 * (1 - (1 - min(1.0, max(0.0, (time - hits) / (rests - hits)))) ** 2)  # friction: even slowing
        pen.rectangle((box, 400, box + 160, 560), ink.BLUE)
        ball = 120 + 570 * min(1.0, max(0.0, (time - rolls) / (hits - rolls)))
        pen.ellipse((ball - 70, 420, ball + 70, 560), ink.RED)
        turn = (ball - 120) / 70  # rolling without slipping: the angle is the way over the radius
        spot_x, spot_y = ball + 42 * np.cos(turn), 490 + 42 * np.sin(turn)
        pen.ellipse((spot_x - 14, spot_y - 14, spot_x + 14, spot_y + 14), "#ffffff")
        return picture

    sounds = ((0.2, say("Watch closely.")), (hits, knock()), (4.3, say("And then it came to rest.")))
    return Scene(6.4, draw, placed(6.4, *sounds))
