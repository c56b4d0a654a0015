"""Where a start stands, out of the real server's log."""

from pathlib import Path

from launch.log_text import decode
from launch.progress import Progress, clock

LOG = Path(__file__).resolve().parents[1] / "data" / "launch" / "real-serve.log"


def test_the_real_log_goes_from_nothing_to_everything_and_never_back() -> None:
    progress, seen, phases = Progress(), [0], []
    for line in LOG.read_bytes().splitlines():
        progress.feed(decode(line))
        seen.append(progress.percent)
        current = progress.current
        if current and (not phases or phases[-1] != (current.stage, current.phase)):
            phases.append((current.stage, current.phase))
        assert (progress.percent == 100) == progress.complete
    assert seen == sorted(seen)
    assert (seen[-1], progress.complete) == (100, True)
    assert phases == [
        (stage, phase) for stage in range(3) for phase in ("python", "engine", "weights", "warm-up", "linking")
    ]
    # By the log's own times: 20:22:42, 20:24:03, 20:24:50, 20:25:32.
    assert [stage.took_s for stage in progress.stages.values()] == [81, 47, 42]


def test_a_line_belongs_to_the_stage_that_wrote_it() -> None:
    progress = Progress()
    by_stage: dict[int | None, set[str]] = {}
    for line in map(decode, LOG.read_bytes().splitlines()):
        by_stage.setdefault(progress.feed(line), set()).add(line.partition(")")[0])
    assert by_stage[0] == {"(StageEngineCoreProc_stage0_replica0 pid=26859", "(Worker pid=27422"}
    assert by_stage[1] == {"(StageEngineCoreProc_stage1_replica0 pid=28552", "(Worker pid=28780"}
    assert by_stage[2] == {"(StageEngineCoreProc_stage2_replica0 pid=29021", "(Worker pid=29101"}


def test_stages_that_start_together_share_out_no_nameless_worker() -> None:
    progress = Progress()
    for stage in (0, 1):
        progress.feed(
            f"(APIServer pid=1) INFO 11-30 20:00:00 [a.py:1] [stage_init] Stage-{stage} set runtime devices: 0"
        )
    assert progress.feed("(Worker pid=9) INFO 11-30 20:00:01 [a.py:1] Starting to load model x") is None
    assert progress.feed("(StageEngineCoreProc_stage1_replica0 pid=8) INFO 11-30 20:00:01 [a.py:1] hello") == 1
    progress.feed("(APIServer pid=1) INFO 11-30 20:00:09 [a.py:1] [StageRuntime] Stage 0 initialized")
    assert progress.feed("(Worker pid=10) INFO 11-30 20:00:10 [a.py:1] Starting to load model x") == 1


def test_the_words_of_030() -> None:
    """It names no devices on some platforms and has no `Stage N initialized` (vllm_omni 0.30.0, engine/)."""
    progress = Progress()
    for line in (
        "(APIServer pid=1) INFO 11-30 20:00:00 [a.py:1] [OmniEngine] Launching Orchestrator thread with 3 stages",
        "(StageEngineCoreProc_stage0_replica0 pid=8) INFO 11-30 20:00:20 [a.py:1] Initializing a V1 LLM engine (v0.30.0)",
        "(APIServer pid=1) INFO 11-30 20:01:00 [a.py:1] [StageEngineCoreClient] stage-0 [rep-0] EngineCore running",
        "(StageEngineCoreProc_stage1_replica0 pid=9) INFO 11-30 20:01:20 [a.py:1] Initializing a V1 LLM engine (v0.30.0)",
    ):
        progress.feed(line)
    assert progress.stages[0].took_s == 40
    assert progress.current is not None
    assert (progress.current.stage, progress.current.phase) == (1, "engine")
    assert 53 < progress.percent < 78


def test_a_start_over_new_year_takes_no_negative_time() -> None:
    progress = Progress()
    progress.feed("(APIServer pid=1) INFO 12-31 23:59:50 [a.py:1] [stage_init] Stage-0 set runtime devices: 0")
    progress.feed("(APIServer pid=1) INFO 01-01 00:00:20 [a.py:1] [StageRuntime] Stage 0 initialized")
    assert progress.stages[0].took_s == 30


def test_the_rehearsal_engine_reports_too() -> None:
    progress = Progress()
    for line in ("rehearsal engine, wire 0.26: small models", "listening http://127.0.0.1:1", "loading hearing 0.40"):
        progress.feed(line)
    assert (progress.percent, progress.complete) == (40, False)
    progress.feed("ready http://127.0.0.1:1")
    assert progress.complete


def test_clock() -> None:
    assert [clock(5.9), clock(65), clock(3661)] == ["0:05", "1:05", "1:01:01"]
