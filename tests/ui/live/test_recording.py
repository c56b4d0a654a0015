"""The recording of a conversation: what was heard, when it was heard, and that a failure costs no more than it must."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import tracemalloc
from collections.abc import Callable
from pathlib import Path

import av
import numpy as np
import pytest
import soundfile

from launch.errors import ServerGone
from launch.faults import explain
from tests.ui.live.listening import Listener, in_order, noise, speech
from ui.live.account import Facts
from ui.live.moments import (
    MIC_RATE,
    SPEECH_RATE,
    Caption,
    Closed,
    Interrupted,
    Latency,
    Listening,
    Moment,
    Opened,
    Speaking,
    Spoken,
)
from ui.live.recording import NAMES, Recording

FACTS = Facts("openbmb/MiniCPM-o-4_5", "http://127.0.0.1:8091", False, 1_790_000_000.0)
ROOT = Path(__file__).resolve().parents[3]
OPENED = Opened(0.1, "duplex-1", "0.26", False, False, 300.0, {})
Call = tuple[float, Callable[[], None]]


def moments(recording: Recording, *what: Moment) -> list[Call]:
    return [(one.at, lambda one=one: recording.moment(one)) for one in what]


def marks(recording: Recording, listener: Listener, late: Callable[[float], float] = lambda at: at) -> list[Call]:
    """The player's reports; ``late``: when one that was made at a time comes in."""
    told = [(late(at), response, ms) for at, response, ms in listener.marks]
    return [(one[0], lambda one=one: recording.played(*one)) for one in told]


def silence(recording: Recording, seconds: float) -> list[Call]:
    """A microphone that hears nothing: it is what moves the clock on."""
    times = [number * 0.2 for number in range(1, round(seconds / 0.2) + 1)]
    return [(at, lambda at=at: recording.microphone(at, bytes(6_400))) for at in times]


def channels(folder: Path) -> tuple[np.ndarray, np.ndarray]:
    both, rate = soundfile.read(folder / "audio.wav", dtype="int16")
    assert rate == SPEECH_RATE
    return both[:, 0], both[:, 1]


def same(heard: np.ndarray, truth: np.ndarray) -> None:
    wrong = np.flatnonzero(heard[: len(truth)] != truth[: len(heard)])
    assert not len(wrong), f"{len(wrong)} samples differ, the first at {wrong[0] / SPEECH_RATE:.4f} s"
    assert not np.any(truth[len(heard) :])
    assert not np.any(heard[len(truth) :])


def test_the_model_stands_where_it_was_heard_sample_by_sample(tmp_path: Path) -> None:
    recording, listener = Recording(tmp_path, FACTS), Listener(30)
    first, second, third = noise(5.0, 1), noise(4.0, 2), noise(3.0, 3)
    listener.plays(1, first, 2.0, stalls=[(1.6, 0.9), (3.1, 2.0)])
    listener.plays(2, second, 11.0, flushed=1.37)
    listener.plays(3, third, 13.003)
    in_order(
        *silence(recording, 20),
        *moments(recording, OPENED, Speaking(1.7, 1, "a"), *speech(1, first, 1.8)),
        *moments(recording, Speaking(10.0, 2, "b"), *speech(2, second, 10.2), Interrupted(12.37, 2, "voice")),
        *moments(recording, Speaking(12.6, 3, "c"), *speech(3, third, 12.8)),
        *marks(recording, listener),
    )
    recording.finish()
    user, model = channels(tmp_path)
    same(model, listener.truth)
    assert len(user) == len(model) == 20 * SPEECH_RATE
    assert not np.any(user)


def test_reports_that_come_late_and_at_once_move_nothing(tmp_path: Path) -> None:
    recording, listener = Recording(tmp_path, FACTS), Listener(30)
    sound = noise(12.0, 4)
    listener.plays(1, sound, 1.0)
    rng = np.random.default_rng(5)

    def late(at: float) -> float:
        """A network with a standstill of two seconds, and up to 30 ms of wandering else."""
        return 7.0 if 5.0 < at < 7.0 else at + float(rng.choice([0.0, 0.01, 0.03]))

    in_order(
        *silence(recording, 20), *moments(recording, *speech(1, sound, 0.5)), *marks(recording, listener, late=late)
    )
    recording.finish()
    same(channels(tmp_path)[1], listener.truth)


