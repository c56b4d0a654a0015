import pytest

from launch.rehearsal import weights

pytestmark = pytest.mark.weights


@pytest.fixture(scope="module")
def voice():
    from launch.rehearsal.brain.voice_zh import ChineseVoice

    return ChineseVoice(weights.weights_dir() / "voice-zh")


@pytest.mark.parametrize(
    ("text", "symbols"),
    [
        ("你好", "sil n i2 #0 h ao3 sil"),
        ("一个，不是", "sil ^ i2 #0 g e4 #3 b u2 #0 sh iii4 sil"),
        ("银行行长", "sil ^ in2 #0 h ang2 #1 h ang2 #0 zh ang3 sil"),
        ("我想买", "sil ^ uo2 #1 x iang2 #1 m ai3 sil"),
        ("25%", "sil b ai3 #0 f en1 #1 zh iii1 #1 ^ er4 #1 sh iii2 #1 ^ u3 sil"),
        ("绿色，略有", "sil l v4 #1 s e4 #3 l ve4 #1 ^ iou3 sil"),
        ("嗯", "sil ^ en2 sil"),
        ("……", ""),
    ],
)
def test_text_becomes_the_voice_s_alphabet(voice, text: str, symbols: str) -> None:
    assert " ".join(voice.symbols(text)) == symbols


def test_every_syllable_of_everyday_chinese_has_symbols(voice) -> None:
    from pypinyin.constants import PINYIN_DICT

    everyday = [chr(point) for point in sorted(PINYIN_DICT) if 0x4E00 <= point <= 0x9FA5][::10]
    silent = [character for character in everyday if not voice.symbols(character)]
    assert len(everyday) > 2000
    assert len(silent) < 3, silent
    assert {symbol for character in everyday for symbol in voice.symbols(character)} <= set(voice._ids)
