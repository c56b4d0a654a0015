"""What the flags after ``--``, the address and the shell's variables would do to a start."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence

from launch.errors import InputError
from launch.findings import Finding
from launch.versions import Line

# An engine flag on the command line hits every stage, whatever the deploy file says of each (protocol §5.2).
EVERY_STAGE = {
    "--gpu-memory-utilization": "0.gpu_memory_utilization",
    "--max-num-seqs": "max_num_seqs",
    "--max-model-len": "0.max_model_len",
    "--max-num-batched-tokens": "0.max_num_batched_tokens",
    "--tensor-parallel-size": "0.tensor_parallel_size",
    "-tp": "0.tensor_parallel_size",
    "--enforce-eager": "0.enforce_eager",
}
# Refused with --omni when the arguments are parsed; 0.30 takes --api-server-count again.
REFUSED = ("--data-parallel-size", "--data-parallel-", "--enable-expert-parallel")
REFUSED_026 = ("--api-server-count",)
# Options of `up` itself: given twice, the server would take the last, and the record of the start would be wrong.
OURS = {
    "--deploy-config": "--layout",
    "--stage-configs-path": "--layout",
    "--host": "--host",
    "--port": "--port",
    "--served-model-name": "--served-model-name",
    "--api-key": "--api-key-file",
    "--allowed-local-media-path": "--media-path",
    "--stage-init-timeout": "--stage-init-timeout",
    "--init-timeout": "--init-timeout",
}


def check_flags(
    extra: Sequence[str], environ: Mapping[str, str], line: Line, host: str, api_key_file: str | None
) -> Iterator[Finding]:
    """Findings about ``extra`` and the surroundings. Raises ``InputError`` when ``extra`` is no list of flags, or
    holds one of ours.
    """
    if extra and not extra[0].startswith("-"):
        raise InputError("extra-not-a-flag", given=extra[0])
    for word in extra:
        flag = word.partition("=")[0].replace("_", "-")
        if flag in OURS:
            raise InputError("extra-is-ours", flag=flag, ours=OURS[flag])
        if flag.startswith(REFUSED) or (flag in REFUSED_026 and line.since < (0, 30)):
            yield Finding("omni-args-prohibited")
        elif flag in EVERY_STAGE:
            yield Finding("flag-hits-every-stage", {"flag": flag, "knob": EVERY_STAGE[flag]})
    if environ.get("ASCEND_LAUNCH_BLOCKING") == "1" and line.since >= (0, 30):
        yield Finding("launch-blocking-vs-graph")
    if host not in ("127.0.0.1", "localhost", "::1") and api_key_file is None:
        yield Finding("open-to-network", {"host": host})