def test_a_stop_and_a_go_between_two_marks_misplace_less_than_a_mark(tmp_path: Path) -> None:
    recording, listener = Recording(tmp_path, FACTS), Listener(20)
    sound = noise(4.0, 6)
    listener.plays(1, sound, 1.0, stalls=[(1.3, 0.12)])  # marks at 1.25 and 1.5 s of playing: both inside one interval
    in_order(*silence(recording, 10), *moments(recording, *speech(1, sound, 0.5)), *marks(recording, listener))
    recording.finish()
    _, model = channels(tmp_path)
    heard = np.flatnonzero(model)
    assert np.array_equal(model[heard], sound)  # all of it, in order
    off = heard - np.flatnonzero(listener.truth)
    assert np.count_nonzero(off) <= 0.25 * SPEECH_RATE
    assert np.abs(off).max() <= 0.12 * SPEECH_RATE


def test_the_user_is_placed_by_the_microphones_own_clock(tmp_path: Path) -> None:
    """Frames that a stalled network delivers at once follow each other; two seconds of mute are two seconds of silence."""
    recording = Recording(tmp_path, FACTS)
    rng = np.random.default_rng(7)
    truth = rng.integers(-8_000, 8_000, 14 * MIC_RATE).astype("<i2")
    truth[6 * MIC_RATE : 8 * MIC_RATE] = 0  # muted: no frames
    for number in range(70):
        at = (number + 1) * 0.2
        if 6.0 < at < 8.1:
            continue
        came = 4.4 if 3.1 < at < 4.4 else at
        recording.microphone(came, truth[number * 3_200 : (number + 1) * 3_200].tobytes())
    recording.finish()
    user, _ = channels(tmp_path)
    resampler = av.AudioResampler(format="s16", layout="mono", rate=SPEECH_RATE)
    frame = av.AudioFrame.from_ndarray(truth.reshape(1, -1), format="s16", layout="mono")
    frame.sample_rate = MIC_RATE
    wanted = np.concatenate([one.to_ndarray()[0] for one in (*resampler.resample(frame), *resampler.resample(None))])
    assert np.array_equal(user[: len(wanted)], wanted)
    assert len(user) - len(wanted) <= 1


def test_the_words_are_cut_at_what_was_heard_and_timed_by_the_recording(tmp_path: Path) -> None:
    recording, listener = Recording(tmp_path, FACTS), Listener(30)
    first, second = noise(3.0, 8), noise(4.0, 9)
    listener.plays(1, first, 2.0, stalls=[(1.0, 1.5)])
    listener.plays(2, second, 10.0, flushed=1.5)
    in_order(
        *silence(recording, 16),
        *moments(recording, OPENED, Speaking(1.5, 1, "a"), *speech(1, first, 1.6, piece_s=1.0)),
        *moments(recording, Caption(1.6, 1, "Good morning.", 1000), Caption(1.6, 1, " How are", 2000)),
        *moments(recording, Caption(1.6, 1, " you today?", 3000), Spoken(1.7, 1, "completed", "stop", "", 3000)),
        *moments(recording, Speaking(9.0, 2, "b"), *speech(2, second, 9.1, piece_s=1.0)),
        *moments(recording, Caption(9.1, 2, "今天天气", 1000), Caption(9.1, 2, "很好适合散步", 2000)),
        *moments(recording, Caption(9.1, 2, "，明天也是。", 4000), Interrupted(11.5, 2, "stop")),
        *moments(recording, Spoken(11.6, 2, "cancelled", "barge_in", "", 4000), Closed(16.0, "closed")),
        *marks(recording, listener),
    )
    recording.finish()
    assert (tmp_path / "transcript.srt").read_text(encoding="utf-8") == (
        "1\n00:00:02,000 --> 00:00:03,000\nGood morning.\n\n"
        "2\n00:00:04,501 --> 00:00:06,500\nHow are you today?\n\n"
        "3\n00:00:10,000 --> 00:00:11,500\n今天天气很好适 —\n\n"
    )
    assert (tmp_path / "transcript.txt").read_text(encoding="utf-8") == (
        "[00:00:02.000] Good morning. How are you today?\n[00:00:10.000] 今天天气很好适 —\n"
    )
    result = json.loads((tmp_path / "result.json").read_text(encoding="utf-8"))
    assert result["ok"] is True
    assert result["transcript"] == "Good morning. How are you today?\n今天天气很好适合散步，明天也是。"
    assert result["heard_transcript"] == "Good morning. How are you today?\n今天天气很好适"
    cut = result["answers"][1]
    assert (cut["status"], cut["interrupted_by"], cut["heard_ms"], cut["duration_ms"]) == (
        "cancelled",
        "stop",
        1500.0,
        4000.0,
    )


