"""What the duplex tab says: every fault and every sentence its scripts name is there, and nothing is there in vain."""

from __future__ import annotations

import re

from tests.conftest import ROOT
from ui.tabs.duplex import FAULTS, faults
from ui.texts import texts

SCRIPTS = sorted((ROOT / "ui" / "browser" / "live").glob("*.js"))
FAULT = re.compile(r'["`](live-(?:\$\{\w+\}|[a-z])[\w${}-]*|mic-insecure-origin)["`]')
# Calls with a key written out: label(element, "key"), word("key"), button("class", "key"), field("key").
SENTENCE = re.compile(r'(?:label\([\w.]+, |word\(|button\("[^"]*", |field\()"([a-z][\w.]*)"')


def test_every_fault_the_scripts_name_comes_with_the_tab_and_none_is_left_over() -> None:
    named: set[str] = set()
    for path in SCRIPTS:
        for key in FAULT.findall(path.read_text(encoding="utf-8")):
            named |= {key.replace("${what}", what) for what in ("microphone", "camera")} if "$" in key else {key}
    assert named == set(FAULTS)


def test_a_faults_places_are_the_same_in_both_languages() -> None:
    for key, words in faults().items():
        for part in ("cause", "cure"):
            zh, en = (set(re.findall(r"\{(\w+)\}", words[part][language])) for language in ("zh", "en"))
            assert zh == en, key


def test_every_sentence_the_scripts_name_exists() -> None:
    table = texts().table("en")
    used = {key for path in SCRIPTS for key in SENTENCE.findall(path.read_text(encoding="utf-8"))}
    assert {"start", "voice.upload", "timeline", "camera.off"} <= used
    assert {key for key in used if f"duplex.{key}" not in table} == set()
