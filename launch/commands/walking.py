"""What ``install`` and ``weights`` share: their steps shown, or run in the server's Python and nowhere else."""

from __future__ import annotations

from collections.abc import Sequence

from launch.errors import InputError
from launch.here import Here
from launch.server_python import ServerProgram
from launch.steps import Step, carry_out


def walk(name: str, steps: Sequence[Step], program: ServerProgram | None, carry: bool, here: Here, **facts: str) -> int:
    """Print each step that is still to do; with ``carry`` run it too. Raises ``InputError`` when there is no server's
    Python to run it in, ``LaunchError`` at the first step that fails.
    """
    out = here.out
    if carry and (program is None or program.python is None) and not all(step.done for step in steps):
        raise InputError("vllm-not-found", given="vllm")
    if facts:
        out.line("  ".join(facts.values()))
    ran: list[str] = []
    for number, step in enumerate(steps, 1):
        done = "  " + out.paint(out.text("steps.done"), "good") if step.done else ""
        out.line(f"{number}. {out.text(f'steps.{step.name}')}{done}")
        if not step.done:
            out.line("   " + step.line)
            if carry:
                carry_out(step, here.environ)
                ran.append(step.name)
    left = [step for step in steps if not step.done and step.name not in ran]
    out.say("steps.next" if left else "steps.complete", command=f"python -m launch {name} --yes")
    shape = [{"name": step.name, "line": step.line, "done": step.done, "ran": step.name in ran} for step in steps]
    out.json({**facts, "python": str(program.python) if program and program.python else None, "steps": shape})
    return 0