def test_the_result_holds_the_guides_keys_and_the_first_answers_latency(tmp_path: Path) -> None:
    recording = Recording(tmp_path, FACTS)
    for moment in (
        OPENED,
        Listening(1.2, "model_listen"),
        Speaking(2.0, 1, "a"),
        *speech(1, noise(2.0, 1), 2.4),
        Latency(2.4, 1, "last-listen", 320.5, 480.2),
        Spoken(3.0, 1, "completed", "stop", "", 2000),
        Closed(4.0, "closed"),
    ):
        recording.moment(moment)
    recording.finish(dropped_frames=3)
    result = json.loads((tmp_path / "result.json").read_text(encoding="utf-8"))
    guide = ["ok", "model_decision", "audio_chunk_count", "output_sample_rate_hz", "latency", "transcript", "errors"]
    assert list(result)[:7] == guide
    assert [result[key] for key in guide[:4]] == [True, "speak", 3, 24_000]
    origin = "last response.listen before the answer"
    assert result["latency"] == {"ttft_ms": 320.5, "ttfp_ms": 480.2, "rtf": 0.5, "measurement_origin": origin}
    assert (result["errors"], result["finished"], result["dropped_frames"]) == ([], True, 3)
    assert sorted(path.name for path in tmp_path.iterdir()) == sorted(NAMES)


@pytest.mark.parametrize(
    ("what", "failed", "ok", "decision"),
    [
        ([OPENED, Listening(1.2, "model_listen"), Closed(2.0, "closed")], False, True, "listen"),
        ([OPENED, Listening(1.2, "model_listen"), Closed(2.0, "closed")], True, False, "listen"),
        ([OPENED, Closed(2.0, "closed")], False, False, None),
        ([OPENED, Listening(1.2, ""), Closed(2.0, "", ServerGone("server-not-up"))], False, False, "listen"),
        ([OPENED, Speaking(1.0, 1, "a"), Spoken(1.5, 1, "failed", "x", "", 0), Closed(2.0, "")], False, False, "speak"),
    ],
)
def test_what_is_ok_is_what_the_guide_calls_so(
    what: list[Moment], failed: bool, ok: bool, decision: str | None, tmp_path: Path
) -> None:
    recording = Recording(tmp_path, Facts("m", "http://s", True, 0.0))
    for moment in what:
        recording.moment(moment)
    if failed:
        recording.failed(ServerGone("server-not-up"))
    recording.finish()
    result = json.loads((tmp_path / "result.json").read_text(encoding="utf-8"))
    assert (result["ok"], result["model_decision"], result["rehearsal"]) == (ok, decision, True)
    assert bool(result["errors"]) == (not ok and len(what) > 2)


