"""The texts of the page: the same in both languages, none missing, none that cannot be switched."""

from __future__ import annotations

import re
import string
from pathlib import Path

import pytest

from ui.head import head, pairs
from ui.samples import samples
from ui.texts import FOLDER, Texts, read, texts

ROOT = Path(__file__).resolve().parents[2]
# A key written out in the code: t("ask.run"), self.t("image.slot"), say("console.open", ...), and the page's own scripts.
_USED = re.compile(r"""(?:\bt|\bsay|self\._?t|self\.t)\(\s*["']([a-z_]+(?:\.[a-z_]+)+)["']""")


def places(text: str) -> set[str]:
    return {name for _, name, _, _ in string.Formatter().parse(text) if name}


def test_both_languages_say_the_same_things() -> None:
    zh, en = texts().table("zh"), texts().table("en")
    assert set(zh) == set(en)
    assert [key for key in zh if places(zh[key]) != places(en[key])] == []


def test_every_key_that_is_used_exists() -> None:
    sources = [ROOT / "app.py", *(ROOT / "ui").rglob("*.py"), ROOT / "ui/browser/page.js"]
    used = {key for path in sources for key in _USED.findall(path.read_text(encoding="utf-8"))}
    assert {"ask.run", "image.question", "pill.lost_cause", "console.open"} <= used
    assert used - set(texts().table("en")) == set()


def test_every_key_of_the_server_tab_exists() -> None:
    """Its scripts say `word("start.title")` for `server.start.title`; a key made of parts is known by its beginning."""
    said = "".join(path.read_text(encoding="utf-8") for path in (ROOT / "ui/browser/server").glob("*.js"))
    known = texts().table("en")
    whole = set(re.findall(r'\bword\("([a-z_.]+)"', said))
    parts = set(re.findall(r"\bword\(`([a-z_.]+)\$", said))
    assert {"start.title", "doctor.press"} <= whole
    assert {f"server.{key}" for key in whole} - set(known) == set()
    assert [part for part in parts if not any(key.startswith(f"server.{part}") for key in known)] == []


def test_a_switch_of_yaml_is_no_text(tmp_path: Path) -> None:
    for language in ("zh", "en"):
        (tmp_path / f"{language}.yaml").write_text("answer:\n  agree: yes\n", encoding="utf-8")
    with pytest.raises(ValueError, match="quote"):
        read(tmp_path)


def test_every_english_text_has_one_chinese_text() -> None:
    table = pairs(texts())
    assert table["Run"] == "运行"
    assert all(sample.title["en"] in table and sample.note["en"] in table for sample in samples().values())


def test_two_meanings_of_one_english_text_are_refused() -> None:
    double = Texts({"en": {"a": "Stop", "b": "Stop"}, "zh": {"a": "停止", "b": "车站"}})
    with pytest.raises(ValueError, match="Stop"):
        pairs(double)


def test_a_key_that_stands_twice_is_refused(tmp_path: Path) -> None:
    for language in ("zh", "en"):
        (tmp_path / f"{language}.yaml").write_text("room: {name: x}", encoding="utf-8")
        (tmp_path / f"room.{language}.yaml").write_text("name: y", encoding="utf-8")
    with pytest.raises(ValueError, match=r"room\.name"):
        read(tmp_path)


def test_no_sentence_of_the_page_begins_with_error() -> None:
    for language in ("zh", "en"):
        assert not [text for text in texts().table(language).values() if re.match(r"(error|错误)\s*[:：]", text, re.I)]


def test_a_text_cannot_end_the_script_it_stands_in() -> None:
    nasty = Texts({"en": {"pill.x": "</script>"}, "zh": {"pill.x": "</script>"}})
    assert head(nasty, "auto").lower().count("</script>") == 5  # the first script, the texts, three modules


def test_the_folder_has_no_file_of_one_language_only() -> None:
    names = {path.name for path in FOLDER.glob("*.yaml")}
    assert {name.replace("zh.yaml", "en.yaml") for name in names if name.endswith("zh.yaml")} <= names
