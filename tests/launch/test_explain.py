"""The right cause first for every known fault, through everything a server's log does to a message."""

import io
import random
import re
from pathlib import Path

import pytest

from launch.explain import explain_file, explain_text, rank
from launch.faults import Fault, catalogue
from launch.log_search import Hit, scan, signatures
from launch.log_text import split
from launch.prefilter import words
from tests.launch.console import launch

HEALTHY = Path(__file__).resolve().parents[1] / "data" / "launch" / "real-serve.log"
LOGGED = [signature.fault for signature in signatures() if signature.fault.sample]


def sample(fault: Fault | str) -> str:
    """A fault's sample; U+241B stands for ESC in the catalogue."""
    return (catalogue()[fault] if isinstance(fault, str) else fault).sample.replace("\u241b", "\x1b")


def ids(hits: list[Hit]) -> list[str]:
    return [hit.fault.id for hit in hits]


def stamped(text: str, process: str = "(APIServer pid=300)", colour: bool = False) -> str:
    """A text as vLLM's logger writes it: process, level, time and place before each line."""
    head, reset = ("\x1b[0;36m", "\x1b[0;0m") if colour else ("", "")
    return "".join(
        f"{head}{process}{reset} ERROR 11-30 20:22:06 [core.py:116] {line}\n" for line in text.rstrip("\n").split("\n")
    )


@pytest.mark.parametrize("fault", LOGGED, ids=lambda fault: fault.id)
def test_every_sample_is_named_first(fault: Fault) -> None:
    assert ids(explain_text(sample(fault)))[:1] == [fault.id]


@pytest.mark.parametrize(
    "fault", [f for f in LOGGED if not f.sample.startswith(("$", "bash", "PS>"))], ids=lambda f: f.id
)
def test_prefixes_stamps_and_colours_do_not_hide_it(fault: Fault) -> None:
    plain = "\n".join(split(line)[1] for line in sample(fault).splitlines())
    assert ids(explain_text(stamped(plain, colour=True)))[:1] == [fault.id]


@pytest.mark.parametrize("fault", [f for f in LOGGED if f.where in ("startup", "runtime")], ids=lambda f: f.id)
def test_it_is_found_far_above_the_last_line(fault: Fault) -> None:
    """Amid a healthy log, with megabytes of ordinary lines after it."""
    healthy = HEALTHY.read_text().splitlines(keepends=True)
    rest = "".join(line for line in healthy[60:] if "server version" not in line)
    text = "".join(healthy[:60]) + sample(fault) + rest * 20
    hits = explain_text(text)
    assert ids(hits)[0] == fault.id
    assert 60 < hits[0].line <= 60 + len(sample(fault).splitlines())


def test_a_healthy_log_has_none() -> None:
    assert explain_file(HEALTHY) == []


def test_lines_of_other_processes_may_stand_between() -> None:
    mine, other = "(StageEngineCoreProc_stage0_replica0 pid=901) ", "(Worker pid=7) INFO 11-30 20:22:06 [x.py:1] busy\n"
    text = (
        f"{mine}ERROR 11-30 20:22:06 [core.py:1] ValueError: Free memory on device (17.21/60.97 GiB) on startup\n"
        f"{other * 3}{mine}ERROR 11-30 20:22:06 [core.py:1] is less than desired GPU memory utilization (0.55, 33.53 GiB).\n"
    )
    assert ids(explain_text(text)) == ["free-memory-too-low"]


def test_a_line_of_code_in_a_traceback_is_no_message() -> None:
    text = (
        "Traceback (most recent call last):\n"
        '  File "/v/engine.py", line 10, in start\n'
        '    raise RuntimeError("Engine core initialization failed. See root cause above.")\n'
    )
    assert explain_text(text) == []
    assert ids(explain_text(text + "RuntimeError: Engine core initialization failed. See root cause above.\n")) == [
        "engine-core-init-failed"
    ]


def test_a_symptom_is_told_only_without_a_cause() -> None:
    symptom = sample("engine-core-init-failed")
    assert ids(explain_text(symptom)) == ["engine-core-init-failed"]
    assert ids(explain_text(sample("stepaudio2-missing") + symptom)) == ["stepaudio2-missing"]
    assert ids(explain_text(symptom + sample("stepaudio2-missing"))) == ["stepaudio2-missing"]


def test_a_clients_mistake_does_not_explain_a_dead_server() -> None:
    hits = explain_text(sample("too-many-media") + sample("stage-dead"))
    assert ids(hits) == ["stage-dead", "too-many-media"]
    assert ids(explain_text(sample("too-many-media") + sample("acl-sync-507015"))) == [
        "acl-sync-507015",
        "too-many-media",
    ]


def test_noise_is_named_last_and_never_hides_a_cause() -> None:
    hits = explain_text(sample("version-mismatch-harmless") + sample("port-in-use") + sample("teardown-corrupted-size"))
    assert ids(hits)[0] == "port-in-use"
    assert set(ids(hits)[1:]) == {"version-mismatch-harmless", "teardown-corrupted-size"}
    assert [hit.fault.severity for hit in hits] == ["fatal", "harmless", "harmless"]


