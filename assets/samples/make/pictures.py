"""The still samples: two drawn by us, three photographs taken out of the scikit-image wheel."""

from __future__ import annotations

import shutil
from pathlib import Path

from PIL import Image, ImageDraw

from assets.samples.make import ink

ITEMS = (("拿铁咖啡", 2, 22.00), ("黄油可颂", 1, 12.00), ("红豆派", 3, 6.50), ("矿泉水", 1, 3.00))
DISCOUNT = 8.50
VISITORS = (("Jan", 12), ("Feb", 9), ("Mar", 15), ("Apr", 21), ("May", 34), ("Jun", 28))

JPEG_QUALITY = 88  # the largest photograph stays near 90 kB, and no blocks show at twice its size


def receipt(folder: Path) -> None:
    """A till receipt in Chinese: items that add up, a discount, and what was paid."""
    width, margin, line = 640, 48, 58
    picture = Image.new("RGB", (width, 900), ink.PAPER)
    pen = ImageDraw.Draw(picture)
    y = 56

    def row(left: str, right: str, *, bold: bool = False, middle: str = "") -> None:
        nonlocal y
        face = ink.font(30, bold=bold)
        pen.text((margin, y), left, ink.INK, face, anchor="ls")
        pen.text((width // 2 + 40, y), middle, ink.INK, face, anchor="ms")
        pen.text((width - margin, y), right, ink.INK, face, anchor="rs")
        y += line

    def rule() -> None:
        nonlocal y
        pen.line((margin, y - 34, width - margin, y - 34), ink.GREY, 2)
        y += 14

    pen.text((width // 2, y + 14), "小满咖啡馆", ink.INK, ink.font(46, bold=True), anchor="ms")
    pen.text((width // 2, y + 66), "收银小票", ink.GREY, ink.font(28), anchor="ms")
    y += 136
    row("日期 2026-03-18", "09:42")
    row("单号 0317", "堂食")
    rule()
    row("品名", "金额", bold=True, middle="数量")
    for name, count, price in ITEMS:
        row(name, f"{count * price:.2f}", middle=str(count))
    rule()
    total = sum(count * price for _, count, price in ITEMS)
    row("合计", f"{total:.2f}")
    row("会员折扣", f"-{DISCOUNT:.2f}")
    row("实付", f"{total - DISCOUNT:.2f} 元", bold=True)
    pen.text((width // 2, y + 30), "谢谢惠顾，欢迎再来", ink.GREY, ink.font(28), anchor="ms")
    picture.save(folder / "receipt.png", optimize=True)


def visitors(folder: Path) -> None:
    """A bar chart in English with its values written on the bars."""
    width, height, left, floor, top = 960, 600, 90, 520, 130
    picture = Image.new("RGB", (width, height), ink.PAPER)
    pen = ImageDraw.Draw(picture)
    pen.text((left, 64), "Museum visitors, first half of 2026", ink.INK, ink.font(36, bold=True), anchor="ls")
    pen.text((left, 102), "thousands per month", ink.GREY, ink.font(24), anchor="ls")
    scale = (floor - top - 40) / 40
    for tick in range(0, 41, 10):
        y = floor - tick * scale
        pen.line((left, y, width - 40, y), ink.RULE, 2)
        pen.text((left - 16, y), str(tick), ink.GREY, ink.font(22), anchor="rm")
    step = (width - 40 - left) / len(VISITORS)
    for number, (month, value) in enumerate(VISITORS):
        middle, roof = left + step * (number + 0.5), floor - value * scale
        pen.rectangle((middle - 42, roof, middle + 42, floor), ink.TEAL)
        pen.text((middle, roof - 12), str(value), ink.INK, ink.font(28, bold=True), anchor="ms")
        pen.text((middle, floor + 40), month, ink.INK, ink.font(26), anchor="ms")
    picture.save(folder / "visitors.png", optimize=True)


def photographs(folder: Path) -> None:
    """Three photographs in the public domain or under CC0, from scikit-image; ``rocket.jpg`` byte for byte."""
    import skimage.data

    source = Path(skimage.data.__file__).parent
    for name, target in (("chelsea.png", "cat.jpg"), ("coffee.png", "coffee.jpg")):
        with Image.open(source / name) as photograph:
            photograph.convert("RGB").save(folder / target, quality=JPEG_QUALITY, optimize=True)
    shutil.copyfile(source / "rocket.jpg", folder / "rocket.jpg")
