"""Tables that line up in both scripts, commands that can be pasted, findings told in one language."""

import io
import json

from launch.findings import Finding, exit_code, worst_first
from launch.output import Output, launch_line, width


def output(*, as_json: bool = False, tongue: str = "en") -> Output:
    return Output(tongue, as_json, io.StringIO(), io.StringIO())


def printed(out: Output) -> str:
    assert isinstance(out.stream, io.StringIO)
    return out.stream.getvalue()


def test_columns_line_up_for_chinese_and_latin() -> None:
    out = output()
    out.table(["布局", "x"], [["1card", "a"], ["全双工", "b"]])
    starts = {width(line[: line.rindex(mark)]) for line, mark in zip(printed(out).splitlines(), "xab", strict=True)}
    assert len(starts) == 1


def test_text_is_silent_under_json_and_json_without_it() -> None:
    quiet = output(as_json=True)
    quiet.line("words")
    quiet.table(["a"], [["b"]])
    quiet.json({"ok": True})
    assert json.loads(printed(quiet)) == {"ok": True}
    loud = output()
    loud.json({"ok": True})
    assert printed(loud) == ""


def test_a_command_to_copy_is_one_line_and_quoted() -> None:
    assert launch_line("up", "--model", "/my models/x") == "python -m launch up --model '/my models/x'"


def test_findings_come_worst_first_and_decide_the_exit_code() -> None:
    note = Finding("knob-dead", {"knob": "k", "value": 1}, "f.yaml", 2, "harmless")
    mind = Finding("knob-dead", {"knob": "k", "value": 1}, "f.yaml", 9)
    stop = Finding("card-number", {"card": "x", "devices": "x", "stage": 0}, "f.yaml", 30)
    assert worst_first([note, mind, stop]) == [stop, mind, note]
    assert [exit_code([note]), exit_code([mind]), exit_code([])] == [0, 1, 0]


def test_a_finding_is_told_with_its_facts_in_the_readers_language() -> None:
    finding = Finding("knob-dead", {"knob": "connector_get_sleep_s", "value": 0.001}, "f.yaml", 3)
    for tongue, words in (("zh", "没有任何效果"), ("en", "has no effect")):
        out = output(tongue=tongue)
        out.findings([finding])
        assert "f.yaml:3" in printed(out)
        assert words in printed(out)
        assert "connector_get_sleep_s: 0.001" in printed(out)
