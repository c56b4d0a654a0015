import pytest

from launch.rehearsal.brain.number_words import in_figures
from launch.rehearsal.brain.zh_numbers import readable


@pytest.mark.parametrize(
    ("written", "read"),
    [
        ("0", "零"),
        ("12", "十二"),
        ("110", "一百一十"),
        ("1001", "一千零一"),
        ("10500", "一万零五百"),
        ("20000000", "两千万"),
        ("100001000", "一亿零一千"),
        ("123456789", "一亿两千三百四十五万六千七百八十九"),
        ("1,234.50", "一千二百三十四点五零"),
        ("007", "零零七"),
        ("13800138000", "幺三八零零幺三八零零零"),
        ("2个 12个 第2个", "两个 十二个 第二个"),
        ("2026年11月30日", "二零二六年十一月三十日"),
        ("2026-11-30", "二零二六年十一月三十日"),
        ("3:05", "三点零五分"),
        ("14:00", "十四点整"),
        ("2:30", "两点三十分"),
        ("25% 0.5%", "百分之二十五 百分之零点五"),
        ("-3.5℃", "负三点五摄氏度"),
        ("12 × 7 = 84", "十二乘以七等于八十四"),
        ("3 - 5 = -2", "三减五等于负二"),
        ("3-5天", "三到五天"),
        ("1 ÷ 3 ≈ 0.3333", "一除以三约等于零点三三三三"),
        ("2^10", "二的十次方"),
        ("1/2", "二分之一"),
        ("16:9", "十六比九"),
        ("5 km 64 fps", "五公里 六十四 fps"),
        ("¥35.5", "三十五点五元"),
        ("没有数字", "没有数字"),
    ],
)
def test_numbers_are_read_as_a_person_reads_them(written: str, read: str) -> None:
    assert readable(written) == read


@pytest.mark.parametrize(
    ("words", "figures"),
    [
        ("三加二十五", "3加25"),
        ("一百零五", "105"),
        ("两万三千", "23000"),
        ("一亿二千万", "120000000"),
        ("二零二六年", "2026年"),
        ("三点一四", "3.14"),
        ("seventeen plus two hundred and six", "17 plus 206"),
        ("twenty-five thousand", "25000"),
    ],
)
def test_number_words_become_figures(words: str, figures: str) -> None:
    assert in_figures(words) == figures