def test_no_secret_and_no_sound_stand_in_the_events(tmp_path: Path) -> None:
    recording = Recording(tmp_path, FACTS)
    recording.wire({"at": 0.1, "way": "in", "event": {"type": "session.created", "resume_token": "k3-secret"}})
    recording.wire(
        {
            "at": 0.2,
            "way": "out",
            "event": {"audio": "A" * 8_000, "session": {"ref_audio": "data:audio/wav;base64,UklGR"}},
        }
    )
    recording.wire({"at": 0.3, "way": "in", "event": {"num_tokens_out": 12, "delta": "words"}})
    recording.finish()
    rows = [json.loads(line) for line in (tmp_path / "events.jsonl").read_text(encoding="utf-8").splitlines()]
    assert rows[0]["event"]["resume_token"] == "***"
    assert rows[1]["event"] == {"audio": {"characters": 8_000}, "session": {"ref_audio": {"characters": 27}}}
    assert rows[2]["event"] == {"num_tokens_out": 12, "delta": "words"}


def test_a_full_disk_costs_the_recording_and_says_so(tmp_path: Path) -> None:
    (tmp_path / "audio.wav").symlink_to("/dev/full")
    recording = Recording(tmp_path, FACTS)
    for number in range(1, 101):
        recording.microphone(number * 0.2, bytes(6_400))
    recording.moment(Listening(20.0, "model_listen"))
    recording.finish()
    assert recording.error is not None
    for language in ("zh", "en"):
        assert "runs/" in explain(recording.error, language).cure
    result = json.loads((tmp_path / "result.json").read_text(encoding="utf-8"))
    assert result["recording_error"]["key"] == "live-recording-lost"
    assert result["finished"] is False


def test_a_folder_that_is_gone_is_a_lost_recording_and_no_more(tmp_path: Path) -> None:
    recording = Recording(tmp_path / "gone", FACTS)
    recording.moment(OPENED)
    recording.finish()
    assert recording.error is not None


KILLED = """
import os, signal, sys, time
from pathlib import Path
from tests.ui.live.test_recording import FACTS, OPENED
from ui.live.moments import Listening
from ui.live.recording import Recording
recording = Recording(Path(sys.argv[1]), FACTS)
recording.moment(OPENED)
for number in range(1, 101):
    recording.microphone(number * 0.2, b"\\x10\\x00" * 3_200)
    recording.wire({"number": number})
while not recording._jobs.empty():
    time.sleep(0.01)
os.kill(os.getpid(), signal.SIGKILL)
"""


def test_a_killed_program_leaves_files_that_can_be_read(tmp_path: Path) -> None:
    done = subprocess.run([sys.executable, "-c", KILLED, str(tmp_path)], cwd=ROOT, timeout=60)
    assert done.returncode < 0
    user, _ = channels(tmp_path)
    assert 15.0 <= len(user) / SPEECH_RATE <= 16.0  # all but the last seconds, which wait for their reports
    assert os.path.getsize(tmp_path / "audio.wav") == 44 + 4 * len(user)
    lines = (tmp_path / "events.jsonl").read_text(encoding="utf-8").splitlines()
    assert [json.loads(line)["number"] for line in lines[:99]] == list(range(1, 100))
    assert json.loads((tmp_path / "result.json").read_text(encoding="utf-8"))["finished"] is False


def test_ten_minutes_are_not_held_in_memory(tmp_path: Path) -> None:
    recording = Recording(tmp_path, FACTS)
    sound = noise(2.0, 1)
    tracemalloc.start()
    for second in range(0, 600, 4):
        response = second // 4 + 1
        for part in range(20):
            recording.microphone(second + part * 0.2, bytes(6_400))
        for piece in speech(response, sound, float(second)):
            recording.moment(piece)
        recording.moment(Caption(float(second), response, "words ", 2000.0))
        for part in range(1, 9):
            recording.played(second + part * 0.25, response, part * 250.0)
        while recording._jobs.qsize() > 100:
            recording._thread.join(0.001)
    recording.finish()
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert recording.error is None
    assert os.path.getsize(tmp_path / "audio.wav") > 595 * SPEECH_RATE * 4  # 57 MB
    assert peak < 8e6