def test_of_two_causes_the_earlier_is_the_root_and_the_last_run_comes_first() -> None:
    first, second = sample("kv-cache-no-room"), sample("killed-by-host-oom")
    assert ids(explain_text(first + second)) == ["kv-cache-no-room", "killed-by-host-oom"]
    start = "(APIServer pid=9) INFO 11-30 20:22:41 [api_utils.py:345] vLLM server version 0.26.0, serving model /m\n"
    runs = explain_text(start + first + start + second)
    assert [(hit.fault.id, hit.run) for hit in runs] == [("killed-by-host-oom", 1), ("kv-cache-no-room", 0)]
    delegating = "INFO 11-30 20:22:30 [main.py:54] Delegating entrypoint handling to vllm-omni\n"
    assert [hit.run for hit in explain_text(delegating + start + second + delegating + first)] == [1, 0]
    again = explain_text(start + first + start + first)
    assert [(hit.fault.id, hit.line) for hit in again] == [("kv-cache-no-room", 2 + len(first.splitlines()) + 1)]


def test_states_and_the_apps_own_faults_are_not_looked_for_in_logs() -> None:
    looked_for = {signature.fault.id for signature in signatures()}
    for fault in catalogue().values():
        if fault.signature.startswith("cond:") or fault.where in ("media", "rehearsal"):
            assert fault.id not in looked_for
    assert ids(explain_text(catalogue()["knob-ignored"].sample)) == []


@pytest.mark.parametrize("block", [64, 1000, 1 << 20])
def test_where_a_block_is_cut_does_not_matter(block: int) -> None:
    rnd = random.Random(block)
    faults = [fault for fault in LOGGED if fault.where == "startup"]
    text = ""
    expected = {}
    for fault in faults:
        text += "".join(
            f"(Worker pid=7) INFO 11-30 20:22:06 [x.py:1] step {rnd.random()}\n" for _ in range(rnd.randrange(30))
        )
        expected[fault.id] = text.count("\n") + 1
        text += sample(fault)
    found = {hit.fault.id: hit.line for hit in rank(scan(io.BytesIO(text.encode()), block))}
    whole = {hit.fault.id: hit.line for hit in explain_text(text)}
    assert found == whole
    causes = {fault.id for fault in faults if fault.role == "cause"}
    assert causes <= set(found)
    assert all(expected[id] <= found[id] for id in causes)


def test_other_encodings_and_line_ends(tmp_path: Path) -> None:
    text = sample("port-in-use")
    for name, raw in {
        "utf16": text.encode("utf-16"),
        "crlf": text.replace("\n", "\r\n").encode(),
        "bad": b"\xff\xfa\x00 before\n" + text.encode(),
        "no end": text.rstrip("\n").encode(),
        "progress": b"Loading:   0%\rLoading: 100%\r" + text.encode(),
    }.items():
        (tmp_path / name).write_bytes(raw)
        assert ids(explain_file(tmp_path / name)) == ["port-in-use"], name
    (tmp_path / "empty").touch()
    assert explain_file(tmp_path / "empty") == []


@pytest.mark.parametrize("signature", signatures(), ids=lambda signature: signature.fault.id)
def test_no_signature_can_match_without_one_of_its_words(signature) -> None:
    """The words decide what is looked at: a missing one would hide a fault."""
    assert signature.words, "a signature without words is tried on every line of a 50 MB log"
    text = "\n".join(split(line)[1] for line in sample(signature.fault).splitlines())
    for found in signature.pattern.finditer(text):
        assert any(word in found.group().lower() for word in signature.words)


@pytest.mark.parametrize(
    ("pattern", "expected"),
    [
        (r"abcdef\s+gh", {"abcdef"}),
        (r"(first|second) thing", {" thing"}),
        (r"(first one|other one) b", {"first one", "other one"}),
        (r"(abcd|\d+)x{0,3}", set()),
        (r"(?:longest word)+ or", {"longest word"}),
        (r"(optional)?needed", {"needed"}),
        (r"error code (is|:) ?507015", {"error code "}),
        (r"(?!notthis)butthis", {"butthis"}),
        (r"[Tt]he model", {"he model"}),
    ],
)
def test_words_of_a_pattern(pattern: str, expected: set[str]) -> None:
    found = words(pattern)
    assert found == expected
    re.compile(pattern)


def test_the_command_its_json_and_its_exit_code(tmp_path: Path) -> None:
    log = tmp_path / "serve.log"
    log.write_text("api_key='sk-hidden' [Errno 98] address already in use\n" + sample("version-mismatch-harmless"))
    told = launch("explain", log, "--json", "--lang", "zh", root=tmp_path)
    assert told.code == 1
    assert [list(row) for row in told.json] == [["id", "role", "severity", "line", "cause", "cure"]] * 2
    assert [(row["id"], row["line"]) for row in told.json] == [("port-in-use", 1), ("version-mismatch-harmless", 2)]
    shown = launch("explain", log, root=tmp_path)
    assert "line 1" in shown.text
    assert "hidden" not in shown.text
    assert launch("explain", HEALTHY, "--json", root=tmp_path).json == []
    assert launch("explain", HEALTHY, root=tmp_path).code == 0
    log.write_text(sample("version-mismatch-harmless"))
    assert launch("explain", log, root=tmp_path).code == 0
    gone = launch("explain", tmp_path / "gone.log", "--json", root=tmp_path)
    assert (gone.code, gone.json["error"]["id"]) == (2, "file-not-found")
